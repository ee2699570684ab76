package local_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/store/schema"
)

// expectedReplies holds the expected replies for the files in testdata/schema, by the schema version since which they
// hold. The programs of their time wrote the files; the sqlite3 shell dumped them with ".dump".
var expectedReplies = []struct {
	since       int
	line, reply string
}{
	{1, "GET s", `"hello"`},
	{1, "PEXPIRETIME ttl", "(integer) 4102444800000"},
	{1, `GET "bin\x00\xff"`, `"v\x00\xff"`},
	{1, "EXISTS dead gone", "(integer) 0"},
	{1, "LRANGE l 0 -1", "1) \"a\"\n2) \"b\"\n3) \"c\""},
	{1, "SMISMEMBER set a b c d", "1) (integer) 1\n2) (integer) 1\n3) (integer) 1\n4) (integer) 0"},
	{2, "ZRANGE z 0 -1 WITHSCORES", "1) \"c\"\n2) \"-inf\"\n3) \"a\"\n4) \"1\"\n5) \"b\"\n6) \"2.5\""},
	{1, "HGETALL h", "1) \"f1\"\n2) \"v1\"\n3) \"f2\"\n4) \"v2\""},
	{1, "PEXPIRETIME h", "(integer) 4102444800000"},
	{2, "XRANGE x - +", "1) 1) \"1-1\"\n   2) 1) \"a\"\n      2) \"1\"\n2) 1) \"2-1\"\n   2) 1) \"b\"\n      2) \"2\""},
	{2, "XPENDING x g", "1) (integer) 1\n2) \"1-1\"\n3) \"1-1\"\n4) 1) 1) \"alice\"\n      2) \"1\""},
	{2, "XADD x 3-1 c 3", "(error) ERR The ID specified in XADD is equal or smaller than the target stream top item"},
	{2, "XGROUP DELCONSUMER x g bob", "(integer) 0"},
	{2, "XREADGROUP GROUP g carol STREAMS x >", "1) 1) \"x\"\n   2) 1) 1) \"2-1\"\n         2) 1) \"b\"\n            2) \"2\""},
	{2, "XTRIM x MAXLEN ~ 0", "(integer) 2"},
	{3, "JSON.GET j $.a[1]", `"[2]"`},
	{4, "HMGET hf keep a b", "1) \"v\"\n2) \"v\"\n3) (nil)"},
	{4, "HPEXPIRETIME hf FIELDS 2 keep a", "1) (integer) -1\n2) (integer) 4102444800000"},
	{4, "HLEN hf", "(integer) 2"},
	{4, "EXISTS hd expired", "(integer) 1"},
	{5, "ARMGET arr 0 1 2 18446744073709551614", "1) \"a\"\n2) \"b\"\n3) (nil)\n4) \"z\""},
	{5, "ARINSERT log y", "(integer) 1"},
	{5, "ARGETRANGE ring 0 1", "1) \"c\"\n2) \"b\""},
	{5, "ARRING ring 2 d", "(integer) 1"},
	{6, "XPENDING nacked g", "1) (integer) 1\n2) \"1-1\"\n3) \"1-1\"\n4) (empty array)"},
	{6, "XLEN idmp", "(integer) 1"},
	{7, "GETBIT long 2000000", "(integer) 1"},
	{7, "GETRANGE long -4 -1", `"\x80end"`},
	{8, "VSIM vec ELE east WITHSCORES COUNT 2", "1) \"east\"\n2) \"1\"\n3) \"between\"\n4) \"0.8535533845424652\""},
	{8, "VGETATTR vec east", `"{\"n\":1}"`},
	{8, "VREM vec north", "(integer) 1"},
	{8, "VDIM vecq", "(integer) 2"},
	{8, "XTRIM nodes MAXLEN ~ 1", "(integer) 100"},
	{12, "FCALL_RO hello 0 you", `"hello you"`},
	{15, "TS.RANGE temperature - +", "1) 1) (integer) 1000\n   2) 2.5\n2) 1) (integer) 2000\n   2) NaN"},
	{15, "TS.QUERYINDEX area=north", "1) \"temperature\""},
	{15, "TS.GET sums LATEST", "1) (integer) 2000\n2) 7"},
	{16, "FT.SEARCH places red NOCONTENT", "1) (integer) 1\n2) \"shop:1\""},
	{16, "FT.SEARCH cheap '@price:[(1 2]' NOCONTENT", "1) (integer) 1\n2) \"shop:2\""},
	{17, "FT.SUGGET words re WITHSCORES WITHPAYLOADS", "1) \"red\"\n2) \"1.4142135381698608\"\n3) \"p\""},
	{18, "FT.SEARCH boats 'red sail*' NOCONTENT SORTBY name", "1) (integer) 2\n2) \"boat:1\"\n3) \"boat:9\""},
	{19, "FT.SEARCH boats oars NOCONTENT", "1) (integer) 1\n2) \"boat:2\""},
	{20, "FT.SEARCH boats dinghy NOCONTENT", "1) (integer) 1\n2) \"boat:12\""},
	{14, "BF.MADD bloom c d", "1) (integer) 0\n2) (integer) 1"},
	{1, "DEL s l set z h x j hf arr", ""},
	{1, "SELECT 1", "OK"},
	{1, "GET other", `"v"`},
}

