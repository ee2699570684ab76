package storetest

import (
	"bytes"
	"fmt"
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

// dump is the content of all tables, a row a line, as run reads it.
func (ts tables) dump(run engine.Run) (string, error) {
	r, err := run(ts.batch)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	for i, name := range ts.names {
		for _, row := range r.Rows[i] {
			fmt.Fprintln(&out, name, row)
		}
	}
	return out.String(), nil
}

// Dump is the content of all tables, a row a line. Two dumps of one store are
// equal when nothing has changed between them.
func Dump(t testing.TB, s engine.Store) string {
	t.Helper()
	text, err := listTables(t, s).dump(func(b store.Batch) (store.Result, error) { return apply(t, s, b)[0], nil })
	if err != nil {
		t.Fatal(err)
	}
	return text
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
