package cmd_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/clustertest"
)

// steadyCluster starts masters that take no other for dead, however busy the machine is.
func steadyCluster(t *testing.T, masters int, args ...string) *clustertest.Cluster {
	c := clustertest.Start(t, masters, false, args...)
	for _, n := range c.Masters {
		if got := n.Do("CONFIG", "SET", "cluster-node-timeout", "600000"); got != "OK" {
			t.Fatal(got)
		}
	}
	return c
}

// listensIn runs a verb that listens, until it has printed what it should. say makes the servers send it, again and again.
func listensIn(t *testing.T, m mover, want string, say func(), args ...string) {
	t.Helper()
	c, said := m.command(args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Wait()
	}()
	for {
		say()
		select {
		case <-ended:
			if !strings.Contains(said.String(), want) {
				t.Errorf("meowdis %q: %s", args, said)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Messages and commands of all masters arrive.
func TestClusterListens(t *testing.T) {
	t.Parallel()
	cluster := steadyCluster(t, 3, "--notify-keyspace-events", "KEA")
	m := mover{t, t.TempDir()}
	node := "redis://" + cluster.Masters[0].Address
	s := clusterSession(t, cluster)
	do := func(words ...string) func() {
		return func() {
			var args [][]byte
			for _, word := range words {
				args = append(args, []byte(word))
			}
			if v, err := s.Do(context.Background(), args...); err != nil || v.IsError() {
				t.Errorf("%q: %s %v", words, v.Str, err)
			}
		}
	}
	// Slot 15495 of a is on the third master, and slot 3300 of b on the first.
	listensIn(t, m, "news\thello", do("PUBLISH", "news", "hello"), "subscribe", node, "news", "--limit", "1")
	listensIn(t, m, "a\thello", do("SPUBLISH", "a", "hello"), "subscribe", node, "--shard", "a", "--limit", "1")
	listensIn(t, m, "b\thello", do("SPUBLISH", "b", "hello"), "subscribe", node, "--shard", "b", "--limit", "1")
	listensIn(t, m, "__keyspace@0__:a\tset", do("SET", "a", "1"), "psubscribe", node, "__keyspace@*", "--limit", "1")
	listensIn(t, m, `"SET" "a" "1"`, do("SET", "a", "1"), "monitor", node, "--limit", "20")
	listensIn(t, m, `"SET" "b" "1"`, do("SET", "b", "1"), "monitor", node, "--limit", "20")
}

// All verbs work on the keys of all masters.
func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := steadyCluster(t, 3, "--maxmemory-policy", "allkeys-lfu")
	m := mover{t, t.TempDir()}
	node := "redis://" + cluster.Masters[1].Address
	all := "cluster://127.0.0.1:1," + cluster.Masters[2].Address // the first is down
	m.run(0, "exec", "-t", "cats.sqlite", "EVAL", `for i = 1, 90 do redis.call('SET', 'cat:' .. i, i) redis.call('RPUSH', 'list:' .. i, 'a', 'b') end`, "0")
	nodes := `"nodes":\[({"node":"127.0.0.1:\d+","keys":\d\d},?){3}\]`
	for _, step := range []struct {
		args string
		says string // a regular expression
	}{
		{"copy cats.sqlite " + node, "copied 180 keys"},
		{"exec -t " + all + " DBSIZE", `^180$`},
		{"exec -t " + node + " --this-node DBSIZE", `^\d\d$`},
		{"exec -t " + node + " MGET cat:1 cat:2 cat:3", `(?m)^1$\s^2$\s^3$`},
		{"copy --verify " + all + " back.sqlite", "copied 180 keys"},
		{"diff " + node + " back.sqlite", "^$"},
		{"diff back.sqlite " + node, "^$"},
		{"dump " + node + " cats.archive", "180 keys"},
		{"dump --json --force " + node + " cats.archive", `(?s)read \d\d keys.*` + nodes},
		{"export " + node + " cats.rdb", "180 keys"},
		{"restore --replace -t " + all + " cats.archive", "180 keys"},
		{"import --replace -t " + all + " cats.rdb", "180 keys"},
		{"stats -t " + all, `(?s)(127.0.0.1:\d+: read \d\d keys.*){3}180 keys`},
		{"stats --json -t " + all, nodes},
		{"bigkeys -t " + all, `(?s)(127.0.0.1:\d+: read \d\d keys.*){3}list`},
		{"bigkeys --json -t " + all, nodes},
		{"bigkeys --hot --json -t " + all, nodes},
		{"peek -t " + all + " list:7", `(?s)list:7.*a`},
		{"status -t " + all, `(?s)kind +Redis Cluster.*keys +180 in database 0.*3 masters.*` + regexp.QuoteMeta(cluster.Masters[0].Address) + ` +master +5461 slots +\d+ keys`},
		{"latency -t " + all + " --limit 1", `(?s).`},
		{"stats --live --limit 1 -t " + all, `180 +0`},
		{"scan -t " + all + " list:7", `a`},
	} {
		if said := m.run(0, strings.Fields(step.args)...); !regexp.MustCompile(step.says).MatchString(strings.TrimSpace(said)) {
			t.Errorf("meowdis %s says, rather than %s:\n%s", step.args, step.says, said)
		}
	}
	if got := strings.Count(m.run(0, "keys", "-t", node), "\n"); got != 180 {
		t.Errorf("keys lists %d", got)
	}
	prompt, said := m.command("repl", node)
	prompt.Stdin = strings.NewReader("GET cat:1\nGET cat:2\nGET cat:3\n") // on different nodes
	if err := prompt.Run(); err != nil || said.String() != "1\n2\n3\n" {
		t.Errorf("the prompt says %v %s", err, said)
	}
	if said := m.run(1, "exec", "-t", node, "MSET", "a", "1", "b", "2"); !strings.Contains(said, `"a" is in 15495, "b" is in 3300`) {
		t.Error(said)
	}
	if said := m.run(3, "keys", "-t", "cluster://127.0.0.1:1,127.0.0.1:2"); !strings.Contains(said, "connection refused") {
		t.Error(said)
	}
}
