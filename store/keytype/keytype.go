package keytype

import (
	"cmp"
	"slices"
	"strings"
)

// Type describes a type of key. A call is written as words; lower-case words such as "key" and "n" stand for
// arguments, see PageAt.
type Type struct {
	Nouns
	Commands
	Storage

	Name   string // as TYPE returns it, and as in the table keys
	Label  string // for display; "" means Name
	Brief  string // for narrow columns; "" means the start of Label
	Number byte   // in archives, from 1; it never changes

	// Groups are the command groups whose keys have this type. "module JSON." selects the commands of a group
	// whose names begin with JSON.
	Groups []string

	// NoDump is set if some servers have the type but cannot DUMP it.
	NoDump bool
}

// Nouns name the elements of a type, for display.
type Nouns struct {
	One, Many string // nouns for the counted elements, or bytes for a type without elements
	// Parts names the parts of an element, as Elements returns them; nil for a type without elements. With
	// Entries the last part stands for several: alternating fields and values.
	Parts []string
	// Inputs names the values that a user enters to add an element, or to create a key.
	Inputs []string
}

// Commands are the calls that read and change a key.
type Commands struct {
	Count string // the command that counts elements or bytes; "" if a key counts as one
	Probe string // a command that takes one key and fails for other types; "" means Count
	Read  string // the call that reads everything: "LRANGE key 0 -1"
	Page  string // the call that reads a page, in the type's order; see PageAt
	Pages Paging // how Page finds the next page
	Scan  string // the command of the SCAN family, or ""
	Add   string // the call that adds an element with the values of Inputs
	Drop  string // the call that deletes an element by its name: "HDEL key name"
	Get   string // the call that reads an element's value by its name: "HGET key name"
	Put   string // the call that sets that value: "HSET key name text"
	Form  Form
	// Dumped is set if only DUMP returns the whole value.
	Dumped bool
}

// Storage describes a type's rows in a meowdis file.
type Storage struct {
	Tables []Table
	// InKey is set if a value may be stored in the row of its key, in the column value.
	InKey bool
	// Size is SQL for Count, over a row of keys; "" means the column count. Weight is the SQL for the bytes
	// of the value that no row of Tables counts; "" for none.
	Size, Weight string
	// Memory is SQL for the bytes of a key in a file, without the rows of tables that have a Memory; "" for
	// none. It is an estimate for MEMORY USAGE.
	Memory string
}

// Form describes the shape of a value in a reply.
type Form byte

// The forms of replies.
const (
	Flat    Form = iota // elements of len(Parts) parts, flat or in an array each
	Whole               // the whole value is the reply
	Entries             // an array of id and fields for each element
	Summary             // properties of a value that only DUMP returns, each with a name
)

// Paging names the way to find the next page.
type Paging byte

// Ways of paging.
const (
	OnePage  Paging = iota // a single page
	ByPlace                // elements are numbered 0, 1, 2, …
	ByCursor               // the reply has a cursor, as for SCAN
	ByName                 // after the name of the last element, its first part
	ByIndex                // at the index after the last element's, its first part
)

// Table is a table with rows of a type. Column key_id has the id of their key.
type Table struct {
	Name string
	// Role is the meaning of a row.
	Role    Role
	Columns []string // all of them
	// Key lists the columns that identify a row of a key, in the table's order; nil if a key has one row.
	Key   []string
	Long  []string // columns that may be large
	Order string   // columns to sort rows by for display; "" for the table's order
	Bytes string   // SQL for the bytes of a row that count as bytes of the value; "" for none
	// Memory is SQL for the bytes of a row in a file: its values, its key, hash and position, and its
	// entries in indexes. The estimate multiplies it with the key's count.
	Memory  string
	Expires string // the column with a row's expiry; "" if rows never expire
}

// Role is the meaning of a table's rows for their key.
type Role byte

// The roles of tables.
const (
	Element  Role = iota // each row is an element
	Value                // a row is the value or a part of it: the key exists if it has one
	Rest                 // rows add to the content of other tables
	One                  // Rest, at most one row a key
	OneValue             // Value, at most one row a key
)

// Holds reports whether a key of the type exists if it has a row in the table.
func (t Table) Holds() bool { return t.Role != Rest && t.Role != One }

// SingleRow reports whether a key has at most one row.
func (t Table) SingleRow() bool { return t.Role == One || t.Role == OneValue }

// Of returns the type with the name that TYPE returns. For an unknown name it returns a Type with only that
// name.
func Of(name string) *Type {
	for _, t := range Types {
		if t.Name == name {
			return t
		}
	}
	return &Type{Name: name}
}

// Named returns the type with a name or label that a user entered, in any case.
func Named(name string) (*Type, bool) {
	for _, t := range Types {
		if strings.EqualFold(name, t.Name) || strings.EqualFold(name, t.Label) {
			return t, true
		}
	}
	return nil, false
}

// OfCommand returns the key type of a command, by its group and name.
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

// Labels returns the labels of all types, in the order of their numbers.
func Labels() (labels []string) {
	sorted := slices.SortedFunc(slices.Values(Types), func(a, b *Type) int { return cmp.Compare(a.Number, b.Number) })
	for _, t := range sorted {
		labels = append(labels, t.DisplayName())
	}
	return labels
}

// IsKnown reports whether t is one of Types.
func (t *Type) IsKnown() bool { return t.Page != "" }

// DisplayName returns the name for display.
func (t *Type) DisplayName() string { return cmp.Or(t.Label, t.Name) }

// ProbeCommand returns a command that fails for keys of other types.
func (t *Type) ProbeCommand() string { return cmp.Or(t.Probe, t.Count) }

// ShortName returns the name for display in at most width cells.
func (t *Type) ShortName(width int) string {
	said := t.DisplayName()
	if len(said) > width && t.Brief != "" {
		said = t.Brief
	}
	return said[:min(len(said), width)]
}
