package translator_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/store"
)

// TestFlushEmptiesEveryTable checks that no row of any type remains, whatever the number of keys.
func TestFlushEmptiesEveryTable(t *testing.T) {
	for _, test := range []struct {
		flush string
		more  int  // strings
		other bool // a key in another database
	}{{"FLUSHALL", 0, false}, {"FLUSHDB", 0, false}, {"FLUSHALL", 2000, true}, {"FLUSHDB", 2000, false}, {"FLUSHDB", 2000, true}} {
		flush, c := test.flush, newClient(t)
		schema := fmt.Sprint(c.exec(`SELECT type, name, sql FROM sqlite_master ORDER BY type, name`))
		words := []string{"MSET"}
		for i := range test.more {
			words = append(words, fmt.Sprint("k", i), "v")
		}
		if test.more > 0 {
			c.do(words...)
		}
		if test.other {
			c.expect("SET other v", "+OK", "MOVE other 1", ":1")
		}
		for _, line := range []string{
			"FT.CREATE idx SCHEMA a NUMERIC", "FT.ALIASADD alias idx",
			"SET string 1", "SETRANGE long 200000 1", "RPUSH list a", "HSET hash a 1", "SADD set a", "ZADD zset 1 a", "JSON.SET doc $ 1", "ARINSERT array a", "VADD vectors VALUES 1 1 a",
			"BF.ADD bloom a", "CF.ADD cuckoo a", "CMS.INITBYDIM cms 2 2", "TOPK.RESERVE topk 2", "TDIGEST.CREATE tdigest", "TS.ADD series 1 2 LABELS a b", "FT.SUGADD sugg hello 1", "TS.CREATE sums", "TS.CREATERULE series sums AGGREGATION sum 5",
			"XADD stream IDMP p i * a b", "XGROUP CREATE stream g 0", "XREADGROUP GROUP g me STREAMS stream >",
		} {
			if v := c.do(strings.Fields(line)...); v.IsError() {
				t.Fatalf("%s: %s", line, v.Str)
			}
		}
		tables := c.exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('meowdis', 'guard', 'pending_deletes', 'libraries', 'functions')
			AND name NOT IN ('search_documents', 'search_deleted', 'search_postings', 'search_segments', 'search_pages', 'search_numbers', 'search_synonyms', 'search_dictionaries', 'search_dropped')`)
		for _, row := range tables {
			if rows := c.exec(`SELECT * FROM ` + string(row[0].Bytes())); len(rows) == 0 {
				t.Errorf("%s is empty already", row[0].Bytes())
			}
		}
		c.expect(flush, "+OK", "DBSIZE", ":0")
		for _, row := range tables {
			name := string(row[0].Bytes())
			rows := c.exec(`SELECT * FROM ` + name)
			if other := test.other && flush == "FLUSHDB"; len(rows) > 0 && name != "dbs" && !(other && name == "keys" && len(rows) == 1) {
				t.Errorf("%s leaves %v in %s", flush, rows, name)
			}
		}
		if got := fmt.Sprint(c.exec(`SELECT type, name, sql FROM sqlite_master ORDER BY type, name`)); got != schema {
			t.Errorf("%s leaves another schema:\n%s", flush, got)
		}
		c.expect("SET string 1", "+OK", "RPUSH list a", ":1", "DBSIZE", ":2")
	}
}

// interrupted is a store without transactions on which another client writes after the first batch.
type interrupted struct {
	store engine.Store
	write func()
}

func (s *interrupted) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	results, err := s.store.Apply(ctx, batches)
	if write := s.write; write != nil {
		s.write = nil
		write()
	}
	return results, err
}

// TestFlushKeepsOtherDatabases flushes one database while another client creates the first key of another one.
func TestFlushKeepsOtherDatabases(t *testing.T) {
	c := newClient(t)
	words := [][]byte{[]byte("MSET")}
	for i := range 2000 {
		words = append(words, fmt.Append(nil, "k", i), []byte("v"))
	}
	if _, err := c.session.Do(context.Background(), words...); err != nil {
		t.Fatal(err)
	}
	between := &interrupted{c.store, func() { c.expect("SET other v", "+OK", "MOVE other 1", ":1") }}
	v, err := engine.New(between).Session().Do(context.Background(), []byte("FLUSHDB"))
	if err != nil || string(v.Str) != "OK" {
		t.Errorf("FLUSHDB answers %s, %v", v.Str, err)
	}
	c.expect("DBSIZE", ":0", "SELECT 1", "+OK", "GET other", "$1 v")
}

// TestFlushKeepsIndexes flushes a large database while another one has an index and no keys.
func TestFlushKeepsIndexes(t *testing.T) {
	c := newClient(t)
	words := []string{"MSET"}
	for i := range 2000 {
		words = append(words, fmt.Sprint("k", i), "v")
	}
	c.expect("FT.CREATE idx SCHEMA a NUMERIC", "+OK", "SELECT 1", "+OK")
	c.do(words...)
	c.expect("FLUSHDB", "+OK", "DBSIZE", ":0", "SELECT 0", "+OK", "FT._LIST", "~1 $3 idx")
}

// statementsOf records the SQL that a store runs.
type statementsOf struct {
	engine.Store
	ran []string
}

func (s *statementsOf) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	for _, b := range batches {
		for _, stmt := range b.Stmts {
			s.ran = append(s.ran, stmt.SQL)
		}
	}
	return s.Store.Apply(ctx, batches)
}

// TestFlushBesideOthers flushes a large database: the tables are remade, and each row of another database stays the
// same, unless that database is large, too, or something refers to its keys.
func TestFlushBesideOthers(t *testing.T) {
	var many strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&many, " other%d v", i)
	}
	for _, test := range []struct {
		more   string
		remade bool
	}{{"PING", true}, {"TS.CREATERULE series sums AGGREGATION sum 5", false}, {"MSET" + many.String(), false}} {
		c := newClient(t)
		c.expect("SELECT 1", "+OK")
		for _, line := range []string{
			"SET string 1 EX 100", "SETRANGE long 200000 1", "RPUSH list a b", "HSET hash a 1 b 2", "HEXPIRE hash 100 FIELDS 1 a", "SADD set a", "ZADD zset 1 a", "JSON.SET doc $ 1", "ARINSERT array a", "VADD vectors VALUES 1 1 a",
			"BF.ADD bloom a", "CF.ADD cuckoo a", "CMS.INITBYDIM cms 2 2", "TOPK.RESERVE topk 2", "TDIGEST.CREATE tdigest", "TS.ADD series 1 2 LABELS a b", "FT.SUGADD sugg hello 1", "TS.CREATE sums",
			"XADD stream IDMP p i * a b", "XGROUP CREATE stream g 0", "XREADGROUP GROUP g me STREAMS stream >", test.more,
		} {
			if v := c.do(strings.Fields(line)...); v.IsError() {
				t.Fatalf("%s: %s", line, v.Str)
			}
		}
		tables := c.exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('meowdis', 'guard') AND name NOT LIKE 'search%' ORDER BY name`)
		read := func() (all []string) {
			for _, row := range tables {
				for _, row := range c.exec(`SELECT '` + string(row[0].Bytes()) + `', * FROM ` + string(row[0].Bytes())) {
					all = append(all, fmt.Sprint(row))
				}
			}
			return append(all, fmt.Sprint(c.exec(`SELECT type, name, sql FROM sqlite_master ORDER BY type, name`)))
		}
		c.expect("SELECT 0", "+OK", "FLUSHDB", "+OK", "SET a b", "+OK", "DEL a", ":1")
		want := read()
		words := [][]byte{[]byte("MSET")}
		for i := range 2000 {
			words = append(words, fmt.Append(nil, "k", i), []byte("v"))
		}
		if _, err := c.session.Do(t.Context(), words...); err != nil {
			t.Fatal(err)
		}
		s := &statementsOf{Store: c.store}
		if v, err := engine.New(s).Session().Do(t.Context(), []byte("FLUSHDB")); err != nil || string(v.Str) != "OK" {
			t.Errorf("FLUSHDB: %s, %v", v.Str, err)
		}
		c.expect("SET a b", "+OK", "DEL a", ":1")
		if got := read(); !slices.Equal(got, want) {
			t.Errorf("%.20s: FLUSHDB leaves\n%s\nwant\n%s", test.more, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if remade := slices.Contains(s.ran, "DROP TABLE keys"); remade != test.remade {
			t.Errorf("%.20s: remade the tables: %v", test.more, remade)
		}
	}
}
