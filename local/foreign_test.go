package local_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/foreignfile"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/otherformats"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// openForeign opens a file of the kind, at foreignfile.Now, after running more SQL on it.
func openForeign(t *testing.T, kind string, more ...string) *engine.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), kind+".db")
	if err := foreignfile.Make(kind, path, more...); err != nil {
		t.Fatal(err)
	}
	now := func() int64 { return foreignfile.Now }
	s, err := local.Open(path, local.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine.New(s, engine.WithClock(now)).Session()
}

// ask runs a command and returns its reply as JSON.
func ask(t *testing.T, s *engine.Session, command string) string {
	t.Helper()
	var args [][]byte
	for _, word := range strings.Fields(command) {
		args = append(args, []byte(strings.Trim(word, `"`)))
	}
	v, err := s.Do(context.Background(), args...)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.TrimSpace(string(resp.Printer{Format: resp.JSON, RESP3: true}.Append(nil, v)))
}

// TestForeign runs the same commands on each kind of file.
func TestForeign(t *testing.T) {
	const everywhere = "original documented redlite redka"
	readOnly := map[string]string{
		"original": "a file of the first meowdis", "documented": "a Redlite file", "redlite": "a Redlite file", "redka": "a Redka file",
	}
	for _, kind := range foreignfile.Kinds {
		s := openForeign(t, kind)
		for _, test := range []struct{ kinds, command, want string }{
			{everywhere, "GET text", `"hello"`},
			{everywhere, "GET number", `"41"`},
			{everywhere, "GET bytes", `{"base64":"AP8K"}`},
			{everywhere, `GET ""`, `"empty name"`},
			{everywhere, "GET nothing", `null`},
			{everywhere, "GET dead", `null`},
			{everywhere, "GET list", `{"error":"WRONGTYPE Operation against a key holding the wrong kind of value"}`},
			{everywhere, "MGET text dead dying nothing list", `["hello",null,"soon",null,null]`},
			{everywhere, "STRLEN bytes", `3`},
			{everywhere, "GETRANGE text 1 -2", `"ell"`},
			{everywhere, "EXISTS text text dead hash", `3`},
			{everywhere, "TYPE hash", `"hash"`},
			{everywhere, "TYPE dead", `"none"`},
			{everywhere, "PTTL dying", `60000`},
			{everywhere, "PTTL text", `-1`},
			{everywhere, "PEXPIRETIME dying", `2000000060000`},
			{everywhere, "PTTL dead", `-2`},
			{everywhere, "KEYS d*", `["dying"]`},
			{everywhere, "LRANGE list 0 -1", `["a","b","c","\u0000"]`},
			{everywhere, "LRANGE list 1 2", `["b","c"]`},
			{everywhere, "LRANGE list -2 -2", `["c"]`},
			{everywhere, "LINDEX list 0", `"a"`},
			{everywhere, "LINDEX list -2", `"c"`},
			{everywhere, "LLEN list", `4`},
			{everywhere, "LPOS list c", `2`},
			{everywhere, "LLEN text", `{"error":"WRONGTYPE Operation against a key holding the wrong kind of value"}`},
			{everywhere, "SMEMBERS set", `["x","y","7"]`},
			{everywhere, "SCARD set", `3`},
			{everywhere, "SISMEMBER set 7", `1`},
			{everywhere, "SISMEMBER set y", `1`},
			{everywhere, "SMISMEMBER set z x", `[0,1]`},
			{everywhere, "SINTER set other", `["y","7"]`},
			{everywhere, "SUNION set other", `["x","y","7","z"]`},
			{everywhere, "SDIFF set other", `["x"]`},
			{everywhere, "SINTERCARD 2 set other LIMIT 1", `1`},
			{everywhere, "SSCAN set 0", `["0",["x","y","7"]]`},
			{everywhere, "HGETALL hash", `{"name":"Tom","age":"3","süß":{"base64":"/wA="}}`},
			{everywhere, "HGET hash age", `"3"`},
			{everywhere, "HGET hash süß", `{"base64":"/wA="}`},
			{everywhere, "HMGET hash age nope name", `["3",null,"Tom"]`},
			{everywhere, "HLEN hash", `3`},
			{everywhere, "HSTRLEN hash name", `3`},
			{everywhere, "HSCAN hash 0 MATCH a*", `["0",["age","3"]]`},
			{everywhere, "HTTL hash FIELDS 2 age nope", `[-1,-2]`},
			{everywhere, "OBJECT ENCODING set", `"listpack"`},
			{everywhere, "RANDOMKEY nothing", `{"error":"ERR wrong number of arguments for 'randomkey' command"}`},
			{"original", "DBSIZE", `10`},
			{"documented redka", "DBSIZE", `11`},
			{"redlite", "DBSIZE", `14`},
			{"documented redlite redka", "ZRANGE zset 0 -1 WITHSCORES", `[["also one",1],["one",1],["two",2.5],["far","inf"]]`},
			{"documented redlite redka", "ZRANGE zset 0 1 REV", `["far","two"]`},
			{"documented redlite redka", "ZRANGEBYSCORE zset 1 (2.5 LIMIT 1 5", `["one"]`},
			{"documented redlite redka", "ZSCORE zset two", `2.5`},
			{"documented redlite redka", "ZMSCORE zset nope one", `[null,1]`},
			{"documented redlite redka", "ZRANK zset two", `2`},
			{"documented redlite redka", "ZCOUNT zset -inf +inf", `4`},
			{"documented redlite redka", "ZCARD zset", `4`},
			{"documented redlite redka", "ZUNION 2 zset set", `["7","also one","one","x","y","two","far"]`},
			{"documented redlite redka", "ZSCAN zset 0 MATCH two", `["0",["two","2.5"]]`},
			{"redlite", "XLEN stream", `3`},
			{"redlite", "XRANGE stream - +", `[["1000-0",["f","v","g",{"base64":"/w=="}]],["1000-5",["a","b"]],["2000-0",["k","1"]]]`},
			{"redlite", "XRANGE stream (1000-0 1000-5", `[["1000-5",["a","b"]]]`},
			{"redlite", "XREVRANGE stream + - COUNT 1", `[["2000-0",["k","1"]]]`},
			{"redlite", "XREAD STREAMS stream 1000-4", `{"stream":[["1000-5",["a","b"]],["2000-0",["k","1"]]]}`},
			{"redlite", "XPENDING stream readers", `[2,"1000-0","1000-5",[["ann","1"],["bob","1"]]]`},
			{"redlite", "XPENDING stream readers - + 9 ann", `[["1000-0","ann",10000,2]]`},
			{"redlite", "XINFO CONSUMERS stream readers", `[{"name":"ann","pending":1,"idle":10000,"inactive":-1},{"name":"bob","pending":1,"idle":5000,"inactive":-1}]`},
			{"redlite", "JSON.GET json $.a[2].b", `"[\"ü\"]"`},
			{"redlite", "TYPE json", `"ReJSON-RL"`},
			{"redlite", "GEODIST geo Palermo Catania km", `"166.2742"`},
			{"redlite", "GEOHASH geo Palermo Catania", `["sqc8b49rny0","sqdtr74hyu0"]`},
			{"redlite", "GEOSEARCH geo FROMLONLAT 15 37 BYRADIUS 100 km", `["Catania"]`},
			{"redlite", "ZSCORE geo Palermo", `3479099956230698`},
			{everywhere, "SETRANGE text 0 new", `{"error":"READONLY this is ` + readOnly[kind] + `, which meowdis can only read: convert it with meowdis import"}`},
		} {
			if !strings.Contains(test.kinds, kind) {
				continue
			}
			if got := ask(t, s, test.command); got != test.want {
				t.Errorf("%s: %s\n got %s\nwant %s", kind, test.command, got, test.want)
			}
		}
		if kind == "documented" || kind == "redlite" {
			ask(t, s, "SELECT 3")
			if got := ask(t, s, "MGET text number"); got != `["in three",null]` {
				t.Errorf("%s: database 3 has %s", kind, got)
			}
		}
	}
}

