// Package newtype_test declares a type that Redis does not have, and looks for it
// wherever keys are counted, checked, listed and named.
package newtype_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/transfer"
)

var madeUp = &keytype.Type{
	Name: "Tally-RL", Label: "tally", Number: 200, Groups: []string{"tally"},
	Nouns:    keytype.Nouns{One: "mark", Many: "marks", Parts: []string{"name", "marks"}, Inputs: []string{"name", "marks"}},
	Commands: keytype.Commands{Count: "TALLYLEN", Read: "TALLYALL key", Page: "TALLYRANGE key after n", Pages: keytype.ByName, Add: "TALLYADD key name marks"},
	Storage: keytype.Storage{Tables: []keytype.Table{{Name: "tallies", Columns: []string{"key_id", "name", "marks"}, Key: []string{"name"}, Long: []string{"name"}, Order: "name",
		Bytes: `length(name) + 8`, Memory: `20 + length(name)`}}},
}

// tallies is a server whose only keys are tallies. It keeps them in hashes.
type tallies struct{ *engine.Session }

func newTallies(t *testing.T) tallies {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return tallies{engine.New(file).Session()}
}

func (s tallies) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	name := string(args[0])
	if instead := map[string]string{"TALLYADD": "HSET", "TALLYLEN": "HLEN", "TALLYALL": "HGETALL"}[name]; instead != "" {
		return s.Session.Do(ctx, append([][]byte{[]byte(instead)}, args[1:]...)...)
	}
	switch name {
	case "TALLYRANGE":
		return s.page(ctx, args)
	case "MEMORY": // its tables are hashes
		return resp.MakeError("ERR unknown command"), nil
	}
	v, err := s.Session.Do(ctx, args...)
	if name == "TYPE" && string(v.Str) == "hash" {
		v = resp.MakeStatus("Tally-RL")
	}
	return v, err
}

// page is TALLYRANGE: up to n names and marks after a name, "-" for the first.
func (s tallies) page(ctx context.Context, args [][]byte) (resp.Value, error) {
	v, err := s.Session.Do(ctx, []byte("HGETALL"), args[1])
	all := map[string]resp.Value{}
	flat := resp.Downgrade(v).Elems
	for i := 0; i+1 < len(flat); i += 2 {
		all[string(flat[i].Str)] = flat[i+1]
	}
	after, _ := strings.CutPrefix(string(args[2]), "(")
	most, _ := strconv.Atoi(string(args[3]))
	var page []resp.Value
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if (after == "-" || name > after) && len(page) < 2*most {
			page = append(page, resp.MakeString(name), all[name])
		}
	}
	return resp.MakeArray(page...), err
}

