package repl

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/meowdis/meowdis/keyspace"
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
	for line, want := range map[string][]string{"ZSCORE ": {"vote:1", "vote:2", "zz"}, "GET zbr": {"zebra"}, "HGET 5999": {"cart:5999"}} {
		if got := completions(Target{Session: s, LookupTime: time.Minute}, line); !slices.Equal(got, want) {
			t.Errorf("%q by SCAN: got %q, want %q", line, got, want)
		}
	}
}

// TestSearchUntilTheTimeIsOver finds keys that contain a text anywhere among many keys while it has time, and among the
// first keys of each prefix and of the type in any case.
func TestSearchUntilTheTimeIsOver(t *testing.T) {
	s := newSession(t)
	do := func(words ...string) {
		if v, err := s.Do(t.Context(), keyspace.Call(words...)...); err != nil || v.IsError() {
			t.Fatal(words, err, string(v.Str))
		}
	}
	for i := range 2 * maxKeysSeen {
		do("SET", fmt.Sprintf("key:%d", i), "v")
	}
	do("HSET", "key:5:cart", "f", "v") // neither among the first keys in order nor among those of a prefix
	do("HSET", "user:1:cart", "f", "v")
	for i := range 2 * maxTypeSeeks {
		do("HSET", fmt.Sprintf("user:2:%d", i), "f", "v")
	}
	do("HSET", "user:3:basket", "f", "v")
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		line string
		step time.Duration // between two looks at the clock
		want []string
		more bool
	}{
		{"HGET cart", 0, []string{"key:5:cart", "user:1:cart"}, false},
		{"HGET cart", time.Hour, []string{"key:5:cart", "user:1:cart"}, true}, // by type
		{"HGET bskt", 0, []string{"user:3:basket"}, false},
		{"HGET bskt", time.Hour, nil, true},
		{"GET y:3999", 0, []string{"key:3999"}, false},
		{"GET y:3999", time.Hour, nil, true},
	} {
		a := &asker{target: Target{Session: s, Keys: s}, now: func() time.Time { now = now.Add(c.step); return now }}
		answer := <-a.ask(t.Context(), *complete(c.line, &Options{}).ask)
		var got []string
		for _, item := range answer.items {
			got = append(got, item.value)
		}
		if !slices.Equal(got, c.want) || answer.partial != c.more {
			t.Errorf("%q with %s: got %q, want %q; partial is %v", c.line, c.step, got, c.want, answer.partial)
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
