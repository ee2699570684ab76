package inspect

import (
	"context"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// real is a real Redis as a Client.
type real struct {
	keyspace.Client
	conn *oracle.Conn
}

func (r real) Pipeline(_ context.Context, calls [][][]byte) ([]resp.Value, error) {
	values := make([]resp.Value, len(calls))
	for i, call := range calls {
		values[i] = r.conn.Do(call...)
	}
	return values, nil
}

// TestRealRedis checks that a real server accepts every command of the browser, and that the browser
// parses the replies.
func TestRealRedis(t *testing.T) {
	conn := oracle.Start(t).Dial(t)
	do := func(words ...string) {
		if v := conn.Do(client.Command(words...)...); v.IsError() {
			t.Fatalf("%v: %s", words, v.Str)
		}
	}
	for i := range 1000 {
		n := fmt.Sprint(i)
		do("HSET", "hash", "field"+n, "value"+n)
		do("RPUSH", "list", "item"+n)
		do("SADD", "set", "member"+n)
		do("ZADD", "zset", n+".5", "player"+n)
	}
	do("SET", "string", "some text", "PX", "86400000")
	do("XADD", "stream", "1-1", "a", "b")

	keys := "6 keys"
	type look struct{ key, head, end string }
	var vectors []look
	if !conn.Version().Before("8.0") {
		keys, vectors = "7 keys", []look{{"vec", "300 elements", "e299"}}
		for i := range 300 {
			do("VADD", "vec", "VALUES", "2", "1", "0", fmt.Sprintf("e%03d", i))
		}
	}

	s := browseOn(t, real{conn: conn}, newFake(), 80, 24)
	s.shows(keys, "stream", "1d 00h")
	for _, c := range append(vectors, []look{
		{"hash", "1,000 fields", "1,000 of 1,000"},
		{"list", "item0", "item999"},
		{"set", "1,000 members", "1,000 of 1,000"},
		{"zset", "player0", "999.5  player999"},
		{"string", "expires in", "some text"},
		{"stream", "1 entry", "1-1  a=b"},
	}...) {
		s.press("/")
		s.typing(c.key + "*")
		s.press("enter", "enter")
		s.shows(c.head)
		s.press("end")
		s.shows(c.end)
		s.press("esc", "esc")
	}
	s.press("t", "z", "enter")
	s.shows("1 of 1 found", "zset")
	s.press("0", "4", "enter")
	s.shows("db 4 · 0 keys", "No match")
}
