package commands

import (
	"slices"
	"strings"
)

// Reply is the part of a reply's shape that the reply itself does not show. The zero value
// adds nothing.
type Reply struct {
	// With holds options, separated by spaces. The Reply applies if all of them are among the
	// words from position From on. If With is empty, it applies if the call has a word at From.
	With string
	From int
	// Begins is a prefix of the word at From; "" matches any word.
	Begins string

	Records Records
	Columns []string // names of a record's values
	Added   []Added  // by option, after Columns; their order does not depend on the call
	RESP3   *Shape   // for a reply in RESP2 form
}

// Added are columns that an option adds.
type Added struct {
	With    string
	Columns []string
}

// Records describes the structure of a reply's records.
type Records uint8

const (
	// Elements: each element of an array is a record: a value, a map, or an array with Columns.
	Elements Records = iota
	// Pairs: pairs alternate in an array, are arrays of two, or are the entries of a map.
	Pairs
	// Maps: each element is a map, or a flat array in RESP2.
	Maps
	// Rows: each element is an array, or nil for one without values.
	Rows
	// FlatRows: each element is an array; elements of nested arrays are columns, too.
	FlatRows
	// Page: the reply of a scan, a cursor and elements or pairs.
	Page
	// Entries: entries of a stream.
	Entries
	// EntriesPage: a cursor, and entries of a stream.
	EntriesPage
	// EntriesByStream: a list of entries for each of several streams.
	EntriesByStream
	// Threes: a map of keys to pairs, or keys alternating with two values.
	Threes
	// Levels: levels of a graph, the highest first. Each is a list of elements, or a map of
	// elements to scores.
	Levels
	// NoRecords: the elements have nothing in common.
	NoRecords
)

// Shape converts a reply from RESP2 to RESP3 form, from the outside in. A value of unexpected
// form is unchanged.
type Shape struct {
	Form  Form
	Each  *Shape        // of an array's elements, or a map's values
	At    []PlacedShape // by position
	Named []NamedShape  // of a map's values, by key
}

// PlacedShape describes the shape of the element at an index; -1 is the last.
type PlacedShape struct {
	Place int
	Of    *Shape
}

// NamedShape describes the shape of a key's value in a map. Lists of it replace Go maps, because the
// compiler lays them out and program start does no work.
type NamedShape struct {
	Key string
	Of  *Shape
}

// Form is the conversion of one value.
type Form uint8

const (
	AsItIs     Form = iota
	ToMap           // an array of alternating keys and values, or of pairs
	ToPairs         // an array of alternating keys and values becomes an array of pairs
	ToThirds        // an array that repeats a key and two values becomes a map to pairs
	ToDouble        // a string
	ToUnsigned      // a string becomes an integer of more than 64 bits
	ToBool          // an integer
	ToNumbers       // JSON of a number or an array of numbers becomes an array
	ToOne           // any value except an array becomes an array of one
	ToOneList       // the same for nil and an array without arrays
)

// Reply returns the shape of the reply to a call. A nil command has the zero value.
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

// ColumnsOf returns the columns of the reply to a call.
func (r Reply) ColumnsOf(args [][]byte) []string {
	columns := slices.Clip(r.Columns)
	for _, a := range r.Added {
		if len(args) > r.From && has(args[r.From:], a.With) {
			columns = append(columns, a.Columns...)
		}
	}
	return columns
}

// has reports whether all options, separated by spaces, are among words.
func has(words [][]byte, options string) bool {
	for option := range strings.FieldsSeq(options) {
		if !slices.ContainsFunc(words, func(word []byte) bool { return strings.EqualFold(string(word), option) }) {
			return false
		}
	}
	return true
}
