package room

import "github.com/meowdis/meowdis/inspect/target"

// Sight is what the person sees of a value: the facts of its key, and what of it they
// look at.
type Sight struct {
	Shown   bool // a value is on the screen, or that it is not there
	Key     string
	Type    string
	Size    int64 // of elements or bytes; -1 where it cannot be told
	Expires int64 // Unix ms; 0 for never
	Gone    bool  // the key is not there any more

	Part    Part     // of a stream that is on the screen
	Group   string   // whose pending entries or consumers those are
	Table   bool     // elements are on the screen
	Element *Element // the selected one of those; nil for none
	Opened  *Element // the one that is on the screen by itself; nil for none
	Text    *Text    // what is on the screen when it is no table
}

// Subject returns the element that an action is about: the opened one, else the selected one; nil for none.
func (s Sight) Subject() *Element {
	if s.Opened != nil {
		return s.Opened
	}
	return s.Element
}

// Part is what of a stream is on the screen.
type Part int

const (
	Entries   Part = iota // or what is no stream
	Groups                // its consumer groups
	Pending               // what a group has delivered and is not acknowledged
	Consumers             // of a group
)

// Element is a row of a table.
type Element struct {
	Row  []string
	Body string // as it is shown alone
	Name string // what it is deleted by
	Own  bool   // it is one of the key's, not of what belongs to one of them
}

// Text is a value, or an element, as bytes.
type Text struct {
	Data    string
	Bare    bool   // the person looks at Data as it is, though it can be decoded
	Whole   bool   // Data is all of it, and stays in memory
	Partial bool   // Data is not all of it
	Missing bool   // Data is not there yet
	Size    int64  // of all of it
	LaidOut string // as it is read when it is decoded; "" where it is not
}

// Known is what the list of keys knows of the database.
type Known struct {
	Total int64 // keys in it; -1 while unknown

	// What a scan has found, where there is no index.
	Names  target.Keyspace // by name
	Found  int64           // how many they are
	Chosen bool            // a filter leaves others out
	Sample func(n int) []string
}
