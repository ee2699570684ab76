package doctor_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// searchSeed creates indexes of every kind, and changes and deletes some of their keys.
var searchSeed = []string{
	"HSET shop:1 name 'red shoe' kind 'shoe,old' price 5 place 2.3,48.8 v \"\\x00\\x00\\x80?\\x00\\x00\\x00\\x00\"", "HSET shop:2 name 'blue hat' price x", "HSET shop:3 name hats kind hat price 7",
	`JSON.SET item:1 $ '{"title":"red","tags":["a","b"],"price":[1,2]}'`, `JSON.SET item:2 $ '{"title":"blue"}'`, `SET note:1 '{"text":"red notes"}'`,
	"FT.CREATE shop PREFIX 1 shop: FILTER '@name != \"hidden\"' SCHEMA name TEXT WITHSUFFIXTRIE kind TAG INDEXMISSING price NUMERIC place GEO v VECTOR FLAT 6 TYPE FLOAT32 DIM 2 DISTANCE_METRIC L2",
	"FT.CREATE items ON JSON SCHEMA $.title AS title TEXT PHONETIC dm:en $.tags[*] AS tags TAG $.price AS price NUMERIC",
	"FT.CREATE later SKIPINITIALSCAN SCHEMA name TEXT", "SEARCH.CREATE notes ON STRING PREFIX 1 note: SCHEMA text TEXT", "SEARCH.CREATE facts ON JSON PREFIX 1 item: SCHEMA title TEXT tags KEYWORD price F64",
	"FT.SYNUPDATE shop colours red crimson",
	"HSET shop:4 name hidden price 1", "HSETEX shop:5 PX 50000 FIELDS 1 name temporary", "HSET shop:5 kind hat", "SET other v",
}

// run runs lines of commands.
func (p patient) run(lines ...string) {
	p.Helper()
	p.session(func(c *engine.Session) {
		for _, line := range lines {
			args, err := resp.SplitLine(line)
			if err != nil {
				p.Fatal(err)
			}
			if v, err := c.Do(context.Background(), args...); err != nil || v.IsError() {
				p.Fatalf("%s: %s %v", line, v.Str, err)
			}
		}
	})
}

// build indexes all keys.
func (p patient) build() {
	p.Helper()
	s, err := local.Open(p.path, local.Options{SweepEvery: -1, Now: p.clock.Now})
	if err != nil {
		p.Fatal(err)
	}
	defer s.Close()
	for {
		n, err := s.BuildIndexes(context.Background(), 3)
		if err != nil {
			p.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

func (p patient) finds(when string, checks ...string) {
	p.Helper()
	if found := p.examine(); !slices.Equal(found, checks) {
		p.Errorf("%s: found %q, not %q", when, found, checks)
	}
}

// TestSearch compares indexes with their keys while changes wait, and after damage, and builds damaged indexes again.
func TestSearch(t *testing.T) {
	p := newPatient(t)
	p.run(searchSeed...)
	p.finds("before the first scan")
	p.build()
	p.finds("built")
	p.run("HSET shop:1 name 'green shoe'", "DEL shop:3", "JSON.SET item:3 $ '{\"title\":\"new\"}'", "SET note:2 '{\"text\":\"more\"}'")
	p.finds("with changes that wait")
	p.build()
	p.finds("with deleted documents")
	p.clock.Advance(60_000)
	p.run("EXPIRE shop:2 1")
	p.build()
	p.clock.Advance(2_000)
	p.finds("with expired fields and keys", "expired")
	p.run("PING")
	whole, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, hurt := range []string{
		`DELETE FROM search_pages WHERE instr(data, CAST('tgreen' AS BLOB)) > 0`,
		`DELETE FROM search_segments`,
		`UPDATE search_pages SET term = x'61'`,
		`UPDATE search_pages SET data = CAST(data || zeroblob(1) AS BLOB)`,
		`DELETE FROM search_postings`,
		`UPDATE search_postings SET data = zeroblob(2) WHERE term = x'61'`,
		`UPDATE search_numbers SET value = value + 1000 WHERE value = 1`,
		`DELETE FROM search_numbers`,
		`UPDATE hashes SET value = x'72656473' WHERE field = x'6e616d65' AND value = x'677265656e2073686f65'`,
		`UPDATE documents SET value = replace(value, 'blue', 'cyan')`,
		`UPDATE search_indexes SET documents = documents + 1 WHERE name = x'73686f70'`,
		`UPDATE search_indexes SET length = 70 WHERE name = x'6e6f746573'`,
		`DELETE FROM search_documents WHERE key_id = (SELECT id FROM keys WHERE key = x'73686f703a31')`,
		`UPDATE search_documents SET key_id = 12345 WHERE key_id = (SELECT id FROM keys WHERE key = x'73686f703a31')`,
		`UPDATE search_documents SET key = x'61' WHERE key = x'73686f703a31'`,
		`UPDATE search_documents SET id = id + (99 << 40) WHERE key = x'73686f703a31'`,
		`UPDATE search_indexes SET slot = 99 WHERE name = x'73686f70'`,
		`UPDATE search_indexes SET slot = 1`,
		`INSERT INTO search_documents(id, index_id, key_id, length, key) SELECT (slot << 40) + 5000, 77, 88, 0, x'' FROM search_indexes WHERE name = x'73686f70'`,
	} {
		if err := os.WriteFile(p.path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		p.hurt(hurt)
		if found := p.examine(); !slices.Contains(found, "search") {
			t.Errorf("%s: found %q", hurt, found)
		}
		p.repair()
		p.finds(hurt + ", repaired")
		p.build()
		p.finds(hurt + ", built again")
	}
	p.run("HSET shop:9 name nine")
	p.hurt(`DELETE FROM search_pending`)
	p.finds("with a lost change", "search")
}

// TestSalvageSearch recovers the definitions of indexes, and builds them again.
func TestSalvageSearch(t *testing.T) {
	p := newPatient(t)
	p.run(append(searchSeed, "FT.ALIASADD things shop", "FT.DICTADD words a b")...)
	p.build()
	file, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	to, report, err := p.salvage(file, nil)
	if err != nil || len(report.Lost) > 0 {
		t.Fatal(report, err)
	}
	to.finds("recovered")
	to.build()
	to.finds("built")
	to.want("FT.SEARCH things crimson NOCONTENT", "1) (integer) 1\n2) \"shop:1\"")
	to.want("FT.DICTDUMP words", "1) \"a\"\n2) \"b\"")
	to.want("SEARCH.COUNT notes '{\"text\":\"notes\"}'", "(integer) 1")
}
