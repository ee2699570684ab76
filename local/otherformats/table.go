package otherformats

import (
	"strings"
	"sync"
)

// Table is one of our tables as read from a foreign file.
type Table struct {
	Name    string
	Columns []Column

	from  string // the FROM clause
	where string // a condition on all rows, or ""
	row   string // a unique number of each row
}

// Column is a column of a Table.
type Column struct {
	Name string
	Type string // as declared in our schema
	Form Form

	// A lazy column costs a query of its own: rows come without it, and Table.Lazy reads it when needed.
	Lazy bool

	read string // an expression
	find string // the expression for comparing and sorting; "" if neither is possible
	// leads means that find begins an index, so an equality on it avoids a table scan. rows estimates how many
	// rows an equality returns.
	leads bool
	rows  float64
	// place names the table whose row numbers find uses.
	place string
}

// Form describes the conversion of a cell from the file to our table, and back.
type Form int

const (
	Plain   Form = iota // no conversion
	Integer             // however it is stored
	Real                // however it is stored
	Bytes               // text, blobs and numbers as the bytes that Redis would return
	Hashed              // the hash of the bytes
	EntryID             // milliseconds and sequence number of a stream entry, as 16 bytes
	Entry               // the fields of a stream entry, in MessagePack
	Ignored             // only for a Plan's argument: nothing to compare
)

// oneDB numbers the only database. It is an expression, because a plain number in ORDER BY would mean
// a column.
const oneDB = "(0 | 0)"

