package local_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// lockFile begins to write to a file as another process would, until the caller calls free.
func lockFile(t *testing.T, path string) (free func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(t.Context())
	if err == nil {
		_, err = c.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if err := errors.Join(c.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestWaitingTogether has far more writers waiting for another process than one commit takes: all fail after
// about one busy timeout, and a write after the lock is released succeeds.
func TestWaitingTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sqlite")
	const patience = 300 * time.Millisecond
	s := open(t, path, local.Options{BusyTimeout: patience})
	c := storetest.NewClient(t, engine.New(s))
	c.Want("SET k v", "OK")
	free := lockFile(t, path)
	defer free()
	began := time.Now()
	var waiting sync.WaitGroup
	for range 100 {
		waiting.Go(func() {
			for range 3 {
				_, err := engine.New(s).Session().Do(context.Background(), []byte("SET"), []byte("k"), []byte("w"))
				if !local.IsBusy(err) || !strings.Contains(err.Error(), "300ms") {
					t.Errorf("while another process writes: %v", err)
				}
			}
		})
	}
	c.Want("GET k", `"v"`)
	waiting.Wait()
	if took := time.Since(began); took < 3*patience || took >= 300*patience { // one after the other takes 300
		t.Errorf("three times a patience of %v took %v for all", patience, took)
	}
	free()
	c.Want("SET k w", "OK")
}

var endlessWrite = store.Batch{Stmts: []store.Stmt{
	{SQL: `INSERT INTO guard WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT n.i FROM n, n AS m`},
}}

// TestAbandon aborts running and waiting reads and writes, so that the store closes, and counts them.
func TestAbandon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sqlite")
	for _, locked := range []bool{true, false} {
		s := open(t, path, local.Options{IsolateSlowReads: true})
		c := storetest.NewClient(t, engine.New(s))
		c.Want("SET k v", "OK")
		free := func() {}
		if locked {
			free = lockFile(t, path)
		}
		var begun, running sync.WaitGroup
		const each = 10
		begun.Add(2 * each)
		for range each {
			running.Go(func() {
				begun.Done()
				if _, err := s.Apply(context.Background(), []store.Batch{endlessWrite}); err == nil {
					t.Error("a write without an end was carried out")
				}
			})
			running.Go(func() {
				begun.Done()
				err := s.Transact(context.Background(), true, func(run func(store.Batch) (store.Result, error)) error {
					_, err := run(store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: endless}}})
					return err
				})
				if err == nil {
					t.Error("a read without an end was carried out")
				}
			})
		}
		begun.Wait()
		time.Sleep(200 * time.Millisecond)
		s.Abandon()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		running.Wait()
		free()
		if n := s.Abandoned(); n < 2 || n > 2*each {
			t.Errorf("%d calls were abandoned, want some of %d", n, 2*each)
		}
		again := open(t, path, local.Options{})
		storetest.NewClient(t, engine.New(again)).Want("GET k", `"v"`)
		checkFile(t, again)
	}
}

// TestTimeLimit: a batch that takes too long fails without a trace; the rest of its pipeline and other clients
// succeed.
func TestTimeLimit(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{IsolateSlowReads: true})
	s.SetTimeLimit(100 * time.Millisecond)
	s.LimitSteps()
	number := func(n int64) store.Batch {
		return store.Batch{Stmts: []store.Stmt{{SQL: `INSERT INTO guard VALUES(?1)`, Args: []store.Value{store.Int(n)}}}}
	}
	read := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: endless}}}
	count := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT group_concat(ok) FROM (SELECT ok FROM guard ORDER BY ok)`}}}

	results, err := s.Apply(t.Context(), []store.Batch{number(1), endlessWrite, number(2), read, endlessWrite, number(3)})
	if err != nil {
		t.Fatal(err)
	}
	for i, late := range []bool{false, true, false, true, true, false} {
		r := results[i].Refused
		if late != (r != nil && r.TooLong != nil && r.TooLong.Limit == 100*time.Millisecond) {
			t.Errorf("batch %d: %+v", i, r)
		}
	}
	results, err = s.Apply(t.Context(), []store.Batch{count, read, count})
	if err != nil || results[1].Refused == nil || results[0].Refused != nil || string(results[2].Rows[0][0][0].Bytes()) != "1,2,3" {
		t.Errorf("reads: %+v, %v", results, err)
	}
	for _, readOnly := range []bool{true, false} {
		err := s.Transact(t.Context(), readOnly, func(run func(store.Batch) (store.Result, error)) error {
			_, err := run(read)
			return err
		})
		var late *store.TooLong
		if !errors.As(err, &late) {
			t.Errorf("a transaction: %v", err)
		}
	}
	// guard is empty in an undamaged file.
	s.SetTimeLimit(0)
	if _, err := s.Apply(t.Context(), []store.Batch{{Stmts: []store.Stmt{{SQL: `DELETE FROM guard`}}}}); err != nil {
		t.Fatal(err)
	}
	checkFile(t, s)
}
