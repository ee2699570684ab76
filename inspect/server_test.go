package inspect

import (
	"context"
	"testing"
	"time"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// serves makes the fake answer the commands of the server pane.
func (f *fake) serves() {
	text := resp.MakeString
	f.answers = map[string]resp.Value{
		"CLIENT LIST": text("id=7 addr=127.0.0.1:42752 laddr=127.0.0.1:6379 name=web-1 age=90 idle=3 flags=N db=2 cmd=get user=ann lib-name=go-redis lib-ver=9.7\n" +
			"id=12 addr=127.0.0.1:42754 name= age=2 idle=0 flags=N db=0 cmd=client|list user=default lib-name= lib-ver=\n"),
		"CLIENT ID": resp.MakeInt(12),
		"SLOWLOG GET": resp.MakeArray(resp.MakeArray(resp.MakeInt(3), resp.MakeInt(f.clock.now/1000-75), resp.MakeInt(338800),
			bulks([]string{"HGETALL", "user:1"}), text("127.0.0.1:42752"), text("web-1"))),
		"PUBSUB CHANNELS": bulks([]string{"news:b", "news:a"}),
		"PUBSUB NUMPAT":   resp.MakeInt(1),
		"PUBSUB NUMSUB":   resp.MakeArray(text("news:b"), resp.MakeInt(1), text("news:a"), resp.MakeInt(3)),
		"INFO":            text("# Stats\r\ntotal_commands_processed:1200\r\ninstantaneous_ops_per_sec:42\r\nkeyspace_hits:90\r\nkeyspace_misses:10\r\nused_memory:1572864\r\nconnected_clients:2\r\ntotal_net_input_bytes:99\r\n"),
		"INFO memory":     text("# Memory\r\nused_memory:1572864\r\nused_memory_human:1.50M\r\nmem_fragmentation_ratio:1.25\r\nmaxmemory_policy:noeviction\r\n"),
		"MEMORY STATS":    resp.MakeArray(text("peak.allocated"), resp.MakeInt(2097152), text("keys.count"), resp.MakeInt(13), text("db.0"), resp.MakeArray(text("overhead.hashtable.main"), resp.MakeInt(904))),
		"MEMORY DOCTOR":   text("Hi Sam, I can't find any memory issue in your instance."),
	}
	f.options = func(o *Options) {
		o.Listen = func(_ context.Context, call [][]byte, _ func(error), each func(resp.Value) error) error {
			for _, v := range map[string][]resp.Value{
				"SUBSCRIBE":  {bulks([]string{"subscribe", "news:a", "1"}), bulks([]string{"message", "news:a", "hello there"})},
				"PSUBSCRIBE": {bulks([]string{"pmessage", "*", "news:b", "\x1b[31mred"})},
				"MONITOR":    {resp.OK, resp.MakeStatus(`1700000000.123456 [0 127.0.0.1:42752] "set" "x" "a b"`)},
			}[string(call[0])] {
				if err := each(v); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// TestRealServer checks that a real server accepts the commands of the server pane.
func TestRealServer(t *testing.T) {
	race.Skip(t)
	server := oracle.Start(t)
	conn, other := server.Dial(t), server.Dial(t)
	for _, line := range [][]string{{"CLIENT", "SETNAME", "victim"}, {"CONFIG", "SET", "slowlog-log-slower-than", "0"}, {"SUBSCRIBE", "news"}} {
		if v := other.Do(client.Command(line...)...); v.IsError() {
			t.Fatalf("%v: %s", line, v.Str)
		}
	}
	f := newFake()
	f.options = func(o *Options) {
		o.Unlock = func(context.Context) (keyspace.Client, error) { return real{conn: conn}, nil }
	}
	s := browseOn(t, real{conn: conn}, f, 120, 30)
	s.press("M")
	s.wait(3 * time.Second)
	s.shows("[1 Activity]", "commands", "memory", "clients", "▁")
	s.press("2")
	s.shows("2 clients", "victim", "(inspector)")
	s.press("3")
	s.shows("TOOK", "CLIENT LIST", "victim")
	s.press("4")
	s.shows("1 channel", "news")
	s.press("6")
	s.shows("used memory")
	s.press("end")
	s.shows("fragmentation")

	s.press("2", "end", "d")
	s.shows("read-only")
	s.press("w", "d")
	s.shows("Close client", "CLIENT KILL ID")
	s.press("n")
	s.shows("2 clients")
	s.press("d", "y")
	s.shows("Closed client")
	s.wait(3 * time.Second)
	s.shows("1 client ")
	s.hides("victim")
	s.press("d")
	s.shows("This client is the inspector itself.")
}
