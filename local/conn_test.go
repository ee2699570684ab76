package local

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/store"
)

// TestPlansAreKept binds new values to a LIMIT and to a range: by default, each would make SQLite plan the
// statement again.
func TestPlansAreKept(t *testing.T) {
	c, err := openConn(Memory, makeIfNew)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.script("CREATE TABLE t(a INTEGER PRIMARY KEY, b)"); err != nil {
		t.Fatal(err)
	}
	const sql = "SELECT a FROM t WHERE a > ?1 AND b IN (SELECT b FROM t ORDER BY b LIMIT ?2) LIMIT ?3"
	for i := range int64(3) {
		args := []store.Value{store.Int(i), store.Int(i), store.Int(i)}
		if _, _, err := c.run(store.Stmt{SQL: sql, Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	if n := sqlite3.Xsqlite3_stmt_status(c.tls, p.stmt, sqlite3.SQLITE_STMTSTATUS_REPREPARE, 0); n > 0 {
		t.Errorf("planned %d times more", n)
	}
}

// TestLongStatements: the cached statements do not exceed the limit on their text, except for the last one.
func TestLongStatements(t *testing.T) {
	c, err := openConn(Memory, makeIfNew)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for i := range 20 {
		sql := fmt.Sprintf("SELECT %d -- %s", i, strings.Repeat("x", 900_000))
		if _, _, err := c.run(store.Stmt{SQL: sql}); err != nil {
			t.Fatal(err)
		}
		kept := 0
		for text := range c.prepared {
			kept += len(text)
		}
		if c.prepared[sql] == nil || kept > maxPreparedText || kept != c.preparedText {
			t.Fatalf("after %d statements %d bytes are kept, %d counted", i+1, kept, c.preparedText)
		}
	}
}

// TestStatementThatIsUndone changes more pages in one statement than SQLite keeps in memory for undoing it,
// once until the statement ends and once until it fails.
func TestStatementThatIsUndone(t *testing.T) {
	race.Skip(t)
	c, err := openConn(filepath.Join(t.TempDir(), "file"), makeIfNew)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	const rows = 3000 // a page each
	for _, sql := range []string{
		"CREATE TABLE t(a INTEGER PRIMARY KEY, b CHECK (b <> 1003000), c)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t SELECT i, i, zeroblob(3000) FROM n",
		"BEGIN",
		"UPDATE t SET b = b + 1000",
		"UPDATE t SET b = b + 1000",
		"UPDATE t SET b = b - 1000",
	} {
		if err := c.script(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if err := c.script("UPDATE t SET b = b + 999000"); err == nil {
		t.Fatal("the check let it pass")
	}
	if err := c.script("COMMIT"); err != nil {
		t.Fatal(err)
	}
	sum, _, err := c.run(store.Stmt{SQL: "SELECT sum(b) FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sum[0][0].Int(), int64(rows*(rows+1)/2+rows*1000); got != want {
		t.Errorf("the sum is %d, want %d", got, want)
	}
}
