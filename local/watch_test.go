package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// endless counts until it is interrupted.
const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`

func TestReadsEndWithTheirContext(t *testing.T) {
	s, err := local.Open(filepath.Join(t.TempDir(), "t.sqlite"), local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// Some end before the statement has begun.
	for i := range 40 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*50*time.Microsecond)
		_, err := s.Apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: endless}}}})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	}
	// The next use of the connection is not disturbed.
	r, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT 1`}}}})
	if err != nil || r[0].Rows[0][0][0].Int() != 1 {
		t.Errorf("got %v %v", r, err)
	}
}

func TestDataVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sqlite")
	for name, paths := range map[string][2]string{"own": {path, ""}, "other": {path, path}, "memory": {local.Memory, ""}} {
		t.Run(name, func(t *testing.T) {
			s := openVersioned(t, paths[0])
			writer := s
			if paths[1] != "" {
				writer = openVersioned(t, paths[1])
			}
			before := dataVersion(t, s)
			if again := dataVersion(t, s); again != before {
				t.Errorf("%d became %d without a change", before, again)
			}
			if _, err := engine.New(writer).Session().Do(context.Background(), []byte("SET"), []byte("k"), []byte(name)); err != nil {
				t.Fatal(err)
			}
			if dataVersion(t, s) == before {
				t.Error("a change was not seen")
			}
		})
	}
}

func openVersioned(t *testing.T, path string) *local.Store {
	s, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func dataVersion(t *testing.T, s *local.Store) int64 {
	v, err := s.DataVersion(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A store that has watched a file leaves nothing beside it.
func TestWatchedIsTidy(t *testing.T) {
	path := t.TempDir() + "/watched.sqlite"
	s, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DataVersion(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Changed(t.Context())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); err == nil {
			t.Errorf("%s is left", suffix)
		}
	}
}
