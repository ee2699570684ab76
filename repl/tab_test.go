package repl

import (
	"context"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// TestTabKnowsNotAll has more keys than completion reads, so their common prefix is unknown.
func TestTabKnowsNotAll(t *testing.T) {
	s := newSession(t, "PING")
	first := func(_ context.Context, prefix []byte, limit int) (resp.Value, error) {
		v := resp.EmptyMap
		for i := range limit {
			typ := "hash"
			if i == 7 {
				typ = "string"
			}
			v.Elems = append(v.Elems, resp.MakeBulk(fmt.Appendf(nil, "user:1:%d", i)), resp.MakeString(typ))
		}
		return v, nil
	}
	for keys, want := range map[string]string{"HLEN us\t": "HLEN us", "GET us\t": "GET us"} {
		if got := edited(t, Options{Target: Target{Session: s, FirstKeys: first}}, "", keys+"\x1b\r"); len(got) != 1 || got[0] != want {
			t.Errorf("%q: got %q, want %q", keys, got, want)
		}
	}
}
