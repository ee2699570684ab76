package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// slowCalls lists calls; the slow log of them must equal redis-server's.
var slowCalls = [][]string{
	{"CONFIG", "SET", "slowlog-log-slower-than", "0"},
	{"SLOWLOG", "RESET"},
	{"CLIENT", "SETNAME", "tom"},
	{"SET", "k", strings.Repeat("x", 128)},
	{"SET", "k", strings.Repeat("x", 129)},
	append([]string{"MSET"}, strings.Fields(numbers(31)+" x")...)[:32],
	append([]string{"DEL"}, strings.Fields(numbers(40))...),
	{"lpush", "l", "a"},
	{"GET", "l"},
	{"NOSUCH"},
	{"GET"},
	{"MULTI"},
	{"GET", "nokey"},
	{"LPUSH", "l", "b"},
	{"EXEC"},
	{"MULTI"},
	{"DISCARD"},
	{"EVAL", "redis.call('SET', 'a', '1') return redis.call('GET', 'a')", "0"},
	{"CONFIG", "SET", "slowlog-max-len", "100", "requirepass", "secret"},
	{"AUTH", "secret"},
	{"AUTH", "default", "wrong"},
	{"HELLO", "2", "AUTH", "default", "secret", "SETNAME", "felix"},
	{"ACL", "SETUSER", "bob", "on", ">password"},
	{"CONFIG", "SET", "requirepass", ""},
	{"SLOWLOG", "LEN"},
	{"SLOWLOG", "GET", "0"},
	{"SLOWLOG", "GET", "-1"},
	{"SLOWLOG", "GET", "-2"},
	{"SLOWLOG", "GET", "x"},
	{"SLOWLOG", "GET", "1", "2"},
	{"SLOWLOG", "GET"},
	{"CONFIG", "SET", "slowlog-max-len", "3"},
	{"SLOWLOG", "GET", "2"},
	{"SLOWLOG", "LEN"},
	{"CONFIG", "SET", "slowlog-log-slower-than", "-1"},
	{"SLOWLOG", "RESET"},
	{"GET", "k"},
	{"SLOWLOG", "LEN"},
	{"CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "0"},
	{"GET", "k"},
	{"SLOWLOG", "LEN"},
	{"LATENCY", "HISTORY", "nosuch"},
	{"LATENCY", "GRAPH", "nosuch"},
	{"LATENCY", "LATEST"},
	{"LATENCY", "RESET"},
	{"LATENCY", "RESET", "a", "b"},
	{"LATENCY", "HISTOGRAM", "nosuch", "hgetall"},
	{"LATENCY", "HISTORY"},
	{"LATENCY", "NOSUCH"},
	{"SLOWLOG", "NOSUCH"},
}

func TestSlowLog(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	old := redis.Version().Before("8.0")
	c := serve(t, server.Config{}).dial(t)
	first := int64(-1)
	for _, call := range slowCalls {
		got, want := c.do(call...), redis.Do(words(call...)...)
		if strings.EqualFold(call[0], "SLOWLOG") && call[1] == "GET" && len(want.Elems) > 0 {
			if len(got.Elems) != len(want.Elems) {
				t.Errorf("%q has %d entries, with redis-server %d", call, len(got.Elems), len(want.Elems))
				continue
			}
			for i := range want.Elems {
				g, w := slowEntry(got.Elems[i], old), slowEntry(want.Elems[i], old)
				if first < 0 { // IDs begin with the first call of the test
					first = want.Elems[i].Elems[0].Int - got.Elems[i].Elems[0].Int
				}
				g += fmt.Sprint(" id ", got.Elems[i].Elems[0].Int+first)
				w += fmt.Sprint(" id ", want.Elems[i].Elems[0].Int)
				if g != w {
					t.Errorf("%q\nserver:       %s\nredis-server: %s", call, g, w)
				}
			}
			continue
		}
		if g, w := show(got), show(want); g != w && call[0] != "HELLO" && !(old && call[0] == "CONFIG") {
			t.Errorf("%q answers %s, redis-server %s", call, g, w)
		}
	}
}

// slowEntry returns an entry without its times and addresses. Before 8.0 a script's commands have addresses, too.
func slowEntry(e resp.Value, old bool) string {
	var args []string
	for _, arg := range e.Elems[3].Elems {
		args = append(args, string(arg.Str))
	}
	return fmt.Sprintf("%q %v %q", args, old || len(e.Elems[4].Str) > 0, e.Elems[5].Str)
}

// Histograms contain commands that ran. The name of a container selects its subcommands.
func TestLatencyHistogram(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	for _, call := range []string{"SET k v", "GET k", "GET k", "CONFIG GET x", "CONFIG RESETSTAT", "GET k", "CONFIG GET x", "GET"} {
		c.do(strings.Fields(call)...)
	}
	var names []string
	for pair := range slices.Chunk(c.do("LATENCY", "HISTOGRAM", "get", "config", "set", "nosuch").Elems, 2) {
		names = append(names, string(pair[0].Str))
		if n := pair[1].Elems[1].Int; n != 1 {
			t.Errorf("%s ran %d times, want once", names, n)
		}
		if bars := pair[1].Elems[3].Elems; len(bars) != 2 || bars[1].Int != 1 {
			t.Errorf("%s: the bars are %s", names, show(pair[1]))
		}
	}
	if got, want := fmt.Sprint(names), "[get config|get config|resetstat]"; got != want {
		t.Errorf("there are histograms of %s, want %s", got, want)
	}
	c.do("CONFIG", "SET", "latency-tracking", "no")
	c.do("STRLEN", "k")
	if v := c.do("LATENCY", "HISTOGRAM", "strlen"); len(v.Elems) != 0 {
		t.Errorf("untracked commands have histograms: %s", show(v))
	}
}
