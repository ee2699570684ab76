package ui

import "github.com/meowdis/meowdis/inspect/client"

// Selection describes the value on the screen: the facts of its key and the selected part.
type Selection struct {
	Shown   bool // a value is on the screen, or the notice that it is missing
	Key     string
	Type    string
	Size    int64 // elements or bytes; -1 while unknown
	Expires int64 // Unix ms; 0: never
	Missing bool  // the key no longer exists

	Part    Part     // the part of a stream on the screen
	Group   string   // the group of the pending entries or consumers
	Table   bool     // elements are on the screen
	Element *Element // the selected element, or nil
	Outer   *Element // the selected element of the key, also while its parts are on the screen, or nil
	Opened  *Element // the element opened by itself, or nil
	Text    *Text    // the bytes on the screen; nil for a table
}

// Subject returns the element that an action applies to: the opened one, else the selected one; nil for
// none.
func (s Selection) Subject() *Element {
	if s.Opened != nil {
		return s.Opened
	}
	return s.Element
}

// Part is the part of a stream on the screen.
type Part int

const (
	Entries   Part = iota // also used for values that are not streams
	Groups                // its consumer groups
	Pending               // the delivered entries that a group has not acknowledged
	Consumers             // the consumers of a group
)

// Element is a row of a table.
type Element struct {
	Row  []string
	Body string // the full element
	Name string // identifies it for deletion
	Own  bool   // it belongs to the key itself, not to one of its elements
}

// Text is a value, or an element, as bytes.
type Text struct {
	Data      string
	AsStored  bool   // Data is shown as stored, although it decodes
	Complete  bool   // Data is complete and stays in memory
	Partial   bool   // Data is incomplete
	Missing   bool   // Data is not loaded yet
	Size      int64  // the full size in bytes
	Formatted string // the decoded form; "" if it does not decode
	Node      *Node  // the selected value of a JSON document; nil for none
}

// Node is a value in a JSON document. The path of the whole document is $.
type Node struct {
	Path, Text string
	Large      bool // the document is large: undo saves the value, not the document
}

// Keyspace holds the facts about the database that the list of keys collected.
type Keyspace struct {
	Total int64 // keys in it; -1 while unknown

	// The result of a scan, without an index.
	Names    client.Keyspace // sorted by name
	Found    int64           // the number of names
	Filtered bool            // a filter leaves keys out
	Sample   func(n int) []string
}
