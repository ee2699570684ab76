package translator_test

import (
	"context"
	"testing"
	"time"

	"github.com/meowdis/meowdis/store/sweep"
)

// diesAt returns when the index ends, by the table.
func (c *client) diesAt(name string) int64 {
	c.t.Helper()
	rows := c.exec("SELECT dies_at FROM search_indexes WHERE name = CAST('" + name + "' AS BLOB)")
	if len(rows) == 0 {
		return 0
	}
	return rows[0][0].Int()
}

// extended waits until another goroutine lets the index live until a time.
func (c *client) extended(name string, until int64) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); c.diesAt(name) != until; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("the index ends at %d, not %d", c.diesAt(name), until)
		}
	}
}

func (c *client) sweep() {
	c.t.Helper()
	for {
		swept, err := sweep.Slice(context.Background(), c.store.Apply, c.now, 100)
		if err != nil {
			c.t.Fatal(err)
		}
		if swept.Rows == 0 && swept.Indexed == 0 {
			return
		}
	}
}

// redis.io/docs/latest/commands/ft.create: TEMPORARY ends an index that is neither searched nor added to.
func TestTemporaryIndex(t *testing.T) {
	c := newClient(t)
	began := c.now
	c.expect("FT.CREATE brief TEMPORARY 100 PREFIX 1 d: SCHEMA t TEXT", "+OK", "FT.CREATE stays PREFIX 1 d: SCHEMA t TEXT", "+OK", "FT.ALIASADD short brief", "+OK")
	c.sweep()
	if at, some, err := sweep.Due(context.Background(), c.store.Apply); at != began+100_000 || !some || err != nil {
		t.Errorf("the sweep is due at %d, not %d: %v", at, began+100_000, err)
	}
	c.now += 60_000
	c.show("FT.SEARCH brief red")
	c.extended("brief", began+160_000)
	c.show("FT.INFO brief") // does not count
	c.now += 60_000
	c.do("HSET", "d:1", "t", "red")
	c.sweep()
	if c.diesAt("brief") != began+220_000 {
		t.Error("a new document does not extend the index")
	}
	c.now += 1_000
	c.show("FT.SEARCH brief red") // too early to write again
	c.now += 20_000
	c.show("FT.AGGREGATE short red")
	c.extended("brief", began+241_000)
	c.now += 100_000
	missing := "-No such index brief"
	c.expect("FT.SEARCH brief red", missing, "FT._LIST", "~1 $5 stays", "FT.SEARCH short red", "-No such index short")
	c.sweep()
	c.expect("FT.SEARCH brief red", missing, "EXISTS d:1", ":1", "FT.SEARCH stays red NOCONTENT", c.show("FT.SEARCH stays red NOCONTENT")[:len(c.show("FT.SEARCH stays red NOCONTENT"))-1])
	if rows := c.exec("SELECT count(*) FROM search_postings WHERE index_id NOT IN (SELECT id FROM search_indexes)"); rows[0][0].Int() != 0 {
		t.Error("rows of the index are left")
	}
	c.expect("FT.CREATE brief TEMPORARY 1 SCHEMA t TEXT", "+OK")
	c.now += 1_000
	c.expect("FT.CREATE brief TEMPORARY 1 SCHEMA t TEXT", "+OK", "FT.CREATE brief TEMPORARY 1 SCHEMA t TEXT", "-Index already exists",
		"FT.CREATE other TEMPORARY x SCHEMA t TEXT", "-Bad arguments for TEMPORARY: Could not convert argument to expected type",
		"FT.CREATE other TEMPORARY -1 SCHEMA t TEXT", "-Bad arguments for TEMPORARY: Value is outside acceptable bounds")
}
