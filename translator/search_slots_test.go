package translator_test

import (
	"context"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/store/sweep"
)

// TestSearchSlots drops indexes and creates others while the rows of the dropped ones remain: no two have the same slot,
// and the sweep deletes the documents of dropped indexes only.
func TestSearchSlots(t *testing.T) {
	c := newClient(t)
	find := func(index string) string {
		t.Helper()
		return c.show("FT.SEARCH " + index + " red NOCONTENT")
	}
	create := func(index string) {
		t.Helper()
		c.expect("FT.CREATE "+index+" PREFIX 1 d: SCHEMA t TEXT", "+OK")
		for range 3 { // keys of the first scan
			if _, err := sweep.Index(context.Background(), c.store.Apply, c.now, 2); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, key := range []string{"d:1", "d:2", "d:3"} {
		c.do("HSET", key, "t", "red")
	}
	create("a")
	create("b")
	want := find("a")
	for _, next := range []string{"c", "d", "e"} {
		c.expect("FT.DROPINDEX a", "+OK")
		create(next)
		c.expect("FT.DROPINDEX "+next, "+OK")
		create("a")
		if a, b := find("a"), find("b"); a != want || b != want {
			t.Fatalf("a finds %s, and b %s, not %s", a, b, want)
		}
	}
	if rows := c.exec(`SELECT 1 FROM (SELECT slot FROM search_indexes UNION ALL SELECT slot FROM search_dropped) GROUP BY slot HAVING count(*) > 1`); len(rows) > 0 {
		t.Errorf("%d slots have two indexes", len(rows))
	}
	c.sweep()
	if found := c.checkIndexes(); found != nil {
		t.Error(found)
	}
	if n := c.exec(`SELECT count(*) FROM search_documents`)[0][0].Int(); n != 6 {
		t.Errorf("%d documents are left, not those of two indexes", n)
	}
	c.do("RENAME", "d:2", "d:4")
	c.sweep()
	var names []string
	for _, row := range c.exec(`SELECT d.key FROM search_documents d JOIN search_indexes i ON i.id = d.index_id AND i.slot = d.id >> 40 WHERE i.name = x'61' ORDER BY d.key`) {
		names = append(names, string(row[0].Bytes()))
	}
	if !slices.Equal(names, []string{"d:1", "d:3", "d:4"}) {
		t.Errorf("the documents of a are %q", names)
	}
	c.expect("FT.DROPINDEX b DD", "+OK")
	c.sweep()
	if n := c.exec(`SELECT count(*) FROM search_documents`)[0][0].Int(); n != 0 {
		t.Errorf("%d documents are left", n)
	}
}
