package local

import (
	"context"
	"testing"
	"time"

	"github.com/meowdis/meowdis/store"
)

// begunAnew writes without a pause until the WAL has restarted the given number of times.
func begunAnew(t *testing.T, s *Store, times int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for last := s.checkpoints.written.Load(); times > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("the log has %d pages, and does not begin anew", last)
		}
		if _, err := s.Apply(context.Background(), []store.Batch{insert(1)}); err != nil {
			t.Fatal(err)
		}
		now := s.checkpoints.written.Load()
		if now < last {
			times--
		}
		last = now
	}
}

// TestCheckpoints copies the WAL back while writes continue. An open read still finds its frames.
func TestCheckpoints(t *testing.T) {
	s, err := Open(t.TempDir()+"/db.sqlite", Options{SweepEvery: -1, Report: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const pages = 20
	s.checkpoints.pages = pages
	s.checkpoints.next.Store(pages)
	begunAnew(t, s, 3)

	count := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT count(*) FROM guard"}}}
	err = s.Transact(context.Background(), true, func(run func(store.Batch) (store.Result, error)) error {
		before, err := run(count)
		if err != nil {
			return err
		}
		for s.checkpoints.written.Load() < 10*pages {
			if _, err := s.Apply(context.Background(), []store.Batch{insert(1)}); err != nil {
				return err
			}
		}
		if whole, err := s.checkpoint(); whole || err != nil {
			t.Errorf("beside a read: %v, %v", whole, err)
		}
		after, err := run(count)
		if a, b := before.Rows[0][0][0].Int(), after.Rows[0][0][0].Int(); a != b {
			t.Errorf("the read saw %d rows, then %d", a, b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	begunAnew(t, s, 1)
}

// TestApplyGroupIsBrief: while another goroutine writes, a brief write is given up, and no other write.
func TestApplyGroupIsBrief(t *testing.T) {
	s, err := Open(t.TempDir()+"/db.sqlite", Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	parts := []*store.Part{{Batches: []store.Batch{insert(1)}, FailIfSlow: true}, {Batches: []store.Batch{insert(1)}}}
	done := make(chan int, len(parts))
	s.writing.Lock()
	began := s.ApplyGroup(parts, func(i int) { done <- i })
	if i := <-done; began != 2 || i != 0 || parts[0].Err != store.ErrLong {
		t.Errorf("%d have begun, and %d ended with %v", began, i, parts[i].Err)
	}
	s.writing.Unlock()
	if i := <-done; i != 1 || parts[1].Err != nil {
		t.Errorf("%d ended with %v", i, parts[i].Err)
	}
	results, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT count(*) FROM guard"}}}})
	if err != nil || results[0].Rows[0][0][0].Int() != 1 {
		t.Errorf("%v rows, %v", results, err)
	}
}
