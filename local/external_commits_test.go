package local

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/meowdis/meowdis/store"
)

// openTwice opens a file as two processes do.
func openTwice(t *testing.T) (ours, other *Store) {
	path := filepath.Join(t.TempDir(), "db.sqlite")
	var stores [2]*Store
	for i := range stores {
		s, err := Open(path, Options{SweepEvery: -1, RowCacheBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		stores[i] = s
	}
	return stores[0], stores[1]
}

func write(t *testing.T, s *Store, n int64) {
	t.Helper()
	if _, err := s.Apply(t.Context(), []store.Batch{insert(n)}); err != nil {
		t.Fatal(err)
	}
}

// TestChangedFirstCall calls Changed for the first time while a transaction of the same store is open.
func TestChangedFirstCall(t *testing.T) {
	s, other := openTwice(t)
	err := s.Transact(t.Context(), false, func(run func(store.Batch) (store.Result, error)) error {
		s.Changed(t.Context())
		_, err := run(insert(1))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Changed(t.Context()) {
		t.Error("the store's own commit counts as another process's")
	}
	write(t, other, 2)
	if !s.Changed(t.Context()) {
		t.Error("another process's commit is not reported")
	}
}

// TestChangedAfterRollback restarts the WAL in a transaction that rolls back.
func TestChangedAfterRollback(t *testing.T) {
	s, _ := openTwice(t)
	write(t, s, 1)
	s.Changed(t.Context())
	if err := s.withWriter(func(c *conn) error {
		return c.script("PRAGMA wal_checkpoint(RESTART); PRAGMA cache_size = 10; PRAGMA cache_spill = 10")
	}); err != nil {
		t.Fatal(err)
	}
	before := s.externalCommits.index.read()
	rolledBack := errors.New("roll back")
	err := s.Transact(t.Context(), false, func(run func(store.Batch) (store.Result, error)) error {
		big := store.Stmt{SQL: `INSERT INTO guard VALUES(?1)`}
		for n := range int64(20_000) { // more pages than fit into the cache, so that SQLite writes them to the WAL
			big.Args = []store.Value{store.Int(n)}
			if _, err := run(store.Batch{Stmts: []store.Stmt{big}}); err != nil {
				return err
			}
		}
		return rolledBack
	})
	if !errors.Is(err, rolledBack) {
		t.Fatal(err)
	}
	if s.externalCommits.index.read() == before {
		t.Fatal("the WAL has not restarted: nothing is tested")
	}
	if s.Changed(t.Context()) {
		t.Error("a restarted WAL counts as another process's commit")
	}
}

// TestCommitAfterEmptyTransaction lets another process commit between the end of a transaction that wrote nothing
// and the checks after it. A slow machine may stop a process there.
func TestCommitAfterEmptyTransaction(t *testing.T) {
	s, other := openTwice(t)
	write(t, s, 1)
	s.Changed(t.Context())
	before := s.rowCache.state.Load()
	for _, own := range []uint32{0, 1} {
		s.rowCache.onBegin()
		s.externalCommits.onBegin()
		s.rowCache.onPreCommit()
		if own == 1 {
			if err := s.withWriter(func(c *conn) error { return c.script("INSERT INTO guard VALUES(2)") }); err != nil {
				t.Fatal(err)
			}
		}
		write(t, other, 3)
		s.rowCache.onPostCommit(own)
		s.externalCommits.onEnd(own)
		if s.rowCache.state.Load().generation == before.generation {
			t.Errorf("after %d commits of its own, the cache keeps rows from before another process's commit", own)
		}
		if !s.Changed(t.Context()) {
			t.Errorf("after %d commits of its own, another process's commit is not reported", own)
		}
		before = s.rowCache.state.Load()
	}
}
