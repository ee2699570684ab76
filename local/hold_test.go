package local

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/meowdis/meowdis/store"
)

func inserted(n int) []store.Batch {
	return []store.Batch{{Stmts: []store.Stmt{{SQL: "INSERT INTO t VALUES(?1)", Args: []store.Value{store.Int(int64(n))}}}}}
}

// TestHold does work in several calls that take effect together, or not at all.
func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hold.sqlite")
	s, err := Open(path, Options{SweepEvery: -1, SingleConn: true})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(path, Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); other.Close() })
	ctx := context.Background()
	count := func() int64 {
		t.Helper()
		r, err := other.Apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT count(*) FROM t"}}}})
		if err != nil {
			t.Fatal(err)
		}
		return r[0].Rows[0][0][0].Int()
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Apply(ctx, []store.Batch{{Stmts: []store.Stmt{{SQL: "CREATE TABLE t(n UNIQUE)"}}}}))
	h := s.Hold()
	must(nil, h.Commit()) // without a transaction
	must(h.Apply(ctx, inserted(1)))
	must(nil, h.AllowCommit())
	must(h.Apply(ctx, inserted(2)))
	if n := count(); n != 0 {
		t.Errorf("%d rows are seen before the commit", n)
	}
	must(nil, h.Commit())
	if n := count(); n != 2 {
		t.Errorf("%d rows after the commit", n)
	}
	must(h.Apply(ctx, inserted(3)))
	if _, err := h.Apply(ctx, []store.Batch{{Stmts: []store.Stmt{{SQL: "SELECT no_such_function()"}}}}); err == nil {
		t.Error("no error")
	}
	must(nil, h.Commit())
	if n := count(); n != 2 {
		t.Errorf("%d rows after an error", n)
	}
	// A transaction that rests for too long is committed, and work continues after it.
	must(h.Apply(ctx, inserted(4)))
	h.since = h.since.Add(-2 * maxHold)
	must(nil, h.AllowCommit())
	if n := count(); n != 3 {
		t.Errorf("%d rows after a rest", n)
	}
	must(h.Apply(ctx, inserted(5)))
	must(nil, h.Commit())
	h.Rollback() // without a transaction
	must(h.Apply(ctx, inserted(6)))
	h.Rollback()
	must(nil, h.Commit())
	must(h.Apply(ctx, inserted(7)))
	must(nil, h.Commit())
	if n := count(); n != 5 {
		t.Errorf("%d rows in the end", n)
	}
	// A refused batch leaves no trace, and the batches around it do.
	for _, before := range []int{0, 1} {
		first := 10 * (before + 1)
		for i := range before {
			must(h.Apply(ctx, inserted(first+i)))
		}
		refused := store.Batch{Stmts: append(inserted(first + 2)[0].Stmts, inserted(first + 2)[0].Stmts...)}
		results, err := h.Apply(ctx, append(append(inserted(first+3), refused), inserted(first+4)...))
		must(results, err)
		if results[0].Refused != nil || results[1].Refused == nil || results[2].Refused != nil {
			t.Errorf("%d calls before: %+v", before, results)
		}
		n := count()
		must(nil, h.Commit())
		if got := count() - n; got != int64(2+before) {
			t.Errorf("%d calls before: %d more rows", before, got)
		}
	}
	if err := other.Close(); err != nil && !errors.Is(err, errClosed) {
		t.Error(err)
	}
}
