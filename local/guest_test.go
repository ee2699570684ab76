package local_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

func guest(reads bool, sql ...string) store.Batch {
	b := store.Batch{Guest: true, ReadOnly: reads}
	for _, s := range sql {
		b.Stmts = append(b.Stmts, store.Stmt{SQL: s})
	}
	return b
}

// TestGuestsStayIn refuses guest statements that leave the file's tables, whatever ran on the connection
// before, and runs the other batches.
func TestGuestsStayIn(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{})
	c := storetest.NewClient(t, engine.New(s))
	c.Want("SET cat tom", "OK")
	const count = `UPDATE keys SET version = version + 1`
	for name, sql := range map[string]string{
		"attach": "ATTACH ':memory:' AS x", "detach": "DETACH x", "vacuum": "VACUUM", "vacuum into": "VACUUM INTO '/nowhere/x'",
		"pragma": "PRAGMA journal_mode = DELETE", "reading pragma": "PRAGMA user_version", "pragma as a table": "SELECT * FROM pragma_database_list",
		"count of a pragma": "SELECT count(*) FROM PRAGMA_database_list", "begin": "BEGIN", "commit": "COMMIT", "rollback": "ROLLBACK",
		"savepoint": "SAVEPOINT command", "release": "RELEASE command", "rollback to": "ROLLBACK TO command",
		"create": "CREATE TABLE x(y)", "temp": "CREATE TEMP TABLE x(y)", "index": "CREATE INDEX x ON keys(type)", "view": "CREATE VIEW x AS SELECT 1",
		"trigger": "CREATE TRIGGER x AFTER DELETE ON keys BEGIN SELECT 1; END", "virtual": "CREATE VIRTUAL TABLE x USING fts5(y)",
		"drop": "DROP TABLE keys", "alter": "ALTER TABLE keys ADD COLUMN x", "reindex": "REINDEX", "analyze": "ANALYZE", "schema": "DELETE FROM sqlite_master",
		"schema after a pragma": "UPDATE sqlite_schema SET sql = sql", "pages": "UPDATE sqlite_dbpage SET data = data", "reading pages": "SELECT data FROM sqlite_dbpage",
		"two": "SELECT 1; DROP TABLE keys", "nothing": "-- a comment", "no SQL": "SELEC 1", "no table": "SELECT * FROM nowhere", "overflow": "SELECT abs(-9223372036854775808)",
		"missing arg": "SELECT ?1", "extension": "SELECT load_extension('x')", "explain of a pragma": "EXPLAIN PRAGMA user_version", "too big": "SELECT zeroblob(2000000000)",
	} {
		for _, reads := range []bool{false, true} {
			good := guest(reads, `SELECT count(*) FROM keys`)
			if !reads {
				good = guest(reads, count)
			}
			results, err := s.Apply(context.Background(), []store.Batch{good, guest(reads, good.Stmts[0].SQL, sql), good})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if r := results[1].Refused; r == nil || !r.BadStatement || r.At != 1 {
				t.Errorf("%s: it ran, or was refused as %+v", name, r)
			}
			for _, i := range []int{0, 2} {
				if results[i].Refused != nil {
					t.Errorf("%s: the batch beside it: %s", name, results[i].Refused.Reason)
				}
			}
		}
	}
	if r, err := s.Apply(context.Background(), []store.Batch{guest(true, count)}); err != nil || r[0].Refused == nil || !r[0].Refused.BadStatement {
		t.Errorf("a write in a batch that reads: %+v, %v", r, err)
	}
	c.Want("GET cat", `"tom"`)
	storetest.Check(t, s)
}

// TestPragmasOfGuests refuses a pragma before it takes effect; some take effect while they are compiled.
func TestPragmasOfGuests(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{})
	c := storetest.NewClient(t, engine.New(s))
	for range 2 {
		r, err := s.Apply(context.Background(), []store.Batch{guest(false, "PRAGMA query_only = 1")})
		if err != nil || r[0].Refused == nil {
			t.Errorf("it ran: %+v, %v", r, err)
		}
		c.Want("SET cat tom", "OK")
	}
}

// TestGuestCannotUndoOthers tries to end the transaction that a guest shares with other clients.
func TestGuestCannotUndoOthers(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{})
	c := storetest.NewClient(t, engine.New(s))
	c.Want("SET cat tom", "OK")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c := storetest.NewClient(t, engine.New(s))
			for range 50 {
				c.Do("INCR n")
			}
		})
		all.Go(func() {
			for range 20 {
				_, err := s.Apply(context.Background(), []store.Batch{guest(false, `INSERT OR ROLLBACK INTO guard VALUES(NULL)`)})
				if err == nil || !strings.Contains(err.Error(), "roll") {
					t.Errorf("it ended with %v", err)
				}
			}
		})
	}
	all.Wait()
	c.Want("GET n", `"400"`)
}

// TestGuestsKeepServersRight: a guest's write drops cached rows and wakes blocked clients.
func TestGuestsKeepServersRight(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{})
	e := engine.New(s)
	c := storetest.NewClient(t, e)
	c.Want("SET cat tom", "OK")
	for range 3 { // so that it is cached
		c.Want("GET cat", `"tom"`)
	}
	told := make(chan []engine.Change, 100)
	defer e.Listen(func(all []engine.Change) { told <- all })()
	for _, value := range []string{"kitty", "felix"} {
		_, err := s.Apply(context.Background(), []store.Batch{{Guest: true, Stmts: []store.Stmt{
			{SQL: `UPDATE keys SET value = ?1 WHERE key = ?2`, Args: []store.Value{store.Bytes([]byte(value)), store.Bytes([]byte("cat"))}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		c.Want("GET cat", `"`+value+`"`)
		if all := <-told; len(all) != 1 || all[0].Keys != nil {
			t.Errorf("it is told as %+v", all)
		}
	}
}

// TestColumns returns the column names of a guest's statement.
func TestColumns(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{})
	names, err := s.Columns(`SELECT key, type AS kind, 1 FROM keys`)
	if got := strings.Join(names, " "); err != nil || got != "key kind 1" {
		t.Errorf("they are %s, %v", got, err)
	}
	if names, err := s.Columns(`PRAGMA user_version`); err == nil {
		t.Errorf("a pragma has %v", names)
	}
}
