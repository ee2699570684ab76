package local

import (
	"context"
	"errors"
	"testing"

	"github.com/meowdis/meowdis/store"
)

// TestPanic rolls back after a panic inside the store, and leaves no connection in a transaction.
func TestPanic(t *testing.T) {
	ctx := context.Background()
	one := store.Stmt{SQL: "SELECT 1 UNION SELECT 2"}
	fold, moot := one, one
	fold.Fold = func() func(store.Row) { return func(store.Row) { panic("a fold") } }
	moot.SkipIf = func(store.Result) bool { panic("a moot") }
	write := store.Stmt{SQL: sqlNumber, Args: []store.Value{store.Int(7)}}
	for name, path := range map[string]string{"memory": Memory, "file": t.TempDir() + "/db.sqlite"} {
		for _, lanes := range []bool{false, true} {
			s, err := Open(path, Options{SweepEvery: -1, IsolateSlowReads: lanes})
			if err != nil {
				t.Fatal(err)
			}
			for what, try := range map[string]func() error{
				"read": func() error {
					return s.Transact(ctx, true, func(func(store.Batch) (store.Result, error)) error { panic("it") })
				},
				"write": func() error {
					return s.Transact(ctx, false, func(run func(store.Batch) (store.Result, error)) error {
						if _, err := run(store.Batch{Stmts: []store.Stmt{write}}); err != nil {
							return err
						}
						panic("it")
					})
				},
				"fold": func() error {
					_, err := s.Apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{fold}}})
					return err
				},
				"fold, writing": func() error { _, err := s.Apply(ctx, []store.Batch{{Stmts: []store.Stmt{write, fold}}}); return err },
				"moot": func() error {
					_, err := s.Apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{one, moot}}})
					return err
				},
				"moot, writing":     func() error { _, err := s.Apply(ctx, []store.Batch{{Stmts: []store.Stmt{write, moot}}}); return err },
				"together, reading": func() error { return together(s, store.Batch{ReadOnly: true, Stmts: []store.Stmt{one, fold}}) },
				"together, writing": func() error { return together(s, store.Batch{Stmts: []store.Stmt{write, fold}}) },
			} {
				for range 8 { // more often than there are connections
					var p *store.Panic
					if err := try(); !errors.As(err, &p) || len(p.Stack) == 0 {
						t.Fatalf("%s, %s: the error is %v", name, what, err)
					}
				}
				for _, readOnly := range []bool{true, false} {
					r, err := s.Apply(ctx, []store.Batch{{ReadOnly: readOnly, Stmts: []store.Stmt{{SQL: "SELECT count(*) FROM guard"}}}})
					if err != nil || r[0].Rows[0][0][0].Int() != 0 {
						t.Errorf("%s, %s: afterwards %+v, %v", name, what, r, err)
					}
				}
			}
			for _, c := range s.readers.idle {
				if !c.idle() {
					t.Errorf("%s: a connection is in a transaction", name)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func together(s *Store, b store.Batch) error {
	done := make(chan struct{}, 1)
	part := &store.Part{Batches: []store.Batch{b}}
	s.ApplyGroup([]*store.Part{part}, func(int) { done <- struct{}{} })
	<-done
	return part.Err
}
