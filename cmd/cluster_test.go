package cmd_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/clustertest"
)

// All verbs work on the keys of all masters.
func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 3, false)
	m := mover{t, t.TempDir()}
	node := "redis://" + cluster.Masters[1].Address
	all := "cluster://127.0.0.1:1," + cluster.Masters[2].Address // the first is down
	m.run(0, "exec", "-t", "cats.sqlite", "EVAL", `for i = 1, 90 do redis.call('SET', 'cat:' .. i, i) redis.call('RPUSH', 'list:' .. i, 'a', 'b') end`, "0")
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
		{"export " + node + " cats.rdb", "180 keys"},
		{"restore --replace -t " + all + " cats.archive", "180 keys"},
		{"import --replace -t " + all + " cats.rdb", "180 keys"},
		{"stats -t " + all, `180`},
		{"bigkeys -t " + all, `list`},
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