// TestForeignPages scans more keys and elements than fit in a page, with rows of other keys between them.
func TestForeignPages(t *testing.T) {
	race.Skip(t)
	s := openForeign(t, "redka", `
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
		INSERT INTO rkey SELECT 1000 + i, 'k' || i, 1, 1, NULL, 0, NULL FROM n;
		INSERT INTO rkey VALUES (5000, 'big', 4, 1, NULL, 0, 3000), (5001, 'huge', 3, 1, NULL, 0, 3000);
		INSERT INTO rhash SELECT 5000, 'f' || id, CAST('v' AS BLOB) FROM rkey WHERE key GLOB 'k*' ORDER BY key;
		INSERT INTO rset SELECT 5001, CAST('m' || id AS BLOB) FROM rkey WHERE key GLOB 'k*' ORDER BY key DESC;
		INSERT INTO rset SELECT id, CAST('x' AS BLOB) FROM rkey WHERE key GLOB 'k*';`)
	for command, want := range map[string]int{"SCAN": 3000 + 13, "HSCAN big": 3000, "SSCAN huge": 3000} {
		seen, cursor := map[string]bool{}, "0"
		for pages := 0; pages == 0 || cursor != "0"; pages++ {
			if pages > 400 {
				t.Fatalf("%s does not end", command)
			}
			var args [][]byte
			for _, word := range strings.Fields(command + " " + cursor + " COUNT 100") {
				args = append(args, []byte(word))
			}
			v, err := s.Do(context.Background(), args...)
			if err != nil || len(v.Elems) != 2 {
				t.Fatalf("%s: %v, %v", command, v, err)
			}
			cursor = string(v.Elems[0].Str)
			for i, e := range v.Elems[1].Elems {
				if command != "HSCAN big" || i%2 == 0 {
					seen[string(e.Str)] = true
				}
			}
		}
		if len(seen) != want {
			t.Errorf("%s found %d of %d", command, len(seen), want)
		}
	}
	for _, command := range []string{"RANDOMKEY", "SRANDMEMBER huge", "HRANDFIELD big"} {
		drawn := map[string]bool{}
		for range 200 {
			drawn[ask(t, s, command)] = true
		}
		if len(drawn) < 100 {
			t.Errorf("200 times %s gave %d different answers", command, len(drawn))
		}
	}
}

