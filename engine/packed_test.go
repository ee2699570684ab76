package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// TestPackedReplies compares long replies of a session that packs them with those of one that does not, bounds the
// memory that is allocated for them, and reads them again in case the row cache has kept a part.
func TestPackedReplies(t *testing.T) {
	race.Skip(t)
	const elements = 6_000
	st, err := local.Open(filepath.Join(t.TempDir(), "long"), local.Options{SweepEvery: -1, RowCacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e := engine.New(st)
	plain, packing := e.Session(), e.Session()
	packing.PackReplies()
	do := func(s *engine.Session, line string) resp.Value {
		t.Helper()
		v, err := s.Do(context.Background(), split(t, []string{line})[0]...)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, call := range []struct {
		name, format string
	}{
		{"HSET h", " field:%[1]d value:%[1]d"}, {"SADD s", " member:%d"}, {"RPUSH l", " element:%d"},
		{"ZADD z", " %[1]d.5 member:%[1]d"}, {"MSET", " key:%[1]d v"}, {"RPUSH numbers", " %[1]d.5 -%[1]d %[1]de-3"}, {"SADD integers", " %d"},
	} {
		var line strings.Builder
		line.WriteString(call.name)
		for i := range elements {
			fmt.Fprintf(&line, call.format, i*7919%elements)
		}
		do(plain, line.String())
	}
	for _, line := range []string{
		"KEYS *", "KEYS key:1*", "KEYS *7", "KEYS none*", "HGETALL h", "HKEYS h", "HVALS h", "SMEMBERS s",
		"LRANGE l 0 -1", "LRANGE l 5 -5", "ZRANGE z 0 -1", "ZRANGE z 0 -1 WITHSCORES", "ZRANGE z 0 -1 REV WITHSCORES",
		"ZRANGE z 20 -1", "ZREVRANGE z 20 -1", "ZRANGE z -inf +inf BYSCORE WITHSCORES", "ZRANGE z - + BYLEX",
		"SUNION s none", "SINTER s s", "SDIFF s none",
		"SORT numbers", "SORT numbers DESC", "SORT numbers ALPHA", "SORT l ALPHA DESC", "SORT_RO s ALPHA", "SORT z BY nosort", "SORT z BY nosort DESC", "SORT l BY nosort",
		"SORT l", "SORT integers BY nosort", "SORT integers DESC", "SORT z ALPHA LIMIT 5 10", "SORT h",
		"HGETALL l", "SMEMBERS none", "LRANGE h 0 -1", "ZRANGE h 0 -1",
	} {
		want := do(plain, line)
		for range 3 { // a miss, a miss that is kept, and a hit
			before := allocated()
			got := do(packing, line)
			took := allocated() - before
			if !bytes.Equal(resp.Append3(nil, got), resp.Append3(nil, want)) {
				t.Errorf("%s: %.100q, want %.100q", line, resp.Append3(nil, got), resp.Append3(nil, want))
			}
			long := want.Len() >= elements/2
			if long != (got.Packed != nil) && line != "KEYS key:1*" && line != "KEYS *7" && line != "KEYS none*" {
				t.Errorf("%s: %d elements, packed is %v", line, want.Len(), got.Packed != nil)
			}
			// SQLite's memory is not Go's. Rows and values took 250 bytes for each element.
			if most := uint64(1<<20 + 80*want.Len()); long && took > most {
				t.Errorf("%s: %d bytes for %d elements, want at most %d", line, took, want.Len(), most)
			}
		}
	}
	// A transaction's and a script's replies are not packed, and the budget still counts.
	do(packing, "MULTI")
	do(packing, "LRANGE l 0 -1")
	if v := do(packing, "EXEC"); len(v.Elems) != 1 || len(v.Elems[0].Elems) != elements {
		t.Errorf("EXEC: %d elements", len(v.Elems))
	}
	if v := do(packing, `EVAL "return #redis.call('LRANGE', 'l', 0, -1)" 0`); v.Int != elements {
		t.Errorf("EVAL: %v", v)
	}
	budget := store.NewBudget(nil, 300<<10, 0)
	packing.Bound(budget)
	if v := do(packing, "LRANGE l 0 -1"); string(v.Str) != string(store.RequestTooLarge.Str) {
		t.Errorf("a reply beyond the budget: %.60q", resp.Append3(nil, v))
	}
	budget.Rewind(0)
	packing.Bound(store.NewBudget(nil, 900<<10, 0)) // enough only for a packed reply
	if v := do(packing, "LRANGE l 0 -1"); v.Len() != elements {
		t.Errorf("a reply within the budget: %.60q", resp.Append3(nil, v))
	}
}
