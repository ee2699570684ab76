package indexes_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace/indexes"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// newShop returns a function that runs commands on two indexes with documents.
func newShop(t *testing.T) indexes.Do {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	s := engine.New(file).Session()
	do := func(ctx context.Context, call [][]byte) (resp.Value, error) { return s.Do(ctx, call...) }
	for _, line := range []string{
		"FT.CREATE products ON JSON PREFIX 2 p: q: SCHEMA $.name AS name TEXT WEIGHT 2 NOSTEM SORTABLE $.kind AS kind TAG CASESENSITIVE",
		`JSON.SET p:1 $ '{"name":"red shoes"}'`, `JSON.SET q:2 $ '{"name":"blue shoes"}'`, `JSON.SET p:3 $ '{"name":"hat"}'`,
		"SEARCH.CREATE books ON HASH PREFIX 1 book: SCHEMA title TEXT year U64 FAST FROM printed", "HSET book:1 title Emma printed 1815", "SEARCH.WAITINDEXING books",
	} {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := do(context.Background(), args); err != nil || v.IsError() {
			t.Fatal(line, err, string(v.Str))
		}
	}
	return do
}

func TestAll(t *testing.T) {
	all, err := indexes.All(context.Background(), newShop(t))
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for i := range all {
		if all[i].Bytes == 0 {
			t.Errorf("%s has no bytes", all[i].Name)
		}
		all[i].Bytes = 0
	}
	got := fmt.Sprintf("%+v", all)
	want := "[{Name:books Upstash:true Type:HASH Prefixes:[book:] Filter: Options:[] Fields:[{Name:title Source:title Type:TEXT Options:[]} {Name:year Source:printed Type:U64 Options:[FAST]}] Docs:1 Bytes:0 Indexed:1 Failures:0 Err:<nil>}" +
		" {Name:products Upstash:false Type:JSON Prefixes:[p: q:] Filter: Options:[] Fields:[{Name:name Source:$.name Type:TEXT Options:[WEIGHT 2 SORTABLE UNF NOSTEM]} {Name:kind Source:$.kind Type:TAG Options:[CASESENSITIVE]}] Docs:3 Bytes:0 Indexed:1 Failures:0 Err:<nil>}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFind(t *testing.T) {
	do := newShop(t)
	for _, c := range []struct {
		index, query string
		upstash      bool
		offset, n    int
		keys         []string
		total        int64
	}{
		{"products", "shoes", false, 0, 10, []string{"p:1", "q:2"}, 2},
		{"products", "shoes", false, 1, 1, []string{"q:2"}, 2},
		{"products", "", false, 3, 10, nil, 3},
		{"products", "nothing", false, 0, 10, nil, 0},
		{"books", `{"title":"emma"}`, true, 0, 10, []string{"book:1"}, 1},
		{"books", "", true, 0, 10, []string{"book:1"}, 1},
	} {
		found, err := indexes.Find(context.Background(), do, c.index, c.upstash, c.query, c.offset, c.n)
		if slices.Sort(found.Keys); err != nil || !slices.Equal(found.Keys, c.keys) && !(c.offset > 0 && len(found.Keys) == len(c.keys)) || found.Total != c.total {
			t.Errorf("%s %q from %d: %+v, error %v", c.index, c.query, c.offset, found, err)
		}
	}
	if _, err := indexes.Find(context.Background(), do, "products", false, "@nope:(", 0, 1); err == nil {
		t.Error("a wrong query has no error")
	}
	resp3 := func(context.Context, [][]byte) (resp.Value, error) {
		return resp.MakeMap(resp.MakeString("total_results"), resp.MakeInt(7), resp.MakeString("results"),
			resp.MakeArray(resp.MakeMap(resp.MakeString("id"), resp.MakeString("cat"), resp.MakeString("values"), resp.EmptyArray))), nil
	}
	found, err := indexes.Find(context.Background(), resp3, "cats", false, "", 0, 1)
	if err != nil || found.Total != 7 || !slices.Equal(found.Keys, []string{"cat"}) {
		t.Errorf("in RESP3: %+v, error %v", found, err)
	}
}

// TestWithoutSearch reads the indexes of a target that refuses the commands: it has none.
func TestWithoutSearch(t *testing.T) {
	refuse := func(context.Context, [][]byte) (resp.Value, error) { return resp.MakeError("ERR unknown command"), nil }
	if all, err := indexes.All(context.Background(), refuse); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	broken := func(context.Context, [][]byte) (resp.Value, error) { return resp.Nil, context.DeadlineExceeded }
	if _, err := indexes.All(context.Background(), broken); err == nil {
		t.Error("a failure is not reported")
	}
	dropped := func(_ context.Context, call [][]byte) (resp.Value, error) {
		if string(call[0]) == "FT._LIST" {
			return resp.MakeArray(resp.MakeString("gone")), nil
		}
		return resp.MakeError("Unknown index name"), nil
	}
	if all, err := indexes.All(context.Background(), dropped); err != nil || len(all) != 1 || all[0].Err == nil {
		t.Error(all, err)
	}
}
