package storetest

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// Faults plays the corpus and makes every writing batch fail once at each of its statements
// before it may run. The failure must change nothing, and the replies must still equal the
// transcript's. A command that only reads, or that replies with an error, must not change
// anything either. Transcripts with expiry are played once more with sweeps, whose batches
// fail in the same way.
func Faults(t *testing.T, open Open) {
	transcripts, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	s := open(t)
	for _, tr := range transcripts {
		t.Run(tr.Name, func(t *testing.T) {
			Empty(t, s)
			f := faulty(t, s)
			play(t, tr, f.store(), false, func(step corpus.Step, v resp.Value) {
				f.after(!runsScript(step.Args) && (v.IsError() || !mayWrite(step.Args)), func(changed string) {
					t.Errorf("%s.txt:%d: %q answered %s and changed the file:\n%s", tr.Name, step.Line, step.Args, corpus.Show(v), changed)
				})
			})
			Check(t, s)
		})
		if !tr.Expires() {
			continue
		}
		t.Run(tr.Name+" swept", func(t *testing.T) {
			Empty(t, s)
			play(t, tr, faulty(t, s).store(), true, func(corpus.Step, resp.Value) {})
			Check(t, s)
		})
	}
}

// runsScript reports whether the command runs a script. A script may write, and its writes
// remain if it fails.
func runsScript(args [][]byte) bool {
	cmd, _ := commands.Find(args)
	return cmd != nil && cmd.Traits&commands.Scripts != 0
}

func mayWrite(args [][]byte) bool {
	cmd, _ := commands.Find(args)
	return cmd != nil && (cmd.Flags&commands.Write != 0 || cmd.Name == "EXEC")
}

// transactor is the interface of stores with interactive transactions, as the engine uses it.
type transactor interface {
	Transact(ctx context.Context, readOnly bool, fn func(engine.Run) error) error
}

// faultyStore caches the contents of the tables until a batch writes. Read-only batches cannot
// change them: the hostile store checks that.
type faultyStore struct {
	t      *testing.T
	inner  engine.Store
	tables tables
	now    *contents // nil after a batch that writes
	before *contents // before the step's first writing batch; nil if there was none
}

func faulty(t *testing.T, s engine.Store) *faultyStore {
	return &faultyStore{t: t, inner: s, tables: listTables(t, s)}
}

// store can hold transactions when the inner one can.
func (f *faultyStore) store() engine.Store {
	if inner, ok := f.inner.(transactor); ok {
		return faultyTransactor{f, inner}
	}
	return f
}

// after ends a step. If unchanged is set, it reports any change.
func (f *faultyStore) after(unchanged bool, report func(changed string)) {
	f.t.Helper()
	if f.before != nil && unchanged {
		now := f.tables.read(f.t, f.inner)
		if f.now = &now; !now.equal(*f.before) {
			report(changes(f.before.String(), now.String()))
		}
	}
	f.before = nil
}

func (f *faultyStore) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
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

// fail runs each prefix of b, followed by a refusal.
func (f *faultyStore) fail(b store.Batch, run engine.Run) error {
	if b.ReadOnly {
		return nil
	}
	if f.now == nil {
		now, err := f.tables.contents(run)
		if err != nil {
			return err
		}
		f.now = &now
	}
	if f.before == nil {
		f.before = f.now
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
	after, err := f.tables.contents(run)
	if err == nil && !after.equal(*f.now) {
		f.t.Errorf("the refused beginnings of a batch left a trace:\n%sThe batch is %v", changes(f.now.String(), after.String()), b.Stmts)
	}
	f.now = nil // b itself runs next
	return err
}

type faultyTransactor struct {
	*faultyStore
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
