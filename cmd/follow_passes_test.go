package cmd_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFollowWithoutReplication follows a server whose user may not run PSYNC, and a file.
func TestFollowWithoutReplication(t *testing.T) {
	t.Parallel()
	source, m := newRedis(t), mover{t, t.TempDir()}
	source.do("ACL", "SETUSER", "cat", "on", ">purr", "~*", "&*", "+@all", "-psync")
	source.do("MSET", "a", "1", "b", "2")
	source.do("RPUSH", "list", "1", "2", "3")
	asCat := strings.Replace(source.url(), "unix://", "unix://cat:purr@", 1)
	args := []string{"copy", "--follow", asCat, "target.sqlite"}
	if said := m.run(0, append(args, "--until-caught-up")...); !strings.Contains(said, "refuses to serve a replica (NOPERM") {
		t.Error(said)
	}
	source.do("DEL", "b")
	source.do("INCR", "a")
	source.do("LPOP", "list")
	if said := m.run(0, append(args, "--cut-over", "echo switched")...); !strings.Contains(said, "switched\n") {
		t.Error(said)
	}
	source.do("CLIENT", "UNPAUSE")
	if differences := m.run(0, "diff", source.url(), "target.sqlite"); differences != "" {
		t.Error(differences)
	}
	followsNotifications(t, source, m, asCat)
	m.run(0, "copy", "--follow", "target.sqlite", "second.sqlite", "--until-caught-up")
	m.run(0, "exec", "-t", "target.sqlite", "SET", "a", "later")
	m.run(0, "exec", "-t", "target.sqlite", "FT.CREATE", "index", "SCHEMA", "a", "TEXT")
	m.run(0, "copy", "--follow", "target.sqlite", "second.sqlite", "--until-caught-up")
	if differences := m.run(0, "diff", "target.sqlite", "second.sqlite"); differences != "" {
		t.Error(differences)
	}
	m.run(0, "exec", "-t", "target.sqlite", "FT.DROPINDEX", "index")
	m.run(0, "exec", "-t", "second.sqlite", "FT.CREATE", "own", "SCHEMA", "a", "TEXT")
	m.run(0, "copy", "--follow", "target.sqlite", "second.sqlite", "--until-caught-up")
	if left := m.run(0, "exec", "-t", "second.sqlite", "FT._LIST"); left != "own\n" {
		t.Errorf("indexes of the target: %q", left)
	}
}

// TestFollowRules compares series in passes. A pass that writes only the series that a rule fills keeps the rule.
func TestFollowRules(t *testing.T) {
	t.Parallel()
	m := mover{t, t.TempDir()}
	do := func(words ...string) { m.run(0, append([]string{"exec", "-t", "a.sqlite"}, words...)...) }
	follow := func() {
		t.Helper()
		m.run(0, "copy", "--follow", "a.sqlite", "b.sqlite", "--until-caught-up")
		if differences := m.run(0, "diff", "a.sqlite", "b.sqlite"); differences != "" {
			t.Error(differences)
		}
	}
	do("TS.CREATE", "from")
	do("TS.CREATE", "into")
	do("TS.CREATERULE", "from", "into", "AGGREGATION", "sum", "10")
	do("TS.MADD", "from", "1", "1", "from", "4", "2", "from", "13", "3")
	follow()
	do("TS.ADD", "into", "5000", "1")
	follow()
	do("EVAL", `for i = 1, 600 do
		redis.call('TS.CREATE', 'new' .. i) redis.call('TS.CREATE', 'sum' .. i)
		redis.call('TS.CREATERULE', 'new' .. i, 'sum' .. i, 'AGGREGATION', 'sum', '10')
	end`, "0")
	follow()
}

// followsNotifications copies a change between two passes, because the source notifies of it.
func followsNotifications(t *testing.T, source *redisAt, m mover, url string) {
	t.Helper()
	const attempts = 10
	for i := range attempts {
		source.do("SET", fmt.Sprint("gone:", i), "1")
	}
	c, said := m.command("copy", "--follow", url, "third.sqlite", "--json")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	setting := func() string { return string(source.do("CONFIG", "GET", "notify-keyspace-events").Elems[1].Str) }
	scans := func() string {
		for line := range strings.Lines(string(source.do("INFO", "commandstats").Str)) {
			if stat, is := strings.CutPrefix(line, "cmdstat_scan:"); is {
				calls, _, _ := strings.Cut(stat, ",")
				return calls
			}
		}
		return ""
	}
	await := func(what string, met func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !met(); <-time.After(50 * time.Millisecond) {
			if time.Now().After(end) {
				c.Process.Kill()
				c.Wait()
				t.Fatalf("%s: %s", what, said)
			}
		}
	}
	await("the source does not notify", func() bool { return setting() != "" })
	for i := range attempts {
		before, set, deleted := scans(), fmt.Sprint("noticed:", i), fmt.Sprint("gone:", i)
		source.do("SET", set, "now")
		source.do("DEL", deleted)
		await("the change does not arrive", func() bool {
			return strings.TrimSpace(m.run(0, "exec", "-t", "third.sqlite", "EXISTS", set, set, deleted)) == "2"
		})
		now := scans()
		if now == before {
			break
		}
		if i == attempts-1 { // a pass may find the first changes
			t.Errorf("a pass found the change: %s, then %s", before, now)
		}
	}
	c.Process.Signal(syscall.SIGKILL)
	c.Wait()
	if !strings.Contains(said.String(), "changes arrive as the source notifies of them") || setting() == "" {
		t.Errorf("notify-keyspace-events is %q: %s", setting(), said)
	}
	// A killed copy leaves the setting, and the next one restores it.
	m.run(0, "copy", "--follow", url, "third.sqlite", "--until-caught-up")
	if setting() != "" {
		t.Errorf("notify-keyspace-events is %q", setting())
	}
}
