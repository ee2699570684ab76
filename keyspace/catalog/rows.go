package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// Table holds rows of a key and the SQL that reads them.
type Table struct {
	Name    string
	SQL     string
	Columns []string
	Rows    [][]string // formatted for display
	More    bool       // the key has further rows
}

// maxRows limits the rows read from a table.
const maxRows = 20

// source describes a table that holds rows of a type.
type source struct {
	table   string
	columns []string
	sql     string // ?1 is keys.id, ?2 the row limit
	limited bool   // a key may have many rows
}

var keyRow = source{table: "keys",
	columns: []string{"id", "db", "key", "hash", "type", "version", "count", "seq", "expires_at", "created_at", "updated_at", "volatile", "last_field", "value"},
	sql: `SELECT id, db, key, hash, type, version, count, seq, expires_at, created_at, updated_at, volatile, last_field, substr(value, 1, 256)
FROM keys WHERE db = ?1 AND key = ?2`}

// sourcesOf returns the tables of a type.
func sourcesOf(t *keytype.Type) (all []source) {
	for _, table := range t.Tables {
		columns := slices.Clone(table.Columns)
		for i, c := range columns {
			if slices.Contains(table.Long, c) {
				columns[i] = `substr(` + c + `, 1, 256)`
			}
		}
		s := source{table.Name, table.Columns, `SELECT ` + strings.Join(columns, ", ") + ` FROM ` + table.Name + ` WHERE key_id = ?1`, !table.SingleRow()}
		if table.Order != "" {
			s.sql += ` ORDER BY ` + table.Order
		}
		if s.limited {
			s.sql += ` LIMIT ?2`
		}
		all = append(all, s)
	}
	return all
}

// Rows returns the first rows of every table that stores name, or none if the key is missing.
// Long values are truncated.
func (c *Catalog) Rows(ctx context.Context, db int, name string) ([]Table, error) {
	rows, err := c.read(ctx, store.Stmt{SQL: keyRow.sql, Args: []store.Value{store.Int(int64(db)), blob(name)}})
	if err != nil || len(rows[0]) == 0 {
		return nil, err
	}
	id := rows[0][0][0]
	tables := []Table{keyRow.toTable(rows[0])}
	for _, s := range sourcesOf(keytype.Of(string(rows[0][0][4].Bytes()))) {
		args := []store.Value{id}
		if s.limited {
			args = append(args, store.Int(maxRows+1))
		}
		rows, err := c.read(ctx, store.Stmt{SQL: s.sql, Args: args})
		if err != nil {
			return nil, err
		}
		tables = append(tables, s.toTable(rows[0]))
	}
	return tables, nil
}

// cell formats a value for display: a BLOB as escaped text in double quotes, any other value as
// an SQL literal.
func cell(v store.Value) string {
	if v.Kind() == store.Blob {
		return string(resp.AppendQuoted(nil, v.Bytes(), true))
	}
	return v.String()
}

func (s source) toTable(rows []store.Row) Table {
	t := Table{Name: s.table, SQL: s.sql, Columns: s.columns, More: len(rows) > maxRows}
	for _, row := range rows[:min(len(rows), maxRows)] {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
