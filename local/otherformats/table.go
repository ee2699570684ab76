package otherformats

import (
	"strings"
	"sync"
)

// Table is one of our tables, as it is read from a foreign file.
type Table struct {
	Name    string
	Columns []Column

	from  string // after FROM
	where string // what is always true, or nothing
	row   string // a number that no other row has
}

// Column is a column of a Table.
type Column struct {
	Name string
	Type string // as our schema declares it
	Form Form

	// Lazy columns cost a search of their own: a row comes without them, and
	// Table.Lazy reads one when it is wanted.
	Lazy bool

	read string // an expression
	find string // what it is compared and sorted by; nothing when it cannot be
	// leads says that find begins an index, so that an equality on it spares
	// reading the table; rows is how many rows equality leaves.
	leads bool
	rows  float64
	// place is the table whose row numbers are the places that find goes by.
	place string
}

// Form is how a cell of the file becomes one of ours, and back.
type Form int

const (
	Plain   Form = iota // as it is
	Integer             // whatever it is stored as
	Real                // whatever it is stored as
	Bytes               // text, blobs and numbers: the bytes that Redis would have
	Hashed              // the hash of the bytes
	EntryID             // milliseconds and sequence number of a stream's entry, our 16 bytes
	Entry               // the fields of a stream's entry, in MessagePack
	Ignored             // of a Plan's argument only: nothing to compare
)

// oneDB is the number of the database where there is one: an expression, since a bare
// number to sort by would be that of a column.
const oneDB = "(0 | 0)"

// ours are the columns of our tables, with their declared types and what they
// hold where a foreign file has nothing of the sort.
var ours = sync.OnceValue(func() map[string][]Column {
	return map[string][]Column{
		"keys": {
			{Name: "id", Type: "INTEGER"}, {Name: "db", Type: "INTEGER", read: oneDB, find: oneDB}, {Name: "key", Type: "BLOB"},
			{Name: "hash", Type: "INTEGER"}, {Name: "type", Type: "TEXT"}, {Name: "version", Type: "INTEGER", read: "0"},
			{Name: "count", Type: "INTEGER"},
			// Beyond every row number, and small enough to be added up a thousand times.
			{Name: "seq", Type: "INTEGER", read: "1099511627776"},
			{Name: "expires_at", Type: "INTEGER"}, {Name: "created_at", Type: "INTEGER", read: "0"}, {Name: "updated_at", Type: "INTEGER", read: "0"},
			{Name: "volatile", Type: "INTEGER", read: "0"}, {Name: "last_field", Type: "INTEGER"}, {Name: "dies_at", Type: "INTEGER"},
			{Name: "value", Type: "BLOB"},
		},
		"dbs":          {{Name: "db", Type: "INTEGER"}, {Name: "keys", Type: "INTEGER"}},
		"string_parts": {{Name: "key_id", Type: "INTEGER"}, {Name: "part", Type: "INTEGER"}, {Name: "value", Type: "BLOB"}},
		"hashes": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "hash", Type: "INTEGER"}, {Name: "field", Type: "BLOB"}, {Name: "value", Type: "BLOB"},
			{Name: "seq", Type: "INTEGER"}, {Name: "expires_at", Type: "INTEGER"},
		},
		"sets":  {{Name: "key_id", Type: "INTEGER"}, {Name: "hash", Type: "INTEGER"}, {Name: "member", Type: "BLOB"}, {Name: "seq", Type: "INTEGER"}},
		"zsets": {{Name: "key_id", Type: "INTEGER"}, {Name: "hash", Type: "INTEGER"}, {Name: "member", Type: "BLOB"}, {Name: "score", Type: "REAL"}},
		"lists": {{Name: "key_id", Type: "INTEGER"}, {Name: "pos", Type: "INTEGER"}, {Name: "value", Type: "BLOB"}},
		"streams": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "last_id", Type: "BLOB"}, {Name: "deleted_id", Type: "BLOB"}, {Name: "added", Type: "INTEGER"},
		},
		"stream_entries": {{Name: "key_id", Type: "INTEGER"}, {Name: "id", Type: "BLOB"}, {Name: "fields", Type: "BLOB"}},
		"stream_nodes": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "first_id", Type: "BLOB"}, {Name: "last_id", Type: "BLOB"}, {Name: "count", Type: "INTEGER"},
			{Name: "deleted", Type: "INTEGER"}, {Name: "bytes", Type: "INTEGER"}, {Name: "names", Type: "BLOB"},
		},
		"stream_groups": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "name", Type: "BLOB"}, {Name: "last_id", Type: "BLOB"}, {Name: "entries_read", Type: "INTEGER"},
		},
		"stream_consumers": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "group_name", Type: "BLOB"}, {Name: "name", Type: "BLOB"},
			{Name: "seen_at", Type: "INTEGER"}, {Name: "active_at", Type: "INTEGER"},
		},
		"stream_pending": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "group_name", Type: "BLOB"}, {Name: "id", Type: "BLOB"}, {Name: "consumer", Type: "BLOB"},
			{Name: "delivered_at", Type: "INTEGER"}, {Name: "deliveries", Type: "INTEGER"},
		},
		"stream_idmp": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "duration", Type: "INTEGER"}, {Name: "maxsize", Type: "INTEGER"},
			{Name: "added", Type: "INTEGER"}, {Name: "duplicates", Type: "INTEGER"},
		},
		"stream_iids": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "producer", Type: "BLOB"}, {Name: "iid", Type: "BLOB"}, {Name: "id", Type: "BLOB"},
			{Name: "added_at", Type: "INTEGER"},
		},
		"documents":     {{Name: "key_id", Type: "INTEGER"}, {Name: "value", Type: "BLOB"}},
		"arrays":        {{Name: "key_id", Type: "INTEGER"}, {Name: "pos", Type: "INTEGER"}, {Name: "value", Type: "BLOB"}},
		"array_cursors": {{Name: "key_id", Type: "INTEGER"}, {Name: "next", Type: "INTEGER"}},
		"vector_sets": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "dim", Type: "INTEGER"}, {Name: "input_dim", Type: "INTEGER"},
			{Name: "quantization", Type: "INTEGER"}, {Name: "m", Type: "INTEGER"}, {Name: "size", Type: "INTEGER"}, {Name: "per", Type: "INTEGER"},
		},
		"vectors": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "slot", Type: "INTEGER"}, {Name: "element", Type: "BLOB"}, {Name: "attributes", Type: "BLOB"},
		},
		"vector_blocks": {{Name: "key_id", Type: "INTEGER"}, {Name: "block", Type: "INTEGER"}, {Name: "records", Type: "BLOB"}},
		"libraries":     {{Name: "name", Type: "TEXT"}, {Name: "version", Type: "INTEGER"}, {Name: "code", Type: "BLOB"}},
		"functions": {
			{Name: "id", Type: "INTEGER"}, {Name: "library", Type: "TEXT"}, {Name: "name", Type: "TEXT"},
			{Name: "flags", Type: "INTEGER"}, {Name: "description", Type: "BLOB"},
		},
	}
})

