package commands

import (
	"slices"
	"strings"
)

// Reply is the shape of a command's reply, as far as the reply itself does not show it.
// The zero value is one that shows it.
type Reply struct {
	// With are the options with which a call has this reply, with a space between, all
	// of them among the words from From on. Without any it is the reply to each call
	// that has a word at From.
	With string
	From int
	// Begins is what the word at From begins with in such a call; "" for anything.
	Begins string

	Records Records
	Columns []string // the names of what a record has
	Added   []Added  // by options, after Columns and in this order whatever that of the options
	RESP3   *Shape   // of the reply in RESP2's form
}

// Added are columns that an option adds.
type Added struct {
	With    string
	Columns []string
}

// Records says what the records of a reply are.
type Records uint8

const (
	// Elements of an array are a record each: a value, a map, or an array with Columns.
	Elements Records = iota
	// Pairs alternate in an array, are arrays of two, or the entries of a map.
	Pairs
	// Maps are elements that are maps, which RESP2 has as flat arrays.
	Maps
	// Rows are elements that are arrays, or nil for one without values.
	Rows
	// FlatRows are elements that are arrays, with arrays inside whose elements are
	// columns, too.
	FlatRows
	// Page is the reply to a scan: a cursor, and elements or pairs.
	Page
	// Entries are those of a stream.
	Entries
	// EntriesPage is a cursor, and entries of a stream.
	EntriesPage
	// EntriesByStream are entries of several streams, a list for each.
	EntriesByStream
	// Threes are a map to pairs, or alternate with both of their values.
	Threes
	// Levels are those of a graph, the highest first: a list of elements each, or a map of elements
	// to scores.
	Levels
	// NoRecords has a reply whose elements have nothing in common.
	NoRecords
)

// Shape is what RESP3 makes of a reply that came in RESP2's form, from the outside to
// the inside. A value that does not look like the form is left as it is.
type Shape struct {
	Form  Form
	Each  *Shape        // of an array's elements, or a map's values
	At    []PlacedShape // of the elements at some places
	Named []NamedShape  // of a map's values by key
}

// PlacedShape is the shape of the element at a place; -1 is the last.
type PlacedShape struct {
	Place int
	Of    *Shape
}

// NamedShape is the shape of a key's value in a map. They are lists, not Go maps, so that the compiler lays them out
// and the start of the program does no work.
type NamedShape struct {
	Key string
	Of  *Shape
}

// Form is what becomes of one value.
type Form uint8

const (
	AsItIs     Form = iota
	ToMap           // an array whose elements alternate, or are pairs
	ToPairs         // an array whose elements alternate becomes one of pairs
	ToThirds        // an array of a key and two values by turns becomes a map to pairs
	ToDouble        // a string
	ToUnsigned      // a string becomes a number beyond 64 bits
	ToBool          // an integer
	ToNumbers       // JSON of a number, or of an array of them, becomes an array
	ToOne           // anything but an array becomes the one element of one
	ToOneList       // so does an array of no arrays, and nil
)

// Reply is the shape of the reply to a call of the command; that of a nil command is
// the zero value.
func (c *Command) Reply(args [][]byte) Reply {
	if c == nil {
		return Reply{}
	}
	for _, r := range c.Replies {
		if len(args) > r.From && has(args[r.From:], r.With) && strings.HasPrefix(string(args[r.From]), r.Begins) {
			return r
		}
	}
	return Reply{}
}

// ColumnsOf are the columns of the reply to a call.
func (r Reply) ColumnsOf(args [][]byte) []string {
	columns := slices.Clip(r.Columns)
	for _, a := range r.Added {
		if len(args) > r.From && has(args[r.From:], a.With) {
			columns = append(columns, a.Columns...)
		}
	}
	return columns
}

// has reports whether all options, with a space between, are among words.
func has(words [][]byte, options string) bool {
	for option := range strings.FieldsSeq(options) {
		if !slices.ContainsFunc(words, func(word []byte) bool { return strings.EqualFold(string(word), option) }) {
			return false
		}
	}
	return true
}
