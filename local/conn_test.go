package local

import (
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

// TestPlansAreKept binds new values to a LIMIT and to a range: each makes SQLite plan the
// statement again unless it is told not to.
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
