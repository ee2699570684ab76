package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

// TestLogDeleted deletes the WAL of an open file. After the next write, a crash would leave a file with the
// earlier writes, that write, and all later ones.
func TestLogDeleted(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // an open file cannot be removed
	}
	for what, o := range map[string]local.Options{"readers": {}, "lanes": {IsolateSlowReads: true}, "alone": {SingleConn: true}} {
		path := filepath.Join(t.TempDir(), "t.sqlite")
		reported := 0
		o.Report = func(error) { reported++ }
		s := open(t, path, o)
		c := storetest.NewClient(t, engine.New(s))
		c.Want("SET before 1", "OK")
		c.Want("GET before", `"1"`)
		if _, err := s.DataVersion(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the new WAL, too
			if err := os.Remove(path + "-wal"); err != nil {
				t.Fatal(err)
			}
			if err := s.Moved(); !errors.Is(err, local.ErrWALGone) {
				t.Errorf("%s: deleted: %v", what, err)
			}
			c.Do("INCR n")
			c.Want("GET before", `"1"`)
			if err := s.Moved(); err != nil {
				t.Errorf("%s: mended: %v", what, err)
			}
		}
		c.Want("SET after 2", "OK")
		crashed := storetest.NewClient(t, engine.New(open(t, crash(t, path), local.Options{})))
		crashed.Want("GET before", `"1"`)
		crashed.Want("GET n", `"2"`)
		crashed.Want("GET after", `"2"`)
		if reported != 2 {
			t.Errorf("%s: it was reported %d times", what, reported)
		}
		if what == "lanes" {
			readTogether(t, s, 4)
		}
		checkFile(t, s)
	}
}

// crash copies the file and its WAL, as the end of the process would leave them.
func crash(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "crashed.sqlite")
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+end, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestLogReplaced: no write is acknowledged if another WAL has the name, or if another process still has the
// old one, since neither may be overwritten.
func TestLogReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	for what, other := range map[string]bool{"replaced": false, "in use elsewhere": true} {
		path := filepath.Join(t.TempDir(), "t.sqlite")
		s := open(t, path, local.Options{})
		e := engine.New(s)
		storetest.NewClient(t, e).Want("SET k v", "OK")
		var elsewhere *local.Store
		if other {
			elsewhere = open(t, path, local.Options{})
			storetest.NewClient(t, engine.New(elsewhere)).Want("GET k", `"v"`)
		}
		if err := os.Remove(path + "-wal"); err != nil {
			t.Fatal(err)
		}
		if !other {
			if err := os.WriteFile(path+"-wal", []byte("another log"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		v, err := e.Session().Do(t.Context(), []byte("SET"), []byte("k"), []byte("w"))
		if !errors.Is(err, local.ErrWALGone) {
			t.Errorf("%s: %v, %v", what, v, err)
		}
		if log, _ := os.ReadFile(path + "-wal"); !other && !strings.HasPrefix(string(log), "another log") {
			t.Errorf("%s: the other log was changed", what)
		}
		if other {
			if err := elsewhere.Close(); err != nil {
				t.Fatal(err)
			}
			storetest.NewClient(t, e).Want("SET k w", "OK")
			storetest.NewClient(t, engine.New(open(t, crash(t, path), local.Options{}))).Want("GET k", `"w"`)
		} else if err := os.Remove(path + "-wal"); err != nil {
			t.Fatal(err)
		}
	}
}