// shown are the tables of ours that commands read, without those that only
// writes do.
var shown = []string{
	"keys", "dbs", "string_parts", "hashes", "sets", "zsets", "lists",
	"streams", "stream_entries", "stream_nodes", "stream_groups", "stream_consumers", "stream_pending", "stream_idmp", "stream_iids",
	"documents", "arrays", "array_cursors", "vector_sets", "vectors", "vector_blocks", "libraries", "functions",
}

// nothing is the source of a table that a file has no rows for.
const nothing = "(SELECT NULL WHERE 0)"

// complete is every table that commands read: those given, and the others empty.
func complete(given ...Table) []Table {
	all := make([]Table, len(shown))
	for i, name := range shown {
		all[i] = table(name, nothing, "0")
		for _, t := range given {
			if t.Name == name {
				all[i] = t
			}
		}
	}
	return all
}

// table is our table of that name, read from a source whose rows have the number
// row. Columns that are not given are what they are by default, or NULL.
func table(name, from, row string, given ...Column) Table {
	t := Table{Name: name, from: from, row: row}
	for _, c := range ours()[name] {
		if c.read == "" {
			c.read, c.find = "NULL", "NULL"
		}
		for _, g := range given {
			if g.Name == c.Name {
				g.Type = c.Type
				c = g
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

func (t Table) only(where string) Table {
	t.where = where
	return t
}

// Declaration is the table in SQL's words.
func (t *Table) Declaration() string {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = `"` + c.Name + `" ` + c.Type
	}
	return "CREATE TABLE " + t.Name + "(" + strings.Join(columns, ", ") + ")"
}

// Lazy is the SELECT of a lazy column of the row whose first column is ?1.
func (t *Table) Lazy(column int) string {
	return "SELECT " + t.Columns[column].read + " FROM " + t.from + " WHERE " + t.Columns[0].find + " = ?1"
}

// The vocabulary of columns.

// plain is a column that is read and found as it is.
func plain(name, expr string) Column { return Column{Name: name, read: expr, find: expr} }

func integer(name, expr string) Column {
	return Column{Name: name, Form: Integer, read: expr, find: expr}
}

func number(name, expr string) Column {
	return Column{Name: name, Form: Real, read: expr, find: expr}
}

// text is a column of bytes, of which the file may have made text or a number.
func text(name, expr string) Column {
	return Column{Name: name, Form: Bytes, read: expr, find: expr, rows: 1}
}

// computed is a column that is only read.
func computed(name, expr string) Column { return Column{Name: name, read: expr} }

// lazy is a column that is counted when it is asked for.
func lazy(name, expr string) Column {
	return Column{Name: name, Form: Integer, Lazy: true, read: expr}
}

// stringValue is the column value of keys: that of a string, from a row where it is asked for.
func stringValue(f File, expr, typ, source, where string) Column {
	read := "NULL"
	if f.has(source) {
		read = "iif(" + expr + " = " + typ + ", (SELECT e.value FROM main." + source + " e WHERE " + where + "), NULL)"
	}
	return Column{Name: "value", Form: Bytes, Lazy: true, read: read}
}

// id is the column id of keys.
func id(expr string) Column {
	return Column{Name: "id", read: expr, find: expr, leads: true, rows: 1}
}

// keyName is the column key of keys.
func keyName(expr string) Column {
	return Column{Name: "key", Form: Bytes, read: expr, find: expr, leads: true, rows: 1}
}

// id16 is a column of ids of a stream's entries.
func id16(name, ms, seq string) Column {
	return Column{Name: name, Form: EntryID, read: entryID(ms, seq), find: ms + ", " + seq, rows: 1}
}

// owner is the column that says whose row it is; a key has about so many.
func owner(expr string, rows float64) Column {
	return Column{Name: "key_id", read: expr, find: expr, leads: true, rows: rows}
}

// hash is the column hash of a table of names. It is the hash of the name, except
// where a scan or a random pick asks for what lies after a place: nothing in the
// file is in the order of hashes, so that then the places are the numbers of the
// rows in the table.
func hash(name, table, row string) Column {
	return Column{Name: "hash", Form: Hashed, read: name, find: row, place: table}
}