// ours lists the columns of our tables, with their declared types and their values for foreign files without
// such data.
var ours = sync.OnceValue(func() map[string][]Column {
	return map[string][]Column{
		"keys": {
			{Name: "id", Type: "INTEGER"}, {Name: "db", Type: "INTEGER", read: oneDB, find: oneDB}, {Name: "key", Type: "BLOB"},
			{Name: "hash", Type: "INTEGER"}, {Name: "type", Type: "TEXT"}, {Name: "version", Type: "INTEGER", read: "0"},
			{Name: "count", Type: "INTEGER"},
			// Larger than any row number, and small enough for a sum of a thousand of them.
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
		"bloom_filters": sketchColumns, "cuckoo_filters": sketchColumns, "count_min_sketches": sketchColumns, "top_k_lists": sketchColumns, "t_digests": sketchColumns,
		"series": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "retention", Type: "INTEGER"}, {Name: "chunk_size", Type: "INTEGER"}, {Name: "plain", Type: "INTEGER"},
			{Name: "policy", Type: "INTEGER"}, {Name: "ignore_time", Type: "INTEGER"}, {Name: "ignore_value", Type: "REAL"},
			{Name: "last_at", Type: "INTEGER"}, {Name: "last_value"},
		},
		"samples": {{Name: "key_id", Type: "INTEGER"}, {Name: "at", Type: "INTEGER"}, {Name: "value"}},
		"series_labels": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "position", Type: "INTEGER"}, {Name: "name", Type: "BLOB"}, {Name: "value", Type: "BLOB"},
		},
		"series_rules": {
			{Name: "id", Type: "INTEGER"}, {Name: "source_id", Type: "INTEGER"}, {Name: "target_id", Type: "INTEGER"}, {Name: "aggregator", Type: "INTEGER"},
			{Name: "bucket", Type: "INTEGER"}, {Name: "align", Type: "INTEGER"}, {Name: "opened", Type: "INTEGER"},
		},
		"search_aliases":      {{Name: "alias", Type: "BLOB"}, {Name: "index_id", Type: "INTEGER"}},
		"search_deleted":      {{Name: "index_id", Type: "INTEGER"}, {Name: "doc", Type: "INTEGER"}, {Name: "cleaning", Type: "INTEGER"}},
		"search_dictionaries": {{Name: "dictionary", Type: "BLOB"}, {Name: "term", Type: "BLOB"}},
		"search_documents": {
			{Name: "id", Type: "INTEGER"}, {Name: "index_id", Type: "INTEGER"}, {Name: "key_id", Type: "INTEGER"}, {Name: "length", Type: "INTEGER"},
			{Name: "key", Type: "BLOB"}, {Name: "doc", Type: "INTEGER"},
		},
		"search_dropped": {{Name: "index_id", Type: "INTEGER"}, {Name: "slot", Type: "INTEGER"}},
		"search_indexes": {
			{Name: "id", Type: "INTEGER"}, {Name: "name", Type: "BLOB"}, {Name: "definition", Type: "BLOB"}, {Name: "version", Type: "INTEGER"},
			{Name: "last_doc", Type: "INTEGER"}, {Name: "documents", Type: "INTEGER"}, {Name: "length", Type: "INTEGER"}, {Name: "deleted", Type: "INTEGER"},
			{Name: "scanned", Type: "INTEGER"}, {Name: "failures", Type: "INTEGER"}, {Name: "last_error", Type: "BLOB"}, {Name: "last_error_key", Type: "BLOB"},
			{Name: "clean_term", Type: "BLOB"}, {Name: "clean_block", Type: "INTEGER"}, {Name: "dies_at", Type: "INTEGER"}, {Name: "clean_segment", Type: "INTEGER"},
			{Name: "slot", Type: "INTEGER"},
		},
		"search_numbers": {
			{Name: "index_id", Type: "INTEGER"}, {Name: "field", Type: "INTEGER"}, {Name: "value", Type: "REAL"}, {Name: "doc", Type: "INTEGER"},
		},
		"search_pages": {
			{Name: "index_id", Type: "INTEGER"}, {Name: "segment", Type: "INTEGER"}, {Name: "term", Type: "BLOB"}, {Name: "data", Type: "BLOB"},
		},
		"search_pending": {{Name: "key_id", Type: "INTEGER"}},
		"search_postings": {
			{Name: "index_id", Type: "INTEGER"}, {Name: "term", Type: "BLOB"}, {Name: "block", Type: "INTEGER"}, {Name: "data", Type: "BLOB"},
		},
		"search_segments": {
			{Name: "index_id", Type: "INTEGER"}, {Name: "segment", Type: "INTEGER"}, {Name: "level", Type: "INTEGER"}, {Name: "target", Type: "INTEGER"},
		},
		"search_synonyms": {{Name: "index_id", Type: "INTEGER"}, {Name: "term", Type: "BLOB"}, {Name: "synonyms", Type: "BLOB"}},
		"suggestions": {
			{Name: "key_id", Type: "INTEGER"}, {Name: "string", Type: "BLOB"}, {Name: "folded", Type: "BLOB"}, {Name: "score", Type: "REAL"}, {Name: "payload", Type: "BLOB"},
		},
		"libraries": {{Name: "name", Type: "TEXT"}, {Name: "version", Type: "INTEGER"}, {Name: "code", Type: "BLOB"}},
		"functions": {
			{Name: "id", Type: "INTEGER"}, {Name: "library", Type: "TEXT"}, {Name: "name", Type: "TEXT"},
			{Name: "flags", Type: "INTEGER"}, {Name: "description", Type: "BLOB"},
		},
	}
})

// shown lists our tables that commands read, without the tables that only writes use.
var shown = []string{
	"keys", "dbs", "string_parts", "hashes", "sets", "zsets", "lists",
	"streams", "stream_entries", "stream_nodes", "stream_groups", "stream_consumers", "stream_pending", "stream_idmp", "stream_iids",
	"documents", "arrays", "array_cursors", "vector_sets", "vectors", "vector_blocks",
	"bloom_filters", "cuckoo_filters", "count_min_sketches", "top_k_lists", "t_digests",
	"series", "samples", "series_labels", "series_rules", "libraries", "functions",
	"search_aliases", "search_deleted", "search_dictionaries", "search_documents", "search_dropped",
	"search_indexes", "search_numbers", "search_pages", "search_pending", "search_postings", "search_segments", "search_synonyms", "suggestions",
}

