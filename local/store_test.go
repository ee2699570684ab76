package local_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // an independent way to read the files

	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store/schema"
)

// TestReopen finds earlier writes, in files with unusual names.
func TestReopen(t *testing.T) {
	for _, name := range []string{"plain.sqlite", "with space.db", "a?b=c&mode=ro#d.db", "100%25.db", "ümläut.db", "-", ":memory"} {
		path := filepath.Join(t.TempDir(), name)
		s := open(t, path, local.Options{})
		storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock())).Want("SET k v", "OK")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s = open(t, path, local.Options{SyncFull: true})
		storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock())).Want("GET k", `"v"`)
		if s.Path() != path {
			t.Errorf("the path is %s, want %s", s.Path(), path)
		}
		checkFile(t, s)
	}
}

// TestOpenRefuses: a file that cannot be opened is explained and stays unchanged.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
		return path
	}
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := script("foreign", "CREATE TABLE redka(x)")
	newer := script("newer", fmt.Sprintf("CREATE TABLE meowdis(version INTEGER); INSERT INTO meowdis VALUES(%d)", schema.Version+1))
	empty := script("empty", "PRAGMA user_version = 0")
	for _, test := range []struct {
		path    string
		options local.Options
		says    string
	}{
		{foreign, local.Options{}, "not a meowdis file"},
		{newer, local.Options{}, "newer"},
		{garbage, local.Options{}, "not a SQLite database"},
		{empty, local.Options{ReadOnly: true}, "it is empty"},
		{filepath.Join(dir, "missing"), local.Options{ReadOnly: true}, "no such file"},
		{filepath.Join(dir, "no", "directory"), local.Options{}, "does not exist: create it"},
		{dir, local.Options{}, "a directory"},
		{os.DevNull, local.Options{}, "not a regular file"},
	} {
		before, _ := os.ReadFile(test.path)
		s, err := local.Open(test.path, test.options)
		if err == nil {
			s.Close()
			t.Errorf("%s: it opened", test.path)
			continue
		}
		if !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), test.path) {
			t.Errorf("%s: %v; want %q in it", test.path, err, test.says)
		}
		if after, _ := os.ReadFile(test.path); string(after) != string(before) {
			t.Errorf("%s was changed", test.path)
		}
	}
	if _, err := local.Open(foreign, local.Options{}); !errors.Is(err, local.ErrForeign) {
		t.Errorf("a foreign file: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	writer := open(t, path, local.Options{})
	storetest.NewClient(t, storetest.NewEngine(writer, storetest.NewClock())).Want("SET k v", "OK")
	s := open(t, path, local.Options{ReadOnly: true})
	session := storetest.NewEngine(s, storetest.NewClock()).Session()
	v, err := session.Do(context.Background(), []byte("SET"), []byte("k"), []byte("w"))
	if err != nil || !strings.HasPrefix(string(v.Str), "READONLY ") {
		t.Errorf("it wrote: %v, %v", v, err)
	}
	storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock())).Want("GET k", `"v"`)
}

func TestClosed(t *testing.T) {
	s := open(t, local.Memory, local.Options{})
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Apply(context.Background(), nil); err == nil {
		t.Error("a closed store works")
	}
	if err := s.Transact(context.Background(), false, nil); err == nil {
		t.Error("a closed store holds a transaction")
	}
}
