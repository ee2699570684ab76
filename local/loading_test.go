package local_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// hashIndexes counts the hash indexes of a file.
func hashIndexes(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'keys_by_hash'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// load opens a file for a load, and creates a hundred keys.
func load(t *testing.T, path string) (*local.Store, *storetest.Client) {
	t.Helper()
	s := open(t, path, local.Options{SingleConn: true, BulkLoad: true})
	c := storetest.NewClient(t, engine.New(s))
	for i := range 100 {
		c.Want(fmt.Sprintf("SET k%d v", i), "OK")
	}
	return s, c
}

// TestLoad: only a file without keys drops the hash index, until a statement needs it or the store closes.
func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sqlite")
	s, _ := load(t, path)
	if n := hashIndexes(t, path); n != 0 {
		t.Error("a load keeps the index up to date")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, c := load(t, path)
	if n := hashIndexes(t, path); n != 1 {
		t.Error("a file with keys has no index")
	}
	storetest.Check(t, s)
	c.Want("DBSIZE", "(integer) 100")

	path = filepath.Join(t.TempDir(), "t.sqlite")
	s, c = load(t, path)
	if reply := c.Do("SCAN 0 COUNT 1000"); strings.Count(reply, "\"k") != 100 {
		t.Errorf("SCAN finds %s", reply)
	}
	if n := hashIndexes(t, path); n != 1 {
		t.Error("SCAN goes through the keys without the index")
	}
	storetest.Check(t, s)
}

// TestLeftLoad closes a load without building its index; the next process builds it.
func TestLeftLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sqlite")
	s, _ := load(t, path)
	s.EndBulkLoad()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := hashIndexes(t, path); n != 0 {
		t.Error("the index was made")
	}
	open(t, path, local.Options{})
	if n := hashIndexes(t, path); n != 1 {
		t.Error("the next process did not make the index")
	}
}

// TestKilledLoad builds the index of a killed load.
func TestKilledLoad(t *testing.T) {
	for name, mend := range map[string]func(path string){
		"by who opens the file": func(path string) { open(t, path, local.Options{}) },
		"by what needs it": func(path string) {
			c := storetest.NewClient(t, engine.New(open(t, path, local.Options{SingleConn: true, SweepEvery: -1})))
			c.Want("GET k1", `"v"`)
			if n := hashIndexes(t, path); n != 0 {
				t.Error("a GET makes the index")
			}
			if reply := c.Do("SCAN 0 COUNT 1000"); strings.Count(reply, "\"k") != 100 {
				t.Errorf("SCAN finds %s", reply)
			}
		},
		"by the sweep of who has it open": func(path string) {
			s := open(t, path, local.Options{})
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("DROP INDEX keys_by_hash"); err != nil {
				t.Fatal(err)
			}
			s.SweepAll()
			storetest.Check(t, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.sqlite")
			load(t, path)
			mend(path)
			if n := hashIndexes(t, path); n != 1 {
				t.Error("the index is missing")
			}
		})
	}
}

// TestImmutableReaderAfterKilledLoad: an ImmutableReader opens the file normally for a statement that needs the index, and
// for nothing else.
func TestImmutableReaderAfterKilledLoad(t *testing.T) {
	path, glance := immutableFixture(t)
	otherProcess(t, path, "DROP INDEX keys_by_hash;")
	for i, want := range []int{1, 0} {
		g, opened := glance(path)
		c := storetest.NewClient(t, engine.New(g))
		c.Want("GET k", `"v"`)
		if *opened != 0 {
			t.Error("a GET opens the file")
		}
		c.Want("RANDOMKEY", `"k"`)
		if *opened != want {
			t.Errorf("RANDOMKEY %d opens the file %d times, not %d", i+1, *opened, want)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if n := hashIndexes(t, path); n != 1 {
			t.Error("the index is missing")
		}
	}
}

// writeBeside begins a write transaction and returns a function that ends it.
func writeBeside(t *testing.T, path string) (end func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("UPDATE keys SET version = version"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// TestLoadThatEndsBesideAWriter closes a load while another process writes, and leaves the index to the next
// process.
func TestLoadThatEndsBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sqlite")
	s := open(t, path, local.Options{SingleConn: true, BulkLoad: true, BusyTimeout: time.Millisecond})
	storetest.NewClient(t, engine.New(s)).Want("SET k v", "OK")
	end := writeBeside(t, path)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	end()
	if n := hashIndexes(t, path); n != 0 {
		t.Error("the index was made beside a writer")
	}
	storetest.Check(t, open(t, path, local.Options{}))
}

// TestKilledLoadBesideAWriter: opening the file does not wait for another process.
func TestKilledLoadBesideAWriter(t *testing.T) {
	for name, o := range map[string]local.Options{"alone": {SingleConn: true, SweepEvery: -1}, "serving": {SweepEvery: -1}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.sqlite")
			load(t, path)
			end := writeBeside(t, path)
			c := storetest.NewClient(t, engine.New(open(t, path, o)))
			c.Want("GET k1", `"v"`)
			if reply := c.Do("SCAN 0 COUNT 1000"); strings.Count(reply, "\"k") != 100 {
				t.Errorf("SCAN finds %s", reply)
			}
			end()
		})
	}
}

// TestSweepInNoTime: with a time limit that no command meets, a sweep fails and changes nothing else.
func TestSweepInNoTime(t *testing.T) {
	var reported error
	s := open(t, filepath.Join(t.TempDir(), "t.sqlite"), local.Options{SweepEvery: -1, Report: func(err error) { reported = err }})
	s.SetTimeLimit(1)
	s.SweepAll()
	if late := new(store.TooLong); !errors.As(reported, &late) {
		t.Errorf("the sweep reports %v", reported)
	}
}

// TestMostlyNew: after many new keys, SET still replaces existing keys.
func TestMostlyNew(t *testing.T) {
	clock := storetest.NewClock()
	s := open(t, filepath.Join(t.TempDir(), "t.sqlite"), local.Options{Now: clock.Now})
	c := storetest.NewClient(t, storetest.NewEngine(s, clock))
	c.Want("RPUSH list a b", "(integer) 2")
	c.Want("SET live old EX 100", "OK")
	c.Want("SET dead old PX 1", "OK")
	clock.Advance(1)
	for i := range 70 {
		c.Want(fmt.Sprintf("SET new%d v", i), "OK")
		if i%20 < 10 {
			continue
		}
		for _, key := range []string{"list", "live", "dead"} {
			c.Want(fmt.Sprintf("SET %s %d", key, i), "OK")
			c.Want("GET "+key, fmt.Sprintf("\"%d\"", i))
			c.Want("TTL "+key, "(integer) -1")
		}
	}
	c.Want("DBSIZE", "(integer) 73")
	storetest.Check(t, s)
}
