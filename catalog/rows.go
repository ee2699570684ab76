package catalog

import (
	"context"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// Table is some rows behind a key, and the SQL that reads them.
type Table struct {
	Name    string
	SQL     string
	Columns []string
	Rows    [][]string // as people read them
	More    bool       // there are more rows than these
}

// rowsShown is how many rows of a table are read.
const rowsShown = 20

// source is a table with the rows of a type.
type source struct {
	table   string
	columns []string
	sql     string // ?1 is keys.id
}

var keyRow = source{"keys",
	[]string{"id", "db", "key", "hash", "type", "version", "count", "seq", "expires_at", "created_at", "updated_at", "volatile", "last_field"},
	`SELECT id, db, key, hash, type, version, count, seq, expires_at, created_at, updated_at, volatile, last_field
FROM keys WHERE db = ?1 AND key = ?2`}

var sources = map[string][]source{
	"string": {
		{"strings", []string{"key_id", "value"}, `SELECT key_id, substr(value, 1, 256) FROM strings WHERE key_id = ?1`},
		{"string_parts", []string{"key_id", "part", "value"},
			`SELECT key_id, part, substr(value, 1, 256) FROM string_parts WHERE key_id = ?1 ORDER BY part LIMIT ?2`},
	},
	"hash": {{"hashes", []string{"key_id", "hash", "field", "value", "seq", "expires_at"},
		`SELECT key_id, hash, substr(field, 1, 256), substr(value, 1, 256), seq, expires_at FROM hashes WHERE key_id = ?1 LIMIT ?2`}},
	"list": {{"lists", []string{"key_id", "pos", "value"},
		`SELECT key_id, pos, substr(value, 1, 256) FROM lists WHERE key_id = ?1 ORDER BY pos LIMIT ?2`}},
	"set": {{"sets", []string{"key_id", "hash", "member", "seq"},
		`SELECT key_id, hash, substr(member, 1, 256), seq FROM sets WHERE key_id = ?1 LIMIT ?2`}},
	"zset": {{"zsets", []string{"key_id", "hash", "member", "score"},
		`SELECT key_id, hash, substr(member, 1, 256), score FROM zsets WHERE key_id = ?1 ORDER BY score, member LIMIT ?2`}},
	"stream": {
		{"streams", []string{"key_id", "last_id", "deleted_id", "added"}, `SELECT key_id, last_id, deleted_id, added FROM streams WHERE key_id = ?1`},
		{"stream_entries", []string{"key_id", "id", "fields"},
			`SELECT key_id, id, substr(fields, 1, 256) FROM stream_entries WHERE key_id = ?1 ORDER BY id LIMIT ?2`},
		{"stream_groups", []string{"key_id", "name", "last_id", "entries_read"},
			`SELECT key_id, name, last_id, entries_read FROM stream_groups WHERE key_id = ?1 LIMIT ?2`},
		{"stream_pending", []string{"key_id", "group_name", "id", "consumer", "delivered_at", "deliveries"},
			`SELECT key_id, group_name, id, consumer, delivered_at, deliveries FROM stream_pending WHERE key_id = ?1 LIMIT ?2`},
	},
	"array": {{"arrays", []string{"key_id", "pos", "value"},
		`SELECT key_id, pos, substr(value, 1, 256) FROM arrays WHERE key_id = ?1 ORDER BY pos LIMIT ?2`}},
	"vectorset": {
		{"vector_sets", []string{"key_id", "dim", "input_dim", "quantization", "m", "size", "per"},
			`SELECT key_id, dim, input_dim, quantization, m, size, per FROM vector_sets WHERE key_id = ?1`},
		{"vectors", []string{"key_id", "slot", "element", "attributes"},
			`SELECT key_id, slot, substr(element, 1, 256), substr(attributes, 1, 256) FROM vectors WHERE key_id = ?1 ORDER BY slot LIMIT ?2`},
		{"vector_blocks", []string{"key_id", "block", "records"},
			`SELECT key_id, block, substr(records, 1, 256) FROM vector_blocks WHERE key_id = ?1 ORDER BY block LIMIT ?2`},
	},
	"ReJSON-RL": {{"documents", []string{"key_id", "value"}, `SELECT key_id, substr(value, 1, 256) FROM documents WHERE key_id = ?1`}},
}

// Rows returns the rows of the tables that hold name, the first of each table:
// none when there is no such key. Long values are cut.
func (c *Catalog) Rows(ctx context.Context, db int, name string) ([]Table, error) {
	rows, err := c.read(ctx, store.Stmt{SQL: keyRow.sql, Args: []store.Value{store.Int(int64(db)), blob(name)}})
	if err != nil || len(rows[0]) == 0 {
		return nil, err
	}
	id := rows[0][0][0]
	tables := []Table{keyRow.lay(rows[0])}
	for _, s := range sources[string(rows[0][0][4].Bytes())] {
		args := []store.Value{id}
		if s.limited() {
			args = append(args, store.Int(rowsShown+1))
		}
		rows, err := c.read(ctx, store.Stmt{SQL: s.sql, Args: args})
		if err != nil {
			return nil, err
		}
		tables = append(tables, s.lay(rows[0]))
	}
	return tables, nil
}

// cell is a value as it is read: bytes as text in double quotes, with escapes, and
// the rest as SQL literals.
func cell(v store.Value) string {
	if v.Kind() == store.Blob {
		return string(resp.AppendQuoted(nil, v.Bytes(), true))
	}
	return v.String()
}

// limited tells whether s may have many rows of a key.
func (s source) limited() bool {
	return s.table != "strings" && s.table != "documents" && s.table != "streams" && s.table != "vector_sets"
}

func (s source) lay(rows []store.Row) Table {
	t := Table{Name: s.table, SQL: s.sql, Columns: s.columns, More: len(rows) > rowsShown}
	for _, row := range rows[:min(len(rows), rowsShown)] {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
