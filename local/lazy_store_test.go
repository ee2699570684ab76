package local_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

// late returns a LazyStore for a missing file.
func late(t *testing.T, path string) *local.LazyStore {
	t.Helper()
	s, err := local.NewLazyStore(path, func() (*local.Store, error) { return local.Open(path, local.Options{SingleConn: true}) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestLazyStore: the first write of any kind creates the file.
func TestLazyStore(t *testing.T) {
	for what, write := range map[string][]string{
		"a batch":       {"SET k v"},
		"steps":         {"INCRBYFLOAT k 1"},
		"a transaction": {"MULTI", "GET k", "SET k v", "EXEC"},
	} {
		path := filepath.Join(t.TempDir(), "t.sqlite")
		c := storetest.NewClient(t, engine.New(late(t, path)))
		for _, read := range []string{"GET k", "SCAN 0", "DBSIZE", "SORT_RO k", "WATCH k", "MULTI", "GET k", "EXEC", "PING", "SELECT 3", "SELECT 0"} {
			c.Do(read)
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%s made it: %v", read, err)
			}
		}
		for _, line := range write {
			if reply := c.Do(line); strings.HasPrefix(reply, "(error)") {
				t.Errorf("%s: %s", line, reply)
			}
		}
		c.Want("EXISTS k", "(integer) 1")
		if _, err := os.Stat(path); err != nil {
			t.Errorf("after %s: %v", what, err)
		}
	}
}

// TestLazyStoreMadeByAnother reads the writes of another process that has created the file. A transaction fails if
// that process changed a watched key.
func TestLazyStoreMadeByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sqlite")
	s := late(t, path)
	c := storetest.NewClient(t, engine.New(s))
	c.Want("GET k", "(nil)")
	c.Want("WATCH k", "OK")
	other := storetest.NewClient(t, engine.New(open(t, path, local.Options{})))
	other.Want("SET k theirs", "OK")
	c.Want("GET k", `"theirs"`)
	c.Want("MULTI", "OK")
	c.Want("SET k ours", "QUEUED")
	c.Want("EXEC", "(nil)")
	c.Want("SET k ours", "OK")
	other.Want("GET k", `"ours"`)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Apply(context.Background(), nil); err == nil {
		t.Error("it runs after it was closed")
	}
}

// TestLazyStoreCannotBeMade: each write fails, and reads continue.
func TestLazyStoreCannotBeMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	s := late(t, filepath.Join(dir, "t.sqlite"))
	e := engine.New(s)
	for range 2 {
		if v, err := e.Session().Do(context.Background(), []byte("SET"), []byte("k"), []byte("v")); err == nil {
			t.Errorf("written: %v", v)
		}
		storetest.NewClient(t, e).Want("GET k", "(nil)")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	storetest.NewClient(t, e).Want("SET k v", "OK")
}
