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
		prefix string
		limit  int
		want   string
	}{
		{"a:", 10, `{"a:1":"string","a:2":"list","a:3":"string"}`},
		{"a:", 2, `{"a:1":"string","a:2":"list"}`},
		{"c", 10, `{}`},
		{"\xff", 10, `{"{\"base64\":\"//8=\"}":"string"}`},
		{"", 3, `{"a":"string","a:1":"string","a:2":"list"}`},
	} {
		v, err := session.FirstKeys(ctx, []byte(c.prefix), c.limit)
		if got := string(resp.AppendJSON(nil, v)); err != nil || got != c.want {
			t.Errorf("%q: got %s, %v, want %s", c.prefix, got, err, c.want)
		}
	}
}