// TestForeignTransaction sees one state, and refuses writes.
func TestForeignTransaction(t *testing.T) {
	s := openForeign(t, "redka")
	for _, step := range []struct{ command, want string }{
		{"WATCH text", `"OK"`}, {"MULTI", `"OK"`}, {"GET text", `"QUEUED"`}, {"LCS text number", `"QUEUED"`}, {"EXEC", `["hello",""]`},
		{"MULTI", `"OK"`}, {"DEL text", `{"error":"READONLY this is a Redka file, which meowdis can only read: convert it with meowdis import"}`},
		{"EXEC", `{"error":"EXECABORT Transaction discarded because of previous errors."}`},
		{"SORT_RO list ALPHA DESC", `["c","b","a","\u0000"]`},
		{"DUMP nothing", `null`},
	} {
		if got := ask(t, s, step.command); got != step.want {
			t.Errorf("%s: %s, not %s", step.command, got, step.want)
		}
	}
}

// TestForeignOlder opens files without some of the newer tables and columns.
func TestForeignOlder(t *testing.T) {
	s := openForeign(t, "redlite", `DROP TABLE json_docs; DROP TABLE geo_data; DROP TABLE geo_rtree; DROP TABLE stream_pending;
		DROP TABLE stream_consumers; DROP TABLE stream_groups; DROP TABLE streams; DROP TABLE zsets;
		ALTER TABLE keys DROP COLUMN version; ALTER TABLE keys DROP COLUMN created_at; ALTER TABLE keys DROP COLUMN updated_at;
		ALTER TABLE keys DROP COLUMN last_accessed; ALTER TABLE keys DROP COLUMN access_count`)
	for command, want := range map[string]string{"GET text": `"hello"`, "HLEN hash": `3`, "ZCARD nothing": `0`, "XLEN nothing": `0`, "JSON.GET nothing": `null`} {
		if got := ask(t, s, command); got != want {
			t.Errorf("%s: %s, not %s", command, got, want)
		}
	}
	s = openForeign(t, "redka", `ALTER TABLE rkey DROP COLUMN len; ALTER TABLE rkey DROP COLUMN version; ALTER TABLE rkey DROP COLUMN mtime`)
	for command, want := range map[string]string{"GET text": `"hello"`, "LLEN list": `4`, "SCARD set": `3`, "ZCARD zset": `4`, "HLEN hash": `3`} {
		if got := ask(t, s, command); got != want {
			t.Errorf("redka: %s: %s, not %s", command, got, want)
		}
	}
}

// TestForeignDamage reports a damaged entry, and continues reading.
func TestForeignDamage(t *testing.T) {
	s := openForeign(t, "redlite", `UPDATE streams SET data = x'9292' WHERE id = 2`)
	_, err := s.Do(context.Background(), []byte("XRANGE"), []byte("stream"), []byte("-"), []byte("+"))
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged entry: %v", err)
	}
	if got := ask(t, s, "XRANGE stream - 1000-0"); !strings.Contains(got, "1000-0") {
		t.Errorf("the entry before it: %s", got)
	}
}

