package keytype

import (
	"cmp"
	"slices"
	"strings"
)

// Type is what there is to know of a type of key. A call is written as words: "key",
// "n" and other words of lower case stand for arguments, see Type.Page.
type Type struct {
	Name   string // as TYPE answers it, and as the table keys has it
	Label  string // as people say it; "" is Name
	Brief  string // where Label is too long; "" for its first letters
	Number byte   // in archives, from 1 on; it never changes

	// Groups are the groups of commands whose keys have this type: "module JSON." is
	// those of the group whose names begin with JSON.
	Groups []string

	One, Many string // what is counted: elements, or bytes of a type that has none
	// Parts are what an element consists of, as Elements returns it; none for a type
	// without elements. The last one of Entries is several: fields and values in turn.
	Parts []string
	// Given is what a user gives to make an element, and with it a key.
	Given []string

	Count string // the command that counts elements, or bytes; "" where a key counts as one
	Probe string // a command that refuses keys of other types, and takes a key only; "" is Count
	Read  string // the call that reads all: "LRANGE key 0 -1"
	Page  string // the call that reads a page, in the order of the type; see PageAt
	Pages Paging // how Page goes on
	Scan  string // the command of the SCAN family that goes through the elements; "" for none
	Add   string // the call that adds an element of Given
	Drop  string // the call that deletes an element by its name: "HDEL key name"
	Get   string // the call that reads what belongs to an element's name: "HGET key name"
	Put   string // the call that changes that: "HSET key name text"
	Form  Form

	// Undumped is set where a server may have the type and no DUMP of it.
	Undumped bool

	Tables []Table
	// InKey is set where a value may be whole in the row of its key, in the column value.
	InKey bool
	// Size is Count in SQL, of a row of keys, "" for its column count; Weight is bytes
	// of the value that no row of Tables counts, "" for none.
	Size, Weight string
	// Memory is what a key takes in a file beside the rows of tables that have a Memory, in
	// SQL, "" for nothing: an estimate, as MEMORY USAGE answers it.
	Memory string
}

// Form is how a reply holds a value.
type Form byte

// The forms of replies.
const (
	Flat    Form = iota // elements of so many parts each, flat or each an array
	Whole               // the value is the reply
	Entries             // an array of id and fields each
)

// Paging is how a page follows another.
type Paging byte

// The ways of paging.
const (
	OnePage  Paging = iota // there is one page
	ByPlace                // elements have the places 0, 1, 2 …
	ByCursor               // the reply says how to go on, as that of SCAN does
	ByName                 // after the first part of the last element
	ByIndex                // at the number after the first part of the last element
)

// Table is a table with rows of a type, which have the id of their key in key_id.
type Table struct {
	Name string
	// Role is what a row means.
	Role    Role
	Columns []string // all
	// Key is the columns by which a row is found among those of its key, in the order of the
	// table; none where there is one row.
	Key   []string
	Long  []string // those of Columns that may be large
	Order string   // the columns that rows are shown in the order of; "" is that of the table
	Bytes string   // in SQL: what a row counts for in the bytes of a value; "" for nothing
	// Memory is what a row takes in a file, in SQL: its bytes, its key, hash and place, and
	// what indexes repeat. As many rows are estimated as the key counts.
	Memory  string
	Expires string // the column of when a row expires, "" for never
}

// Role is what a row of a table means for its key.
type Role byte

// The roles of tables.
const (
	Element  Role = iota // each row is an element
	Value                // a row is the value, or a part of it: with one the key is there
	Rest                 // rows are more about what other tables hold
	One                  // Rest, at most one row a key
	OneValue             // Value, at most one row a key
)

// Holds reports whether a key of the type is there when there is a row.
func (t Table) Holds() bool { return t.Role != Rest && t.Role != One }

// Single reports whether a key has one row at most.
func (t Table) Single() bool { return t.Role == One || t.Role == OneValue }

// Of returns the type of a name as TYPE answers it: for an unknown one a Type that has
// nothing but the name.
func Of(name string) *Type {
	for _, t := range Types {
		if t.Name == name {
			return t
		}
	}
	return &Type{Name: name}
}

// Named returns the type that a user means by a name, in letters of any case.
func Named(name string) (*Type, bool) {
	for _, t := range Types {
		if strings.EqualFold(name, t.Name) || strings.EqualFold(name, t.Label) {
			return t, true
		}
	}
	return nil, false
}

// OfCommand returns the type of the keys of a command, by its group and name.
func OfCommand(group, name string) (*Type, bool) {
	for _, t := range Types {
		for _, g := range t.Groups {
			if g, prefix, _ := strings.Cut(g, " "); g == group && strings.HasPrefix(name, prefix) {
				return t, true
			}
		}
	}
	return nil, false
}

// Labels are the labels of all types, in the order of their numbers.
func Labels() (labels []string) {
	sorted := slices.SortedFunc(slices.Values(Types), func(a, b *Type) int { return cmp.Compare(a.Number, b.Number) })
	for _, t := range sorted {
		labels = append(labels, t.Said())
	}
	return labels
}

// Known reports whether t is one of Types.
func (t *Type) Known() bool { return t.Page != "" }

// Said is the name that people say.
func (t *Type) Said() string { return cmp.Or(t.Label, t.Name) }

// Prober is a command that refuses keys of other types.
func (t *Type) Prober() string { return cmp.Or(t.Probe, t.Count) }

// Brevity is the name in at most width cells.
func (t *Type) Brevity(width int) string {
	said := t.Said()
	if len(said) > width && t.Brief != "" {
		said = t.Brief
	}
	return said[:min(len(said), width)]
}