// TestMigratedFiles migrates files of earlier versions: their data is unchanged, and their tables are a new file's.
func TestMigratedFiles(t *testing.T) {
	race.Skip(t)
	scripts, err := filepath.Glob("testdata/schema/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".sql")
		number, _, _ := strings.Cut(name, "-")
		version, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		seen[version] = true
		t.Run(name, func(t *testing.T) { checkKept(t, script, version) })
	}
	for version := 1; version <= schema.Version; version++ {
		if !seen[version] {
			t.Errorf("no file of version %d is kept", version)
		}
	}
}

func checkKept(t *testing.T, script string, version int) {
	open(t, local.Memory, local.Options{}) // configures SQLite, which must happen before its first use
	path := filepath.Join(t.TempDir(), "kept.sqlite")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = db.Exec(string(text)); err != nil {
		t.Fatal(err)
	}
	var is int
	if err := db.QueryRow(schema.VersionQuery).Scan(&is); err != nil || is != version {
		t.Fatalf("the file has version %d, %v", is, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	s := open(t, path, local.Options{})
	examine(t, s)
	clock := storetest.NewClock()
	clock.Advance(1795349000000 - clock.Now() + 86_400_000) // after the files, and before the expiries in 2100
	c := storetest.NewClient(t, storetest.NewEngine(s, clock))
	for _, ask := range expectedReplies {
		if ask.since > version {
			continue
		}
		if got := c.Do(ask.line); ask.reply != "" && got != ask.reply {
			t.Errorf("%s\ngot  %s\nwant %s", ask.line, got, ask.reply)
		}
	}
	examine(t, s)
}

// TestPendingDeletesMigrate migrates a file of version 12 in which elements of a deleted key remain: the sweep deletes
// them.
func TestPendingDeletesMigrate(t *testing.T) {
	open(t, local.Memory, local.Options{}) // configures SQLite, which must happen before its first use
	path := filepath.Join(t.TempDir(), "pending.sqlite")
	text, err := os.ReadFile("testdata/schema/12.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	const rows = `INSERT INTO graves(id, type) VALUES(9999, 'set'); INSERT INTO sets(key_id, hash, member, seq) VALUES(9999, 1, x'61', 1)`
	if _, err = db.Exec(string(text) + rows); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, local.Options{})
	if n := stored(t, s, "pending_deletes"); n != 1 {
		t.Errorf("%d pending deletes after the migration", n)
	}
	for range 5 { // a slice deletes rows of one table
		if _, err := s.Sweep(context.Background(), 100); err != nil {
			t.Fatal(err)
		}
	}
	if n := stored(t, s, "pending_deletes"); n != 0 {
		t.Errorf("%d pending deletes after the sweep", n)
	}
	examine(t, s)
}

// examine runs doctor on a file whose schema must be a new file's.
func examine(t *testing.T, s *local.Store) {
	t.Helper()
	query := func(s *local.Store) doctor.Query {
		return func(sql string, args ...store.Value) ([]store.Row, error) {
			r, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: sql, Args: args}}}})
			if err != nil {
				return nil, err
			}
			return r[0].Rows[0], nil
		}
	}
	tables, err := doctor.ReadTables(query(open(t, local.Memory, local.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	found, err := doctor.Exam{Query: query(s), Version: schema.Version, Tables: tables, Examples: 10}.Ours()
	if err != nil {
		t.Fatal(err)
	}
	if doctor.IsWrong(found) {
		t.Errorf("doctor finds %+v", found)
	}
}

// TestKeysOfRows compares the columns that identify a type's rows with the primary keys of their tables: the
// sweep deletes rows by these columns.
func TestKeysOfRows(t *testing.T) {
	s := open(t, local.Memory, local.Options{})
	for _, typ := range keytype.Types {
		for _, table := range typ.Tables {
			r, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{
				SQL: `SELECT group_concat(name, ' ' ORDER BY pk) FROM pragma_table_info(?1) WHERE pk > 0`, Args: []store.Value{store.String(table.Name)},
			}}}})
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Join(append([]string{"key_id"}, table.Key...), " ")
			if got := string(r[0].Rows[0][0][0].Bytes()); got != want {
				t.Errorf("%s has the primary key %s, and says %s", table.Name, got, want)
			}
		}
	}
}

// TestMigrationsEnd checks that each version after the first has a migration.
func TestMigrationsEnd(t *testing.T) {
	if len(schema.Migrations) != schema.Version {
		t.Errorf("%d migrations make version %d", len(schema.Migrations), schema.Version)
	}
}