// sketchColumns lists the columns of a table with blocks of sketches.
var sketchColumns = []Column{{Name: "key_id", Type: "INTEGER"}, {Name: "block", Type: "INTEGER"}, {Name: "data", Type: "BLOB"}}

// emptySource serves as the source of an empty table.
const emptySource = "(SELECT NULL WHERE 0)"

// complete returns every table that commands read: the given ones, and empty tables for the rest.
func complete(given ...Table) []Table {
	all := make([]Table, len(shown))
	for i, name := range shown {
		all[i] = table(name, emptySource, "0")
		for _, t := range given {
			if t.Name == name {
				all[i] = t
			}
		}
	}
	return all
}

// table returns our table with the given name, read from a source whose rows have the unique number row.
// Missing columns get their default or NULL.
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

func (t Table) withWhere(where string) Table {
	t.where = where
	return t
}

// Declaration returns the CREATE TABLE statement of the table.
func (t *Table) Declaration() string {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = `"` + c.Name + `" ` + c.Type
	}
	return "CREATE TABLE " + t.Name + "(" + strings.Join(columns, ", ") + ")"
}

// Lazy returns the SELECT of a lazy column, for the row whose first column is ?1.
func (t *Table) Lazy(column int) string {
	return "SELECT " + t.Columns[column].read + " FROM " + t.from + " WHERE " + t.Columns[0].find + " = ?1"
}

// Constructors of columns.

// plain returns a column that is read and compared without conversion.
func plain(name, expr string) Column { return Column{Name: name, read: expr, find: expr} }

func integer(name, expr string) Column {
	return Column{Name: name, Form: Integer, read: expr, find: expr}
}

func number(name, expr string) Column {
	return Column{Name: name, Form: Real, read: expr, find: expr}
}

// text returns a column of bytes, which the file may store as text or a number.
func text(name, expr string) Column {
	return Column{Name: name, Form: Bytes, read: expr, find: expr, rows: 1}
}

// computed returns a column that can only be read.
func computed(name, expr string) Column { return Column{Name: name, read: expr} }

// lazy returns a column that is computed on demand.
func lazy(name, expr string) Column {
	return Column{Name: name, Form: Integer, Lazy: true, read: expr}
}

// stringValue returns the value column of keys, which reads a string from its own row on demand.
func stringValue(f File, expr, typ, source, where string) Column {
	read := "NULL"
	if f.has(source) {
		read = "iif(" + expr + " = " + typ + ", (SELECT e.value FROM main." + source + " e WHERE " + where + "), NULL)"
	}
	return Column{Name: "value", Form: Bytes, Lazy: true, read: read}
}

// id returns the id column of keys.
func id(expr string) Column {
	return Column{Name: "id", read: expr, find: expr, leads: true, rows: 1}
}

// keyName returns the key column of keys.
func keyName(expr string) Column {
	return Column{Name: "key", Form: Bytes, read: expr, find: expr, leads: true, rows: 1}
}

// id16 returns a column of stream entry IDs.
func id16(name, ms, seq string) Column {
	return Column{Name: name, Form: EntryID, read: entryID(ms, seq), find: ms + ", " + seq, rows: 1}
}

// owner returns the key_id column. rows estimates the number of rows of a key.
func owner(expr string, rows float64) Column {
	return Column{Name: "key_id", read: expr, find: expr, leads: true, rows: rows}
}

// hash returns the hash column of a table of names. It holds the hash of the name, except when a scan or a
// random pick asks for rows after a place: no index in the file is ordered by hash, so the row numbers stand
// for hashes then.
func hash(name, table, row string) Column {
	return Column{Name: "hash", Form: Hashed, read: name, find: row, place: table}
}
