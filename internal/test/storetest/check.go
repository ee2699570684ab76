package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// Check fails the test for every broken invariant of the database. No other client may write
// during the check.
func Check(t testing.TB, s engine.Store) {
	t.Helper()
	broken, err := Broken(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range broken {
		t.Error(says)
	}
}

// CheckAtEnd calls Check at the end of the test, before earlier registered cleanups.
func CheckAtEnd(t testing.TB, s engine.Store) {
	t.Cleanup(func() {
		t.Helper()
		Check(t, s)
	})
}

// Broken returns the broken invariants. The store's time limit does not apply.
func Broken(s engine.Store) (all []string, err error) {
	ctx := store.WithWriteWait(context.Background(), &store.WriteWait{Unlimited: true})
	exam := doctor.Exam{Version: schema.Version, Examples: 10, Query: func(sql string, args ...store.Value) ([]store.Row, error) {
		results, err := s.Apply(ctx, []store.Batch{{Stmts: []store.Stmt{{SQL: sql, Args: args}}, ReadOnly: true}})
		if err != nil {
			return nil, err
		}
		if r := results[0].Refused; r != nil {
			return nil, errors.New(r.Reason)
		}
		return results[0].Rows[0], nil
	}}
	found, err := exam.Content()
	for _, f := range found {
		if f.Severity != doctor.Note {
			all = append(all, fmt.Sprintf("%s: %s: %q", f.Check, f.Says, f.Examples))
		}
	}
	return all, err
}
