package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/store"
)

// tables reads every table from one end to the other.
type tables struct {
	names []string
	batch store.Batch
}

func listTables(t testing.TB, s engine.Store) tables {
	t.Helper()
	all := tables{batch: store.Batch{ReadOnly: true}}
	for _, row := range query(t, s, `SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 1) <> '_' ORDER BY name`) {
		name := string(row[0].Bytes())
		all.names = append(all.names, name)
		all.batch.Stmts = append(all.batch.Stmts, store.Stmt{SQL: `SELECT * FROM "` + name + `"`})
	}
	return all
}

// contents holds the rows of each table.
type contents struct {
	tables []string
	rows   [][]store.Row
}

// contents reads all tables by run.
func (ts tables) contents(run engine.Run) (contents, error) {
	r, err := run(ts.batch)
	return contents{ts.names, r.Rows}, err
}

func (c contents) equal(d contents) bool {
	return slices.EqualFunc(c.rows, d.rows, func(a, b []store.Row) bool {
		return slices.EqualFunc(a, b, func(a, b store.Row) bool { return slices.EqualFunc(a, b, equalValues) })
	})
}

func equalValues(a, b store.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case store.Integer:
		return a.Int() == b.Int()
	case store.Real:
		return a.Float() == b.Float()
	}
	return bytes.Equal(a.Bytes(), b.Bytes())
}

// String returns one row per line.
func (c contents) String() string {
	var out strings.Builder
	for i, name := range c.tables {
		for _, row := range c.rows[i] {
			fmt.Fprintln(&out, name, row)
		}
	}
	return out.String()
}

// Dump returns the contents of all tables, one row per line. Two dumps are equal if the store
// is unchanged.
func Dump(t testing.TB, s engine.Store) string {
	t.Helper()
	return listTables(t, s).read(t, s).String()
}

// read reads all tables of s.
func (ts tables) read(t testing.TB, s engine.Store) contents {
	t.Helper()
	c, err := ts.contents(func(b store.Batch) (store.Result, error) { return apply(t, s, b)[0], nil })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// changes lists the lines that only one of two dumps has.
func changes(before, after string) string {
	var out strings.Builder
	only := func(mark, a, b string) {
		have := map[string]bool{}
		for line := range strings.Lines(b) {
			have[line] = true
		}
		for line := range strings.Lines(a) {
			if !have[line] {
				out.WriteString(mark + line)
			}
		}
	}
	only("- ", before, after)
	only("+ ", after, before)
	return out.String()
}
