package local_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// TestLongReadsLeaveRoom runs a short read while endless reads take all long connections and more of them wait.
// When the endless reads are interrupted, the waiting ones are, too.
func TestLongReadsLeaveRoom(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{IsolateSlowReads: true})
	c := storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock()))
	c.Want("SET k v", "OK")
	ctx, cancel := context.WithCancel(context.Background())
	read := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: endless}}}
	var running sync.WaitGroup
	for i := range 20 {
		running.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = s.Apply(ctx, []store.Batch{read})
			} else {
				err = s.Transact(ctx, true, func(run func(store.Batch) (store.Result, error)) error {
					_, err := run(read)
					return err
				})
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a read without an end: %v", err)
			}
		})
	}
	for range 200 {
		c.Want("GET k", `"v"`)
		c.Do("INCR n")
	}
	cancel()
	running.Wait()
	c.Want("GET k", `"v"`)
}

// TestLongReadsAreRead: every long read gets its rows, also if it waited and ran again.
func TestLongReadsAreRead(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{IsolateSlowReads: true})
	const rows = 150_000
	read := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{
		SQL:  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT count(*) FROM n`,
		Args: []store.Value{store.Int(rows)},
	}}}
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			r, err := s.Apply(context.Background(), []store.Batch{read, read})
			if err != nil || len(r) != 2 || r[1].Rows[0][0][0].Int() != rows {
				t.Errorf("a long read: %v, %v", r, err)
			}
		})
	}
	running.Wait()
}
