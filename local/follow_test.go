package local_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// heard is a follower that records its calls.
type heard struct {
	deaf  bool
	log   []string
	after func(run func(store.Batch) (store.Result, error)) error // called after each batch, if not nil
}

func (h *heard) Follows() bool { return !h.deaf }

func (h *heard) Ran(b *store.Batch, r *store.Result, run func(store.Batch) (store.Result, error)) error {
	h.log = append(h.log, fmt.Sprint(b.Origin, r.Changes))
	if h.after != nil {
		return h.after(run)
	}
	return nil
}

func (h *heard) Ended(committed bool) { h.log = append(h.log, fmt.Sprint("committed: ", committed)) }

func insert(of any, name string) store.Batch {
	return store.Batch{Origin: of, Stmts: []store.Stmt{{SQL: "INSERT INTO t VALUES(?1)", Args: []store.Value{store.String(name)}}}}
}

func following(t *testing.T) (*local.Store, *heard) {
	t.Helper()
	s, err := local.Open(filepath.Join(t.TempDir(), "t.sqlite"), local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := &heard{deaf: true}
	s.Follow(h)
	if _, err := s.Apply(t.Context(), []store.Batch{{Stmts: []store.Stmt{{SQL: "CREATE TABLE t(name TEXT NOT NULL UNIQUE)"}}}}); err != nil {
		t.Fatal(err)
	}
	h.deaf, h.log = false, nil
	return s, h
}

func names(t *testing.T, s *local.Store) string {
	t.Helper()
	r, err := s.Apply(t.Context(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT group_concat(name) FROM (SELECT name FROM t ORDER BY rowid)"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(r[0].Rows[0][0][0].Bytes())
}

// TestFollower receives all writes in order, and the transactions that are rolled back.
func TestFollower(t *testing.T) {
	s, h := following(t)
	check := func(want ...string) {
		t.Helper()
		if !slices.Equal(h.log, want) {
			t.Errorf("heard %q, want %q", h.log, want)
		}
		h.log = nil
	}
	results, err := s.Apply(t.Context(), []store.Batch{insert(1, "a"), {ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT 1"}}}, insert(2, "b"), insert(3, "b")})
	if err != nil || results[3].Refused == nil {
		t.Fatal(results, err)
	}
	check("1 [1]", "2 [1]", "committed: true")
	// The last batch is refused after it has changed something, so all run again.
	half := insert(5, "d")
	half.Stmts = append(half.Stmts, insert(5, "d").Stmts...)
	if results, err = s.Apply(t.Context(), []store.Batch{insert(4, "c"), half}); err != nil || results[1].Refused == nil {
		t.Fatal(results, err)
	}
	check("4 [1]", "committed: false", "4 [1]", "committed: true")
	if err := s.Transact(t.Context(), false, func(run func(store.Batch) (store.Result, error)) error {
		_, err := run(insert(6, "e"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	check("committed: true") // a function calls the follower itself
	h.after = func(run func(store.Batch) (store.Result, error)) error {
		h.after = nil
		_, err := run(insert(8, "with"))
		return err
	}
	if _, err := s.Apply(t.Context(), []store.Batch{insert(7, "f"), insert(9, "g")}); err != nil {
		t.Fatal(err)
	}
	check("7 [1]", "9 [1]", "committed: true")
	if got, want := names(t, s), "a,b,c,e,f,with,g"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
}

// TestJobError drops the work that fails for another client, and runs the transaction without it.
func TestJobError(t *testing.T) {
	s, h := following(t)
	broken := errors.New("it does not work")
	dropped := 0
	h.after = func(run func(store.Batch) (store.Result, error)) error {
		if dropped > 1 {
			return nil
		}
		if _, err := run(insert(nil, "astray")); err != nil {
			return err
		}
		return &store.JobError{Err: broken, Drop: func(err error) {
			if !errors.Is(err, broken) {
				t.Errorf("it is dropped for %v", err)
			}
			dropped++
		}}
	}
	if results, err := s.Apply(t.Context(), []store.Batch{insert(1, "a"), insert(2, "b")}); err != nil || len(results) != 2 {
		t.Fatal(results, err)
	}
	if want := []string{"1 [1]", "committed: false", "1 [1]", "committed: false", "1 [1]", "2 [1]", "committed: true"}; !slices.Equal(h.log, want) {
		t.Errorf("heard %q, want %q", h.log, want)
	}
	if got := names(t, s); got != "a,b" || dropped != 2 {
		t.Errorf("there is %s, and %d were dropped", got, dropped)
	}
}