// TestForeignStays compares the bytes of a file before and after.
func TestForeignStays(t *testing.T) {
	for _, kind := range foreignfile.Kinds {
		path := filepath.Join(t.TempDir(), kind)
		if err := foreignfile.Make(kind, path); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{true, false} {
			s, err := local.Open(path, local.Options{ReadOnly: readOnly})
			if err != nil {
				t.Fatal(err)
			}
			ask(t, engine.New(s).Session(), "GET text")
			if n, err := s.Sweep(context.Background(), 100); n > 0 {
				t.Errorf("%s: swept %d, %v", kind, n, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		after, err := os.ReadFile(path)
		if err != nil || sha256.Sum256(before) != sha256.Sum256(after) {
			t.Errorf("%s has changed, %v", kind, err)
		}
	}
}

// TestForeignInUse reads rows that the other program has just written.
func TestForeignInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redka.db")
	if err := foreignfile.Make("redka", path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := local.Open(path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, value := range []string{"one", "two"} {
		if _, err := db.Exec(`UPDATE rstring SET value = CAST(? AS BLOB) WHERE kid = 1`, value); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, engine.New(s).Session(), "GET text"); got != `"`+value+`"` {
			t.Errorf("GET text: %s, not %s", got, value)
		}
	}
}

// TestForeignIndexes uses the file's own indexes.
func TestForeignIndexes(t *testing.T) {
	f := otherformats.File{
		"rkey": {"id", "key", "type", "version", "etime", "mtime", "len"}, "rhash": {"kid", "field", "value"}, "rzset": {"kid", "elem", "score"},
	}
	path := filepath.Join(t.TempDir(), "redka.db")
	if err := foreignfile.Make("redka", path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables := map[string]otherformats.Table{}
	for _, table := range otherformats.Detect(f).Tables(f) {
		tables[table.Name] = table
	}
	for _, test := range []struct {
		table       string
		constraints []otherformats.Constraint
		order       []otherformats.Order
		want        string
	}{
		{"keys", []otherformats.Constraint{{Column: 1}, {Column: 2}}, nil, "SEARCH k USING COVERING INDEX rkey_key_idx (key=?)"},
		{"keys", []otherformats.Constraint{{Column: 1}, {Column: 3, Op: otherformats.Greater}}, []otherformats.Order{{Column: 3}}, "SEARCH k USING INTEGER PRIMARY KEY (rowid>?)"},
		{"hashes", []otherformats.Constraint{{Column: 0}, {Column: 1}, {Column: 2}}, nil, "SEARCH e USING INDEX rhash_pk_idx (kid=? AND field=?)"},
		{"zsets", []otherformats.Constraint{{Column: 0}}, []otherformats.Order{{Column: 3, Descending: true}, {Column: 2, Descending: true}}, "SEARCH e USING COVERING INDEX rzset_score_idx (kid=?)"},
	} {
		table := tables[test.table]
		plan := table.Plan(test.constraints, test.order, 0b1111)
		if len(plan.Taken) != len(test.constraints) || plan.Ordered != true {
			t.Errorf("%s: not all of it is left to the file: %+v", test.table, plan)
		}
		args := make([]any, strings.Count(plan.SQL, "?"))
		var id, parent, unused int
		var got string
		if err := db.QueryRow("EXPLAIN QUERY PLAN "+plan.SQL, args...).Scan(&id, &parent, &unused, &got); err != nil {
			t.Fatalf("%s: %v", plan.SQL, err)
		}
		if got != test.want {
			t.Errorf("%s\n%s, not %s", plan.SQL, got, test.want)
		}
	}
}

// TestForeignTables compares the tables that show a foreign file with the schema's: a migration must also
// change package otherformats.
func TestForeignTables(t *testing.T) {
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const columns = `SELECT m.name, group_concat(c.name || ' ' || c.type ORDER BY c.cid) FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND m.name NOT IN ('meowdis', 'guard', 'pending_deletes') AND m.name NOT LIKE 'sqlite%' GROUP BY m.name`
	results, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: columns}}}})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	f := otherformats.File{"rkey": {"id", "key", "type", "etime"}}
	for _, table := range otherformats.Detect(f).Tables(f) {
		var columns []string
		for _, c := range table.Columns {
			columns = append(columns, c.Name+" "+c.Type)
		}
		shown[table.Name] = strings.Join(columns, ",")
	}
	for _, row := range results[0].Rows[0] {
		if name, want := string(row[0].Bytes()), string(row[1].Bytes()); shown[name] != want {
			t.Errorf("%s is shown with the columns %s, and has %s", name, shown[name], want)
		}
	}
}
