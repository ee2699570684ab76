package doctor_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	_ "modernc.org/sqlite" // an independent way to read the files

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// seed creates keys of every type.
var seed = []string{
	"SET greeting hello", "SET later v PX 100000",
	"HSET cat:1 name Tom age 3", "HSET cat:2 name Kit age 4", "HSETEX cat:3 PX 100000 FIELDS 1 f v",
	"RPUSH list a b c", "SADD set a b c", "ZADD zset 1 a 2 b",
	"XADD stream 1-1 a b", "XADD stream 2-1 a b", "XGROUP CREATE stream g 0", "XREADGROUP GROUP g c COUNT 1 STREAMS stream >",
	`JSON.SET doc $ '{"a":1}'`, "ARSET array 7 x y", "SETRANGE long 131070 ends", "VADD vectors VALUES 2 1 0 a", "VADD vectors VALUES 2 0 1 b", "BF.MADD bloom a b",
	"TS.ADD series 1000 2", "TS.ADD series 2000 3",
	`FUNCTION LOAD "#!lua name=lib\nredis.register_function('greet', function() return 'hello' end)"`,
}

// patient is a file with helpers to damage it, examine it and run commands on it.
type patient struct {
	*testing.T
	path  string
	clock *storetest.Clock
}

func newPatient(t *testing.T) patient {
	p := patient{t, filepath.Join(t.TempDir(), "db.sqlite"), storetest.NewClock()}
	p.session(func(c *engine.Session) {
		for _, line := range seed {
			args, err := resp.SplitLine(line)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := c.Do(context.Background(), args...); err != nil || v.IsError() {
				t.Fatalf("%s: %s %v", line, v.Str, err)
			}
		}
	})
	return p
}

func (p patient) session(fn func(*engine.Session)) {
	p.Helper()
	s, err := local.Open(p.path, local.Options{SweepEvery: -1, Now: p.clock.Now})
	if err != nil {
		p.Fatal(err)
	}
	defer s.Close()
	fn(storetest.NewEngine(s, p.clock).Session())
}

// want checks the reply to a command.
func (p patient) want(command, reply string) {
	p.Helper()
	s, err := local.Open(p.path, local.Options{SweepEvery: -1, Now: p.clock.Now})
	if err != nil {
		p.Fatal(err)
	}
	defer s.Close()
	storetest.NewClient(p.T, storetest.NewEngine(s, p.clock)).Want(command, reply)
}

func (p patient) hurt(script string) {
	p.Helper()
	db, err := sql.Open("sqlite", p.path)
	if err != nil {
		p.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		p.Fatalf("%s: %v", script, err)
	}
}

func (p patient) open(fn func(*local.File, doctor.Exam) error) error {
	p.Helper()
	fresh, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		p.Fatal(err)
	}
	defer fresh.Close()
	tables, err := doctor.ReadTables(func(sql string, args ...store.Value) ([]store.Row, error) {
		results, err := fresh.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{{SQL: sql, Args: args}}, ReadOnly: true}})
		return results[0].Rows[0], err
	})
	if err != nil {
		p.Fatal(err)
	}
	f, err := local.OpenFile(p.path, false)
	if err != nil {
		return err
	}
	defer f.Close()
	return fn(f, doctor.Exam{Query: f.Query, Now: p.clock.Now(), Version: schema.Version, Tables: tables, Examples: 3})
}

