package engine_test

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/redis/resp"
)

func TestFirstKeys(t *testing.T) {
	clock := storetest.NewClock()
	session := storetest.NewEngine(openHostile(t), clock).Session()
	ctx := context.Background()
	if _, err := session.Pipeline(ctx, words(t, "MSET b 1 a:1 1 a:3 1 a 1", "RPUSH a:2 x", "SET a:0 v PX 10", `SET "\xff\xff" v`, "SELECT 1", "SET a:9 v", "SELECT 0")); err != nil {
		t.Fatal(err)
	}
	clock.Advance(11)
	for _, c := range []struct {
		prefix, from, kind string
		look               int
		want, next         string
	}{
		{"a:", "a:", "", 10, `{"a:1":"string","a:2":"list","a:3":"string"}`, ""},
		{"a:", "a:", "", 3, `{"a:1":"string","a:2":"list"}`, "a:3"}, // it looks at the expired a:0, too
		{"a:", "a:2", "", 10, `{"a:2":"list","a:3":"string"}`, ""},
		{"a:", "a:", "list", 10, `{"a:2":"list"}`, ""},
		{"a:", "a:", "list", 2, `{}`, "a:2"},
		{"c", "c", "", 10, `{}`, ""},
		{"\xff", "\xff", "", 10, `{"{\"base64\":\"//8=\"}":"string"}`, ""},
		{"", "", "", 3, `{"a":"string","a:1":"string"}`, "a:2"},
	} {
		v, next, err := session.FirstKeys(ctx, []byte(c.prefix), []byte(c.from), c.kind, c.look)
		if got := string(resp.AppendJSON(nil, v)); err != nil || got != c.want || string(next) != c.next {
			t.Errorf("%q: got %s and %q, %v, want %s", c.prefix, got, next, err, c.want)
		}
	}
}

func TestKeysOfType(t *testing.T) {
	session := storetest.NewEngine(openHostile(t), storetest.NewClock()).Session()
	ctx := context.Background()
	if _, err := session.Pipeline(ctx, words(t, "SET s v", "HSET a:h f v", "LPUSH a:l v", "SADD a:s v", "ZADD a:z 1 v", "XADD a:x * f v", "JSON.SET a:j $ 1", "ARSET a:a 0 v", "VADD a:v VALUES 1 1 e",
		"ZADD b:z 1 v 2 w", "SELECT 1", "ZADD a:other 1 v", "SELECT 0")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		prefix, kind string
		look         int
		want         string
		all          bool
	}{
		{"a:", "hash", 10, `{"a:h":"hash"}`, true}, {"a:", "list", 10, `{"a:l":"list"}`, true}, {"a:", "set", 10, `{"a:s":"set"}`, true},
		{"a:", "stream", 10, `{"a:x":"stream"}`, true}, {"a:", "ReJSON-RL", 10, `{"a:j":"ReJSON-RL"}`, true},
		{"a:", "array", 10, `{"a:a":"array"}`, true}, {"a:", "vectorset", 10, `{"a:v":"vectorset"}`, true},
		{"a:", "zset", 10, `{"a:z":"zset"}`, true}, {"", "zset", 10, `{"a:z":"zset","b:z":"zset"}`, true},
		{"", "zset", 2, `{"a:z":"zset","b:z":"zset"}`, false}, {"c", "zset", 10, `{}`, true}, {"", "string", 10, `{}`, false},
	} {
		v, all, err := session.KeysOfType(ctx, []byte(c.prefix), c.kind, c.look)
		if got := string(resp.AppendJSON(nil, v)); err != nil || got != c.want || all != c.all {
			t.Errorf("%s with %q: got %s, %v, %v, want %s", c.kind, c.prefix, got, all, err, c.want)
		}
	}
}
