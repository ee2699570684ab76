package storetest

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/corpus"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// Faults plays the corpus and has every batch that writes refused once at each
// of its statements before it may run: nothing may change by that, and the
// replies must be the transcript's all the same. Nor may a command change
// anything that only reads or that answers an error. Then it plays them once more with
// a sweep, whose batches are refused as well.
func Faults(t *testing.T, open Open) {
	transcripts, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range transcripts {
		t.Run(tr.Name, func(t *testing.T) {
			s := open(t)
			before := Dump(t, s)
			play(t, tr, faulty(t, s), false, func(step corpus.Step, v resp.Value) {
				after := Dump(t, s)
				if after != before && (v.IsError() || !mayWrite(step.Args)) {
					t.Errorf("%s.txt:%d: %q answered %s and changed the file:\n%s",
						tr.Name, step.Line, step.Args, corpus.Show(v), changes(before, after))
				}
				before = after
			})
			Check(t, s)
		})
		t.Run(tr.Name+" swept", func(t *testing.T) {
			s := open(t)
			play(t, tr, faulty(t, s), true, func(corpus.Step, resp.Value) {})
			Check(t, s)
		})
	}
}

func mayWrite(args [][]byte) bool {
	cmd, _ := commands.Find(args)
	return cmd != nil && (cmd.Flags&commands.Write != 0 || cmd.Name == "EXEC")
}

// transactor is what the engine uses of a store that holds transactions open.
type transactor interface {
	Transact(ctx context.Context, readOnly bool, fn func(engine.Run) error) error
}

// faulty wraps s. The wrapper can hold transactions when s can.
func faulty(t *testing.T, s engine.Store) engine.Store {
	f := faultyStore{t: t, inner: s, tables: listTables(t, s)}
	if inner, ok := s.(transactor); ok {
		return faultyTransactor{f, inner}
	}
	return f
}

type faultyStore struct {
	t      *testing.T
	inner  engine.Store
	tables tables
}

func (f faultyStore) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	var results []store.Result
	run := func(b store.Batch) (store.Result, error) {
		r, err := f.inner.Apply(ctx, []store.Batch{b})
		if err != nil {
			return store.Result{}, err
		}
		return r[0], nil
	}
	for _, b := range batches {
		if err := f.fail(b, run); err != nil {
			return nil, err
		}
		r, err := run(b)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// fail runs the beginnings of b, each followed by a refusal.
func (f faultyStore) fail(b store.Batch, run engine.Run) error {
	if b.ReadOnly {
		return nil
	}
	before, err := f.tables.dump(run)
	if err != nil {
		return err
	}
	for n := range len(b.Stmts) + 1 {
		r, err := run(store.Batch{Stmts: append(b.Stmts[:n:n], translator.Abort())})
		if err != nil {
			return err
		}
		if r.Refused == nil || r.Refused.At > n {
			f.t.Errorf("a batch that must fail at statement %d was refused so: %+v", n, r.Refused)
		}
	}
	after, err := f.tables.dump(run)
	if err == nil && before != after {
		f.t.Errorf("the refused beginnings of a batch left a trace:\n%sThe batch is %v", changes(before, after), b.Stmts)
	}
	return err
}

type faultyTransactor struct {
	faultyStore
	transactor transactor
}

func (f faultyTransactor) Transact(ctx context.Context, readOnly bool, fn func(engine.Run) error) error {
	return f.transactor.Transact(ctx, readOnly, func(run engine.Run) error {
		return fn(func(b store.Batch) (store.Result, error) {
			if err := f.fail(b, run); err != nil {
				return store.Result{}, err
			}
			return run(b)
		})
	})
}
