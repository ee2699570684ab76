package local_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store/schema"
)

// beforeParts is the last schema version with a long string in one row.
const beforeParts = 6

// TestLongStringsOfOlderFiles splits the strings of an older file into parts.
func TestLongStringsOfOlderFiles(t *testing.T) {
	race.Skip(t)
	path := filepath.Join(t.TempDir(), "old.sqlite")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.Exec(statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for v := 1; v <= beforeParts; v++ {
		for _, statement := range schema.Migrations[v-1] {
			exec(statement)
		}
		exec(schema.SetVersion, v, 0)
	}
	exec(fmt.Sprintf("PRAGMA application_id = %d", schema.ApplicationID))
	values := map[string][]byte{}
	random := rand.New(rand.NewPCG(1, 1))
	for id, size := range []int{0, 5, schema.WholeString - 1, schema.WholeString, schema.WholeString + 1, 5 * schema.StringPart, 250_001} {
		key, value := fmt.Sprint(size), make([]byte, size)
		for i := range value {
			value[i] = byte(random.IntN(256))
		}
		values[key] = value
		exec(`INSERT INTO keys(id, db, key, hash, type, version, created_at, updated_at) VALUES(?, 0, ?, 0, 'string', 1, 0, 0)`, id+1, []byte(key))
		exec(`INSERT INTO strings(key_id, value) VALUES(?, ?)`, id+1, value)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	s, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := storetest.NewEngine(s, storetest.NewClock())
	c := storetest.NewClient(t, e)
	for key, want := range values {
		got, err := e.Session().Do(t.Context(), []byte("GET"), []byte(key))
		if err != nil || !bytes.Equal(got.Str, want) {
			t.Errorf("the string of %s bytes has %d, or others: %v", key, len(got.Str), err)
		}
		if n := len(want); n > 0 {
			c.Want(fmt.Sprintf("SETBIT %s %d 1", key, 8*n), "(integer) 0")
		}
	}
	c.Want("STRLEN 250001", "(integer) 250002")
	c.Want("STRLEN 5", "(integer) 6")
}
