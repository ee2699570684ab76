package local_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// TestImmutableReaderHidesTriggers: an ImmutableReader sees all tables and indexes of a file, whatever its page size,
// and no trigger or view, except one on a page that has nothing else.
func TestImmutableReaderHidesTriggers(t *testing.T) {
	const kinds = "SELECT type || ' ' || count(*) FROM sqlite_schema WHERE type IN ('table', 'index') GROUP BY type"
	for _, size := range []int{512, 1024, 4096, 65536} {
		path, glance := immutableFixture(t)
		otherProcess(t, path, fmt.Sprintf("PRAGMA journal_mode = DELETE; PRAGMA page_size = %d; VACUUM; PRAGMA journal_mode = WAL;", size))
		want, err := exec.Command("sqlite3", path, kinds).Output()
		if err != nil {
			t.Fatal(err)
		}
		g, opened := glance(path)
		results, err := g.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{
			{SQL: kinds},
			{SQL: "SELECT count(*), (SELECT count(*) FROM pragma_page_size WHERE page_size = ?1) FROM sqlite_schema WHERE type IN ('trigger', 'view')", Args: []store.Value{store.Int(int64(size))}},
			{SQL: "SELECT value FROM keys"},
		}}})
		if err != nil || *opened > 0 {
			t.Fatalf("pages of %d bytes: %v, and it opened the file %d times", size, err, *opened)
		}
		got := ""
		for _, row := range results[0].Rows[0] {
			got += string(row[0].Bytes()) + "\n"
		}
		if got != string(want) || string(results[0].Rows[2][0][0].Bytes()) != "v" {
			t.Errorf("pages of %d bytes: %q, not %q", size, got, want)
		}
		left, sized := results[0].Rows[1][0][0].Int(), results[0].Rows[1][0][1].Int()
		if sized != 1 {
			t.Errorf("a page has not %d bytes", size)
		}
		if left > 5 && size >= 4096 {
			t.Errorf("pages of %d bytes: %d triggers and views are left", size, left)
		}
	}
}

// TestLeanPages: damaged pages do not panic.
func TestLeanPages(t *testing.T) {
	path, _ := immutableFixture(t)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 20_000 {
		page := file[:4096]
		if first := strings.Index(string(file), "CREATE TRIGGER"); n%2 == 0 {
			page = file[first&^4095:][:4096]
		}
		page = append(make([]byte, 100, 5000), page...)
		if n%2 == 1 {
			page = page[100:]
		}
		for range 1 + rng.IntN(8) {
			page[min(len(page)-1, 100+rng.IntN(1<<rng.IntN(12)))] = byte(rng.Uint32())
		}
		local.ReadLean(page)
	}
}
