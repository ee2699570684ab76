package repl

import (
	"context"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// manyKeys is an index with more keys than a search looks at: hashes, and one string.
type manyKeys struct{}

func (manyKeys) FirstKeys(_ context.Context, _, _ []byte, kind string, look int) (found resp.Value, next []byte, err error) {
	found = resp.EmptyMap
	for i := range look {
		typ := "hash"
		if i == 7 {
			typ = "string"
		}
		if kind == "" || kind == typ {
			found.Elems = append(found.Elems, resp.MakeBulk(fmt.Appendf(nil, "user:1:%d", i)), resp.MakeString(typ))
		}
	}
	return found, []byte("user:2"), nil
}

func (manyKeys) KeysOfType(context.Context, []byte, string, int) (found resp.Value, all bool, err error) {
	return resp.EmptyMap, false, nil
}

// TestTabKnowsNotAll has more keys than completion reads, so their common prefix is unknown.
func TestTabKnowsNotAll(t *testing.T) {
	s := newSession(t, "PING")
	for keys, want := range map[string]string{"HLEN us\t": "HLEN us", "GET us\t": "GET us"} {
		if got := edited(t, Options{Target: Target{Session: s, Keys: manyKeys{}}}, "", keys+"\x1b\r"); len(got) != 1 || got[0] != want {
			t.Errorf("%q: got %q, want %q", keys, got, want)
		}
	}
}
