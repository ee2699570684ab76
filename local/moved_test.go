package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/internal/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// TestMoved acknowledges no write to a file that is no longer under its name.
func TestMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // where a file that is open stays
	}
	for what, take := range map[string]func(path string) error{
		"deleted": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		},
	} {
		path := filepath.Join(t.TempDir(), "t.sqlite")
		s := open(t, path, local.Options{Lanes: true})
		e := storetest.NewEngine(s, storetest.NewClock())
		c := storetest.NewClient(t, e)
		c.Want("SET k v", "OK")
		c.Want("GET k", `"v"`)
		if err := s.Moved(); err != nil {
			t.Errorf("not yet %s: %v", what, err)
		}
		if err := take(path); err != nil {
			t.Fatal(err)
		}
		for _, command := range [][][]byte{{[]byte("DEL"), []byte("k")}, {[]byte("INCRBYFLOAT"), []byte("n"), []byte("1")}} {
			if v, err := e.Session().Do(context.Background(), command...); !errors.Is(err, local.ErrMoved) {
				t.Errorf("%s, %s: %v, %v", what, command[0], v, err)
			}
		}
		if err := s.Moved(); !errors.Is(err, local.ErrMoved) {
			t.Errorf("%s: %v", what, err)
		}
		readTogether(t, s, 4)
		if what == "moved" {
			if err := os.Rename(path+".old", path); err != nil {
				t.Fatal(err)
			}
			c.Want("SET k w", "OK")
		}
	}
}

// readTogether holds n reads of k open at once.
func readTogether(t *testing.T, s *local.Store, n int) {
	t.Helper()
	var all, running sync.WaitGroup
	all.Add(n)
	for range n {
		running.Go(func() {
			inside := sync.OnceFunc(func() { all.Done(); all.Wait() })
			defer inside()
			err := s.Transact(context.Background(), true, func(run func(store.Batch) (store.Result, error)) error {
				r, err := run(store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT value FROM keys LIMIT 1`}}})
				if err == nil && len(r.Rows[0]) != 1 {
					t.Errorf("got %v", r.Rows)
				}
				inside()
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
}
