package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// TestSourcesAgree reads the same keys from the tables of a file and by commands.
func TestSourcesAgree(t *testing.T) {
	clock := storetest.NewClock()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx := context.Background()
	session := storetest.NewEngine(file, clock).Session()
	do := func(line string) {
		t.Helper()
		var args [][]byte
		for _, w := range strings.Fields(line) {
			args = append(args, []byte(w))
		}
		if v, err := session.Do(ctx, args...); err != nil || v.IsError() {
			t.Fatalf("%s: %s %v", line, v.Str, err)
		}
	}
	do("SELECT 1")
	do("SET elsewhere v")
	do("SELECT 0")
	for i := range 2500 { // several pages for both
		do(fmt.Sprintf("SET string:%d %s", i, strings.Repeat("v", i%50)+"v"))
	}
	for _, line := range []string{
		"SET gone v PX 10", "SET later v PX 5000", "HSET hash a b c d", "HSETEX fields PX 10 FIELDS 1 gone v", "HSET fields stays v",
		"RPUSH list a b c", "SADD set a b", "ZADD zset 1 a", "XADD stream 1-1 a b", "JSON.SET doc $ [1,2]", "ARSET array 7 x y", "VADD vec VALUES 2 1 0 a SETATTR {}", "VADD vec VALUES 2 0 1 bb",
		"BF.ADD bloom a", "CF.ADD cuckoo a", "CMS.INITBYDIM cms 2 2", "TOPK.RESERVE topk 2", "TDIGEST.CREATE tdigest", "TS.ADD series 1 2 LABELS a b", "FT.SUGADD sugg hello 1 PAYLOAD p", "SET empty x", "SETRANGE empty 0 y",
	} {
		do(line)
	}
	clock.Advance(20)
	read := func(pages keyspace.Pages) (lines []string) {
		err := pages(ctx, func(keys []keyspace.Key) error {
			for _, k := range keys {
				lines = append(lines, fmt.Sprintf("%s %s %d %d %d", k.Name, k.Type, k.TTL, k.Count, k.Bytes))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(lines)
		return lines
	}
	source := catalog.Snapshot{Transact: file.Transact, Now: clock.Now(), Detail: keyspace.Measured}
	tables := read(source.Keys)
	commands := read((&keyspace.Lister{Client: session, Detail: keyspace.Measured, Bytes: source.Measure}).Keys)
	if want := "hash hash -1 2 8"; !slices.Contains(tables, want) {
		t.Errorf("the hash is not told as %q", want)
	}
	if len(tables) != 2518 || !slices.Equal(tables, commands) {
		t.Errorf("tables have %d keys, commands %d", len(tables), len(commands))
		for i := range min(len(tables), len(commands)) {
			if tables[i] != commands[i] {
				t.Fatalf("tables: %s, commands: %s", tables[i], commands[i])
			}
		}
	}
}

// TestBytesAgree checks that stats and the inspector measure the same bytes for all types.
func TestBytesAgree(t *testing.T) {
	clock := storetest.NewClock()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx := context.Background()
	session := storetest.NewEngine(file, clock).Session()
	for _, line := range []string{
		"SET string v", "SETRANGE long 200000 y", "HSET hash a b", "HSETEX hash PX 10 FIELDS 1 gone v", "RPUSH list a", "SADD set a", "ZADD zset 1 a",
		"XADD stream 1-1 a b", "JSON.SET doc $ [1]", "ARSET array 7 x y", "VADD vec VALUES 2 1 0 a SETATTR {}", "VADD vec VALUES 2 0 1 bb",
		"BF.ADD bloom a", "CF.ADD cuckoo a", "CMS.INITBYDIM cms 2 2", "TOPK.RESERVE topk 2", "TDIGEST.CREATE tdigest", "TS.ADD series 1 2 LABELS a b", "FT.SUGADD sugg hello 1 PAYLOAD p",
	} {
		var args [][]byte
		for _, w := range strings.Fields(line) {
			args = append(args, []byte(w))
		}
		if v, err := session.Do(ctx, args...); err != nil || v.IsError() {
			t.Fatalf("%s: %s %v", line, v.Str, err)
		}
	}
	clock.Advance(20)
	sums := map[string]int64{}
	total := int64(0)
	source := catalog.Snapshot{Transact: file.Transact, Now: clock.Now(), Detail: keyspace.Measured}
	if err := source.Keys(ctx, func(keys []keyspace.Key) error {
		for _, k := range keys {
			sums[k.Type] += k.Bytes
			total += k.Bytes
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	c := catalog.New(file, clock.Now)
	s := c.Sum(0, "", ":")
	if err := s.ReadSlice(ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Types()); n != len(keytype.Types) {
		t.Errorf("%d types", n)
	}
	for _, k := range s.Types() {
		if k.Bytes != sums[k.Name] {
			t.Errorf("%s: %d bytes in the inspector's overview, %d in stats", k.Name, k.Bytes, sums[k.Name])
		}
	}
	if n, err := c.Bytes(ctx, 0, ""); n != total || err != nil {
		t.Errorf("the inspector's folders have %d bytes, stats %d, %v", n, total, err)
	}
}

// TestDeclaredTables compares the declared tables of types with the tables of a file: a key is
// copied without its undeclared tables.
func TestDeclaredTables(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	result, err := file.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: `
		SELECT m.name, group_concat(c.name, ' ' ORDER BY c.cid) FROM sqlite_schema m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'search\_%' ESCAPE '\' GROUP BY m.name HAVING sum(c.name = 'key_id') > 0 ORDER BY m.name`}}}})
	if err != nil {
		t.Fatal(err)
	}
	var found, declared []string
	for _, row := range result[0].Rows[0] {
		found = append(found, string(row[0].Bytes())+": "+string(row[1].Bytes()))
	}
	for _, typ := range keytype.Types {
		for _, table := range typ.Tables {
			declared = append(declared, table.Name+": "+strings.Join(table.Columns, " "))
		}
	}
	slices.Sort(declared)
	if !slices.Equal(found, declared) {
		t.Errorf("a file has\n%s\nkeytype declares\n%s", strings.Join(found, "\n"), strings.Join(declared, "\n"))
	}
}
