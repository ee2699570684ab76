package repl

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// countedIndex counts the keys that a search looks at.
type countedIndex struct {
	KeyIndex
	looked int
}

func (c *countedIndex) FirstKeys(ctx context.Context, prefix, from []byte, kind string, look int) (found resp.Value, next []byte, err error) {
	c.looked += look
	return c.KeyIndex.FirstKeys(ctx, prefix, from, kind, look)
}

func (c *countedIndex) KeysOfType(ctx context.Context, prefix []byte, kind string, look int) (found resp.Value, all bool, err error) {
	c.looked += look
	return c.KeyIndex.KeysOfType(ctx, prefix, kind, look)
}

// TestCompletionAmongManyKeys finds keys that no bounded reading in order would reach.
func TestCompletionAmongManyKeys(t *testing.T) {
	s := newSession(t, "ZADD vote:1 1 a", "ZADD vote:2 1 a", "ZADD zz 1 a", "SET zebra v", "HSET Shop:Berlin f v")
	for i := range 3 * maxKeysSeen {
		if _, err := s.Do(t.Context(), []byte("HSET"), fmt.Appendf(nil, "cart:%d", i), []byte("f"), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	index := &countedIndex{KeyIndex: s}
	for line, want := range map[string][]string{
		"ZSCORE ":      {"vote:1", "vote:2", "zz"},
		"ZSCORE v":     {"vote:1", "vote:2"},
		"GET ":         {"zebra"},
		"HGET 5999":    {"cart:5999"}, // below a prefix
		"GET ebr":      {"zebra"},     // within
		"GET zbr":      {"zebra"},     // scattered
		"HGET berl":    {"Shop:Berlin"},
		"HGET q":       nil,
		"ZSCORE ebr":   nil,
		"SADD cart:59": nil,
	} {
		index.looked = 0
		if got := completions(Target{Session: s, Keys: index}, line); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
		if most := 4 * (maxKeysSeen + maxTypeSeeks + maxFolders*(maxFolderKeys+1)); index.looked > most {
			t.Errorf("%q looked at %d keys", line, index.looked)
		}
	}
	// On a server SCAN finds them, given the time.
	defer func(limit time.Duration) { LookupTime = limit }(LookupTime)
	LookupTime = time.Minute
	for line, want := range map[string][]string{"ZSCORE ": {"vote:1", "vote:2", "zz"}, "GET zbr": {"zebra"}, "HGET 5999": {"cart:5999"}} {
		if got := completions(Target{Session: s}, line); !slices.Equal(got, want) {
			t.Errorf("%q by SCAN: got %q, want %q", line, got, want)
		}
	}
}

// TestSimilarIsOnlyOffered checks that TAB does not insert a text that does not begin with
// the typed one, and that typing narrows the menu.
func TestSimilarIsOnlyOffered(t *testing.T) {
	s := newSession(t, "SET user:77 v", "SET user:78 v", "HSET tom first_name Tom")
	o := Options{Target: Target{Session: s, Keys: s}}
	for keys, want := range map[string]string{
		"GET 77\t\r":        "GET 77",
		"GET 77\t\t\r":      "GET user:77 ",
		"GET 7\t8\t\r":      "GET user:78 ",
		"HGET tom na\t\t\r": "HGET tom first_name ",
	} {
		if got := edited(t, o, "", keys); len(got) != 1 || got[0] != want {
			t.Errorf("%q: got %q, want %q", keys, got, want)
		}
	}
}