func (p patient) examine() (names []string) {
	p.Helper()
	err := p.open(func(_ *local.File, e doctor.Exam) error {
		found, err := e.Ours()
		for _, f := range found {
			names = append(names, f.Check)
			if f.Count < 1 || f.Fix == "" && f.Advice == "" {
				p.Errorf("a finding that says too little: %+v", f)
			}
		}
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return names
}

func (p patient) repair() {
	p.Helper()
	if err := p.open(func(f *local.File, e doctor.Exam) error { return f.Change(e.Repair) }); err != nil {
		p.Fatal(err)
	}
}

const id = `(SELECT id FROM keys WHERE key = CAST('%s' AS BLOB))`

func of(key string) string { return fmt.Sprintf(id, key) }

// damages has at least one case for every check: statements that damage the file, and a command that shows that
// no data was lost.
var damages = []struct {
	check, hurt    string
	command, reply string
}{
	{"names", `UPDATE keys SET key = 'greeting' WHERE id = ` + of("greeting"), "GET greeting", `"hello"`},
	{"names", `UPDATE hashes SET field = CAST(field AS TEXT) WHERE key_id = ` + of("cat:1"), "HGET cat:1 name", `"Tom"`},
	{"names", `UPDATE sets SET member = CAST(member AS TEXT)`, "SISMEMBER set b", "(integer) 1"},
	{"names", `UPDATE zsets SET member = CAST(member AS TEXT)`, "ZSCORE zset b", `"2"`},
	{"names", `INSERT INTO hashes SELECT key_id, hash, CAST(field AS TEXT), x'616c736f', 99, NULL FROM hashes WHERE key_id = ` + of("cat:1"),
		"HGET lost+found:20231114-221320:hash:-3 name", `"also"`},
	{"values", `UPDATE keys SET value = 'by hand' WHERE id = ` + of("greeting"), "GET greeting", `"by hand"`},
	{"values", `UPDATE lists SET value = CAST(value AS TEXT)`, "LRANGE list 1 1", `1) "b"`},
	{"numbers", `UPDATE keys SET version = -5`, "GET greeting", `"hello"`},
	{"numbers", `UPDATE keys SET expires_at = 'soon' WHERE id = ` + of("later"), "TTL later", "(integer) -1"},
	{"numbers", `UPDATE zsets SET score = 'much' WHERE member = x'61'`, "ZSCORE zset a", `"0"`},
	{"positions", `INSERT INTO lists VALUES(` + of("list") + `, 'third', x'7a')`, "", ""},
	{"positions", `UPDATE string_parts SET part = 99999 WHERE part = 4`, "", ""},
	{"vectors", `UPDATE vector_blocks SET records = x'00'`, "", ""},
	{"vectors", `DELETE FROM vector_sets`, "", ""},
	{"vectors", `UPDATE vectors SET slot = slot + 1 WHERE slot = 1`, "", ""},
	{"sketches", `DELETE FROM bloom_filters WHERE block = -1; UPDATE keys SET count = count - 1 WHERE type = 'MBbloom--'`, "", ""},
	{"series", `UPDATE series SET last_at = 1000`, "", ""},
	{"series", `DELETE FROM series`, "", ""},
	{"documents", `UPDATE documents SET value = x'7b'`, "", ""},
	{"databases", `UPDATE keys SET db = 99 WHERE id = ` + of("greeting"), "GET lost+found:20231114-221320:99:greeting", `"hello"`},
	{"leftovers", `UPDATE keys SET key = CAST('meowdis:moving:a.1:1' AS BLOB) WHERE key = CAST('greeting' AS BLOB)`, "EXISTS greeting meowdis:moving:a.1:1", "(integer) 0"},
	{"consumers", `DROP TRIGGER stream_consumers_delete; DELETE FROM stream_consumers`, "XPENDING stream g - + 9 c", "1) 1) \"1-1\"\n   2) \"c\"\n   3) (integer) 0\n   4) (integer) 1"},
	{"groups", `DROP TRIGGER stream_groups_delete; DELETE FROM stream_groups`, "XREADGROUP GROUP g c STREAMS stream >",
		"1) 1) \"stream\"\n   2) 1) 1) \"2-1\"\n         2) 1) \"a\"\n            2) \"b\""},
	{"orphans", `DROP TRIGGER keys_delete_hash; DELETE FROM keys WHERE key = CAST('cat:1' AS BLOB)`, "HGET lost+found:20231114-221320:hash:3 name", `"Tom"`},
	{"orphans", `DROP TRIGGER keys_delete_stream; DELETE FROM keys WHERE type = 'stream'`, "XLEN lost+found:20231114-221320:stream:9", "(integer) 2"},
	{"orphans", `DROP TRIGGER keys_delete_parts; DELETE FROM keys WHERE key = CAST('long' AS BLOB)`, "GETRANGE lost+found:20231114-221320:string:12 131070 -1", `"ends"`},
	{"orphans", `DROP TRIGGER keys_delete_array; DELETE FROM keys WHERE type = 'array'`, "ARGET lost+found:20231114-221320:array:11 8", `"y"`},
	{"orphans", `DROP TRIGGER keys_delete_vectors; DELETE FROM keys WHERE type = 'vectorset'`, "VSIM lost+found:20231114-221320:vectorset:13 VALUES 2 0 1 COUNT 1", `1) "b"`},
	{"orphans", `INSERT INTO string_parts VALUES(77, 0, x'61'); INSERT INTO lists VALUES(77, 1, x'62')`, "LRANGE lost+found:20231114-221320:list:77 0 -1", `1) "b"`},
	{"pending", `INSERT INTO pending_deletes SELECT id, type FROM keys`, "HGET cat:2 name", `"Kit"`},
	{"pending", `INSERT INTO pending_deletes VALUES(99, 'nonsense')`, "HGET cat:2 name", `"Kit"`},
	{"functions", `INSERT INTO functions(library, name, flags) VALUES('gone', 'f', 0)`, "FCALL greet 0", `"hello"`},
	{"functions", `INSERT INTO libraries VALUES('other', 1, x'00'); INSERT INTO functions(library, name, flags) VALUES('other', 'own', 0), ('other', 'GREET', 0)`,
		"FCALL greet 0", `"hello"`},
	{"libraries", `DELETE FROM functions`, "", ""},
	{"values", `UPDATE libraries SET code = CAST(code AS TEXT)`, "FCALL greet 0", `"hello"`},
	{"mismatches", `UPDATE keys SET type = 'list' WHERE key = CAST('cat:2' AS BLOB)`, "HGET cat:2 name", `"Kit"`},
	{"mismatches", `UPDATE keys SET type = 'nonsense' WHERE type = 'stream'`, "XLEN stream", "(integer) 2"},
	{"mismatches", `UPDATE keys SET value = x'7374726179' WHERE type = 'set'`, "GET lost+found:20231114-221320:string:7", `"stray"`},
	{"mismatches", `UPDATE keys SET type = 'list' WHERE key = CAST('greeting' AS BLOB)`, "GET greeting", `"hello"`},
	{"mismatches", `INSERT INTO sets VALUES(` + of("zset") + `, 7, x'7374726179', 1)`, "SMEMBERS lost+found:20231114-221320:set:8", `1) "stray"`},
	{"parts", `INSERT INTO string_parts VALUES(` + of("greeting") + `, 0, x'7061727473')`, "GET lost+found:20231114-221320:string:1", `"parts"`},
	{"parts", `UPDATE keys SET value = x'6279' WHERE id = ` + of("long"), "GET lost+found:20231114-221320:string:12", `"by"`},
	{"parts", `UPDATE keys SET value = NULL WHERE id = ` + of("long"), "GETRANGE long 131070 -1", `"ends"`},
	{"streams", `DELETE FROM streams`, "XADD stream 2-2 c d", `"2-2"`},
	{"streams", `UPDATE streams SET last_id = zeroblob(16)`, "XADD stream 1-5 c d", "(error) ERR The ID specified in XADD is equal or smaller than the target stream top item"},
	{"nodes", `DELETE FROM stream_nodes`, "XTRIM stream MAXLEN ~ 0", "(integer) 2"},
	{"nodes", `UPDATE stream_nodes SET count = 7`, "XTRIM stream MAXLEN ~ 0", "(integer) 2"},
	{"hollow", `UPDATE keys SET value = NULL WHERE id = ` + of("greeting"), "EXISTS greeting", "(integer) 0"},
	{"counts", `UPDATE keys SET count = 77`, "LLEN list", "(integer) 3"},
	{"counts", `UPDATE keys SET count = 77`, "OBJECT ENCODING greeting", `"embstr"`},
	{"counts", `UPDATE keys SET count = 77 WHERE type = 'string'`, "GET greeting", `"hello"`},
	{"counts", `UPDATE keys SET count = 77`, "GETRANGE long 131070 -1", `"ends"`},
	{"order", `UPDATE keys SET seq = 0 WHERE key = CAST('cat:1' AS BLOB)`, "HSET cat:1 last v", "(integer) 1"},
	{"fields", `UPDATE keys SET volatile = 5, last_field = 1`, "HGET cat:3 f", `"v"`},
	{"sizes", `UPDATE dbs SET keys = 99`, "DBSIZE", "(integer) 15"},
	{"sizes", `DELETE FROM dbs`, "DBSIZE", "(integer) 15"},
	{"guard", `INSERT INTO guard VALUES(1)`, "DBSIZE", "(integer) 15"},
	{"hashes", `UPDATE keys SET hash = hash + 2`, "SCAN 0 MATCH greeting COUNT 100", "1) \"0\"\n2) 1) \"greeting\""},
	{"hashes", `UPDATE hashes SET hash = 3 WHERE field = CAST('name' AS BLOB)`, "HGET cat:1 name", `"Tom"`},
	{"hashes", `INSERT INTO zsets VALUES(` + of("zset") + `, 7, x'61', 5.0)`, "ZSCORE lost+found:20231114-221320:zset:-8 a", `"5"`},
	{"schema", `DROP TRIGGER keys_insert; DROP INDEX keys_by_death; DROP VIEW v_keys`, "SET new v", "OK"},
	{"schema", `DROP TRIGGER keys_insert; CREATE TRIGGER keys_insert AFTER INSERT ON keys BEGIN DELETE FROM dbs; END`, "SET new v", "OK"},
}

func TestEveryCheck(t *testing.T) {
	for _, d := range damages {
		t.Run(d.check, func(t *testing.T) {
			p := newPatient(t)
			if names := p.examine(); len(names) > 0 {
				t.Fatalf("a healthy file: %v", names)
			}
			p.hurt(d.hurt)
			if names := p.examine(); !slices.Contains(names, d.check) {
				t.Fatalf("%s\nfound %v", d.hurt, names)
			}
			if d.command == "" { // no repair exists
				p.repair()
				if names := p.examine(); !slices.Equal(names, []string{d.check}) {
					t.Errorf("%s\nfound after the repair: %v", d.hurt, names)
				}
				return
			}
			p.repair()
			if names := p.examine(); len(names) > 0 {
				t.Fatalf("%s\nfound after the repair: %v", d.hurt, names)
			}
			p.want(d.command, d.reply)
			if names := p.examine(); len(names) > 0 {
				t.Errorf("%s\nfound after %s: %v", d.hurt, d.command, names)
			}
		})
	}
	for _, c := range doctor.Checks() {
		if !slices.ContainsFunc(damages, func(d struct{ check, hurt, command, reply string }) bool { return d.check == c.Name }) {
			t.Errorf("no damage is tried for %s", c.Name)
		}
	}
}

// TestBeyond: a file that cannot be repaired is reported and stays unchanged.
func TestBeyond(t *testing.T) {
	p := newPatient(t)
	p.hurt(`DROP TABLE lists`)
	if names := p.examine(); !slices.Contains(names, "tables") || slices.Contains(names, "hollow") {
		t.Errorf("found %v", names)
	}
	before, _ := os.ReadFile(p.path)
	err := p.open(func(f *local.File, e doctor.Exam) error { return f.Change(e.Repair) })
	if err != doctor.ErrBeyond {
		t.Errorf("a repair without a table: %v", err)
	}
	if after, _ := os.ReadFile(p.path); string(before) != string(after) {
		t.Error("the file was changed")
	}
}

// TestExpired reports expired keys, which are not damage, and deletes them.
func TestExpired(t *testing.T) {
	p := newPatient(t)
	p.clock.Advance(200_000)
	if names := p.examine(); !slices.Equal(names, []string{"expired"}) {
		t.Errorf("found %v", names)
	}
	p.repair()
	if names := p.examine(); len(names) > 0 {
		t.Errorf("found after the repair: %v", names)
	}
	p.want("DBSIZE", "(integer) 13")
}

// TestFlippedBytes examines and repairs files with damage anywhere: nothing panics, and each failure reports
// that the file is damaged.
func TestFlippedBytes(t *testing.T) {
	p := newPatient(t)
	whole, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for i := range 150 {
		broken := slices.Clone(whole)
		for at := (i*7919 + 13) % len(broken); at < len(broken); at += 9 * page / 2 {
			broken[at] ^= byte(1 + i*31%255)
		}
		if err := os.WriteFile(p.path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		err := p.open(func(f *local.File, e doctor.Exam) error {
			if _, err := f.SchemaVersion(); err != nil {
				return err
			}
			if _, err := e.Ours(); err != nil {
				return err
			}
			return f.Change(e.Repair)
		})
		if err != nil && err != doctor.ErrBeyond && !errors.Is(err, local.ErrForeign) && !local.IsDamage(err) {
			t.Errorf("variant %d: %v", i, err)
		}
	}
}

// TestSearchTriggers misses a trigger of search only where an index needs it.
func TestSearchTriggers(t *testing.T) {
	p := newPatient(t)
	if found := p.examine(); len(found) > 0 {
		t.Errorf("without an index: %q", found)
	}
	p.want("FT.CREATE cats SCHEMA name TEXT", "OK")
	if found := p.examine(); len(found) > 0 {
		t.Errorf("with an index: %q", found)
	}
	p.hurt(`DROP TRIGGER search_key_update`)
	if found := p.examine(); !slices.Equal(found, []string{"schema"}) {
		t.Errorf("without a trigger: %q", found)
	}
	p.repair()
	if found := p.examine(); len(found) > 0 {
		t.Errorf("repaired: %q", found)
	}
	p.want("SEARCH.CREATE notes ON STRING PREFIX 1 note: SCHEMA text TEXT", "(integer) 1")
	if found := p.examine(); len(found) > 0 {
		t.Errorf("with an index of strings: %q", found)
	}
	p.hurt(`DROP TRIGGER search_string_insert`)
	if found := p.examine(); !slices.Equal(found, []string{"schema"}) {
		t.Errorf("without a trigger of strings: %q", found)
	}
}