func (s tallies) Pipeline(ctx context.Context, calls [][][]byte) (all []resp.Value, err error) {
	for _, call := range calls {
		v, err := s.Do(ctx, call...)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// move copies all keys, by way of a file if pass makes one of them.
func move(t *testing.T, to tallies, source transfer.Source) {
	t.Helper()
	notify := func(k *transfer.Key, err error) { t.Errorf("%s: %v", k, err) }
	w := transfer.NewWriter(to, transfer.WriteOptions{Notify: notify})
	if err := transfer.Run(context.Background(), source, w, notify, nil); err != nil || w.Written().Keys != 2 {
		t.Errorf("%+v, %v", w.Written(), err)
	}
}

// differences compares what two servers have.
func differences(t *testing.T, a, b tallies) (found []string) {
	t.Helper()
	if _, err := transfer.Diff(context.Background(), a, b, transfer.DiffOptions{
		Read: transfer.ReadOptions{Databases: []int{0}}, Notify: func(k *transfer.Key, err error) { t.Errorf("%s: %v", k, err) },
		Seen: func(transfer.Part) {}, Found: func(d transfer.Difference) { found = append(found, d.Key.String()+" "+d.What+" "+d.A) },
	}); err != nil {
		t.Error(err)
	}
	return found
}

// TestMoveNewType copies small and large keys of the type from server to server, and by way of an
// archive and of JSON lines.
func TestMoveNewType(t *testing.T) {
	declare()
	ctx := context.Background()
	from := newTallies(t)
	large := keyspace.Call("TALLYADD", "large")
	for i := range 3000 {
		large = append(large, fmt.Appendf(nil, "cat %d", i), []byte("7"))
	}
	for _, call := range [][][]byte{large, keyspace.Call("TALLYADD", "votes", "cats", "3"), keyspace.Call("PEXPIREAT", "votes", "9999999999999")} {
		if v, err := from.Do(ctx, call...); err != nil || v.IsError() {
			t.Fatal(v, err)
		}
	}
	read := func() transfer.Source {
		return transfer.FromSession(ctx, from, transfer.ReadOptions{Databases: []int{0}})
	}
	for name, way := range map[string]func() transfer.Source{
		"copied": read,
		"an archive": func() transfer.Source {
			var file bytes.Buffer
			if err := transfer.Run(ctx, read(), transfer.NewArchiveWriter(&file), nil, nil); err != nil {
				t.Fatal(err)
			}
			return transfer.FromArchive(&file, transfer.ArchiveOptions{})
		},
		"JSON lines": func() transfer.Source {
			var file bytes.Buffer
			if err := transfer.Run(ctx, read(), transfer.NewJSONWriter(&file), nil, nil); err != nil {
				t.Fatal(err)
			}
			return transfer.FromJSONLines(&file)
		},
	} {
		t.Run(name, func(t *testing.T) {
			to := newTallies(t)
			move(t, to, way())
			if found := differences(t, from, to); len(found) > 0 {
				t.Errorf("%q differ", found)
			}
			if v, _ := to.Do(ctx, keyspace.Call("PEXPIRETIME", "votes")...); v.Int != 9999999999999 {
				t.Errorf("it expires at %d", v.Int)
			}
			to.Do(ctx, keyspace.Call("TALLYADD", "large", "cat 2999", "8")...)
			if found := differences(t, from, to); !slices.Equal(found, []string{`"large" value mark "cat 2999 7"`}) {
				t.Errorf("%q differ", found)
			}
		})
	}
}

// declare adds the type to those that are known.
var declare = sync.OnceFunc(func() { keytype.Types = append(keytype.Types, madeUp) })

func TestNewType(t *testing.T) {
	declare()
	ctx := context.Background()
	server := newTallies(t)
	if v, err := server.Do(ctx, keyspace.Call("TALLYADD", "votes", "cats", "3")...); err != nil || v.IsError() {
		t.Fatal(v, err)
	}

	// By commands: keys, peek, stats.
	key, err := (&keyspace.Lister{Client: server, Detail: keyspace.Measured}).DescribeOne(ctx, []byte("votes"))
	if err != nil || key.Type != "Tally-RL" || key.Count != 1 {
		t.Errorf("described as %+v, %v", key, err)
	}
	if first, err := keyspace.First(ctx, server, key, 10); err != nil || len(first) != 1 || string(first[0][1]) != "3" {
		t.Errorf("its first elements are %s, %v", first, err)
	}

	// By the tables of a file: stats, the inspector, doctor.
	clock := storetest.NewClock()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if v, err := storetest.NewEngine(file, clock).Session().Do(ctx, []byte("SADD"), []byte("votes"), []byte("x")); err != nil || v.IsError() {
		t.Fatal(v, err)
	}
	var stmts []store.Stmt
	for _, sql := range []string{
		`DELETE FROM sets`, `UPDATE keys SET type = 'Tally-RL'`,
		`CREATE TABLE tallies(key_id INTEGER, name BLOB, marks INTEGER)`, `INSERT INTO tallies SELECT id, CAST('cats' AS BLOB), 3 FROM keys`,
	} {
		stmts = append(stmts, store.Stmt{SQL: sql})
	}
	if r, err := file.Apply(ctx, []store.Batch{{Stmts: stmts}}); err != nil || r[0].Refused != nil {
		t.Fatal(r, err)
	}
	source := catalog.Snapshot{Transact: file.Transact, Now: clock.Now(), Detail: keyspace.Measured}
	if err := source.Keys(ctx, func(keys []keyspace.Key) error {
		if k := keys[0]; k.Type != "Tally-RL" || k.Count != 1 || k.Bytes != 5+12 {
			t.Errorf("stats has %+v", k)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	c := catalog.New(file, clock.Now)
	if tables, err := c.Rows(ctx, 0, "votes"); err != nil || len(tables) != 2 || tables[1].Name != "tallies" || tables[1].Rows[0][1] != `"cats"` {
		t.Errorf("the inspector's rows are %+v, %v", tables, err)
	}
	if n, err := c.Bytes(ctx, 0, ""); n != 17 || err != nil {
		t.Errorf("the inspector weighs %d bytes, %v", n, err)
	}
	keys, _, err := c.Scan(ctx, 0, 0, 10, func([]byte, string) bool { return true })
	if err != nil || len(keys) != 1 || keys[0].Type != "Tally-RL" || keys[0].Size != 1 || keys[0].Value != nil {
		t.Errorf("a list for moving has %+v, %v", keys, err)
	}
	session := storetest.NewEngine(file, clock).Session()
	for call, want := range map[string]int64{"COPY votes more": 1, "MEMORY USAGE votes": 100 + 2*5 + 24} {
		if v, err := session.Do(ctx, keyspace.Call(strings.Fields(call)...)...); err != nil || v.Int != want {
			t.Errorf("%s: %d, want %d, %v", call, v.Int, want, err)
		}
	}
	if tables, err := c.Rows(ctx, 0, "more"); err != nil || len(tables) != 2 || len(tables[1].Rows) != 1 || tables[1].Rows[0][2] != "3" {
		t.Errorf("the copy has %+v, %v", tables, err)
	}
	var checks strings.Builder
	for _, check := range doctor.Checks() {
		checks.WriteString(check.Name + strings.Join(check.Broken, " ") + strings.Join(check.Repair, " "))
	}
	if !strings.Contains(checks.String(), "SELECT 'tallies', key_id") || !strings.Contains(checks.String(), "WHEN 'Tally-RL' THEN EXISTS (SELECT 1 FROM tallies") {
		t.Error("doctor does not look at the table")
	}

	// By name: --type and its completion, keys of its commands, how people read it.
	named, ok := keytype.Named("TALLY")
	of, found := keytype.OfCommand("tally", "TALLYLEN")
	if !slices.Contains(keytype.Labels(), "tally") || !ok || named != madeUp || !found || of != madeUp || display.Type("Tally-RL") != "tally" {
		t.Error("it is not found by its names")
	}
}
