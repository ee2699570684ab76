package engine_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/store"
)

// TestDamagedKeys runs commands on keys with missing elements, on a store that holds transactions open and on one
// that cannot. Each command is answered, or its reply reports a damaged key.
func TestDamagedKeys(t *testing.T) {
	race.Skip(t)
	for name, open := range map[string]func() engine.Store{
		"transactions": func() engine.Store {
			st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { st.Close() })
			return st
		},
		"batches": func() engine.Store { return openHostile(t) },
	} {
		t.Run(name, func(t *testing.T) {
			st := open()
			session := engine.New(st).Session()
			made := words(t, "SET string 1", "RPUSH list a b", "SADD set a b", "ZADD zset 1 a 2 b", "HSET hash a 1 b 2",
				"XADD stream 1-1 f v", "XGROUP CREATE stream g 0", `JSON.SET json $ '{"a":1}'`, "ARSET array 1 v", "VADD vectorset VALUES 2 1 0 a", "VADD blockless VALUES 2 1 0 a", "BF.ADD bloom a", "CF.ADD cuckoo a", "CMS.INITBYDIM cms 2 2", "TOPK.RESERVE topk 2", "TDIGEST.CREATE tdigest", "TS.ADD series 1 2", "FT.SUGADD sugg hello 1")
			if _, err := session.Pipeline(context.Background(), made); err != nil {
				t.Fatal(err)
			}
			var gone store.Batch
			for _, table := range []string{"lists", "sets", "zsets", "hashes", "stream_entries", "documents", "arrays", "vector_blocks",
				"bloom_filters", "cuckoo_filters", "count_min_sketches", "top_k_lists", "t_digests", "samples", "suggestions"} {
				gone.Stmts = append(gone.Stmts, store.Stmt{SQL: "DELETE FROM " + table})
			}
			gone.Stmts = append(gone.Stmts, store.Stmt{SQL: "UPDATE keys SET value = NULL"})
			if _, err := st.Apply(context.Background(), []store.Batch{gone}); err != nil {
				t.Fatal(err)
			}
			cut := store.Batch{Stmts: []store.Stmt{{SQL: "UPDATE vector_blocks SET records = substr(records, 1, length(records) - 1)"}}}
			if v, err := session.Do(context.Background(), words(t, "VADD cut VALUES 2 1 0 a")[0]...); err != nil || v.IsError() {
				t.Fatal(v, err)
			}
			if _, err := st.Apply(context.Background(), []store.Batch{cut}); err != nil {
				t.Fatal(err)
			}
			if v, err := session.Do(context.Background(), words(t, "VSIM cut VALUES 2 1 0")[0]...); err != nil || !strings.Contains(string(v.Str), "rows of this key are inconsistent") {
				t.Errorf("VSIM of a damaged set: %s, %v", v.Str, err)
			}
			found := 0
			for _, key := range []string{"string", "list", "set", "zset", "hash", "stream", "json", "array", "vectorset", "bloom", "cuckoo", "cms", "topk", "tdigest", "series", "sugg"} {
				for _, cmd := range readersFirst() {
					args := words(t, cmd.Name+" "+key+" 1 1 1")[0]
					if cmd.Arity > 0 && cmd.Arity <= len(args) {
						args = args[:cmd.Arity]
					}
					v, err := session.Do(context.Background(), args...)
					if err != nil {
						t.Fatalf("%s %s: %v", cmd.Name, key, err)
					}
					if strings.Contains(string(v.Str), "rows of this key are inconsistent") {
						found++
					}
					session.Do(context.Background(), []byte("DISCARD"))
				}
			}
			if found == 0 {
				t.Error("no reply said so")
			}
		})
	}
}

// readersFirst returns all commands; commands that may delete a key come last.
func readersFirst() []*commands.Command {
	all := slices.Clone(commands.All())
	slices.SortStableFunc(all, func(a, b *commands.Command) int {
		return cmp.Compare(a.Flags&commands.Write, b.Flags&commands.Write)
	})
	return all
}
