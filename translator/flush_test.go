package translator_test

import (
	"context"
	"fmt"
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
			AND name NOT IN ('search_documents', 'search_deleted', 'search_postings', 'search_numbers', 'search_synonyms', 'search_dictionaries', 'search_dropped')`)
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
