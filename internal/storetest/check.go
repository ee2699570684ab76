package storetest

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/doctor"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

// Check reports everything that is wrong with the database. Nothing may be
// writing meanwhile.
func Check(t testing.TB, s engine.Store) {
	t.Helper()
	exam := doctor.Exam{Version: schema.Version, Examples: 10, Query: func(sql string, args ...store.Value) ([]store.Row, error) {
		results, err := s.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{{SQL: sql, Args: args}}, ReadOnly: true}})
		if err != nil {
			return nil, err
		}
		return results[0].Rows[0], nil
	}}
	found, err := exam.Content()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Severity != doctor.Note {
			t.Errorf("%s: %s: %q", f.Check, f.Says, f.Examples)
		}
	}
}
