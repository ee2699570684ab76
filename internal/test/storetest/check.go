package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
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
	r := reader{s: s}
	r.ahead()
	exam := doctor.Exam{Version: schema.Version, Examples: 10, Query: r.query}
	found, err := exam.Content()
	for _, f := range found {
		if f.Severity != doctor.Note {
			all = append(all, fmt.Sprintf("%s: %s: %q", f.Check, f.Says, f.Examples))
		}
	}
	if err == nil {
		questions.CompareAndSwap(nil, &r.asked)
	}
	return all, err
}

// questions holds the statements of the first examination. Most of them are the same in the next one.
var questions atomic.Pointer[[]store.Stmt]

// reader runs the statements of an examination.
type reader struct {
	s     engine.Store
	asked []store.Stmt
	// known has the rows of the statements next.
	next  []store.Stmt
	known [][]store.Row
}

// ahead runs all statements that the examination may ask for in one batch, which takes a remote store one round trip
// instead of a hundred.
func (r *reader) ahead() {
	first := questions.Load()
	if first == nil {
		return
	}
	if rows, err := r.run(*first...); err == nil { // a store without some table, for example, runs them one by one
		r.next, r.known = *first, rows
	}
}

func (r *reader) query(sql string, args ...store.Value) ([]store.Row, error) {
	asked := store.Stmt{SQL: sql, Args: args}
	r.asked = append(r.asked, asked)
	for i, stmt := range r.next {
		if stmt.SQL == sql && reflect.DeepEqual(stmt.Args, args) {
			rows := r.known[i]
			r.next, r.known = r.next[i+1:], r.known[i+1:]
			return rows, nil
		}
	}
	rows, err := r.run(asked)
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// run returns the rows of each statement.
func (r *reader) run(stmts ...store.Stmt) ([][]store.Row, error) {
	ctx := store.WithWriteWait(context.Background(), &store.WriteWait{Unlimited: true})
	results, err := r.s.Apply(ctx, []store.Batch{{Stmts: stmts, ReadOnly: true}})
	if err != nil {
		return nil, err
	}
	if refused := results[0].Refused; refused != nil {
		return nil, errors.New(refused.Reason)
	}
	return results[0].Rows, nil
}
