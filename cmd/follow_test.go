package cmd_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var followCuts = flag.Int("cuts", 4, "cuts of the network in TestFollow")

// randomWrite returns a write, or several that form a transaction. Expiries are at least shortest, in ms.
func randomWrite(r *rand.Rand, shortest int) (calls [][]string) {
	key := func(typ string) string { return fmt.Sprintf("%s:%d", typ, r.IntN(12)) }
	n := func(most int) string { return fmt.Sprint(r.IntN(most)) }
	soon := func() string { return fmt.Sprint(shortest + r.IntN(4000)) }
	one := func() []string {
		types := []string{"str", "num", "list", "set", "zset", "hash", "stream", "bits"}
		anyKey := func() string { return key(types[r.IntN(len(types))]) }
		switch r.IntN(44) {
		case 0, 1, 2:
			return []string{"INCR", key("num")}
		case 3:
			return []string{"SET", key("str"), strings.Repeat("v", r.IntN(300)), "PX", soon()}
		case 4:
			return []string{"SET", key("str"), "\x00\r\n\xff" + n(100)}
		case 5:
			return []string{"APPEND", key("str"), n(1000)}
		case 6:
			return []string{"INCRBYFLOAT", key("num"), "0.25"}
		case 7:
			return []string{"SETRANGE", key("bits"), n(500), "xyz"}
		case 8:
			return []string{"SETBIT", key("bits"), n(4000), "1"}
		case 9, 10:
			return []string{"RPUSH", key("list"), n(100), n(100)}
		case 11:
			return []string{"LPUSH", key("list"), n(100)}
		case 12:
			return []string{"LPOP", key("list")}
		case 13:
			return []string{"LMOVE", key("list"), key("list"), "LEFT", "RIGHT"}
		case 14:
			return []string{"LTRIM", key("list"), "0", "50"}
		case 15, 16:
			return []string{"SADD", key("set"), n(50), n(50), n(50)}
		case 17:
			return []string{"SPOP", key("set")}
		case 18:
			return []string{"SPOP", key("set"), "3"}
		case 19:
			return []string{"SUNIONSTORE", key("set"), key("set"), key("set")}
		case 20, 21:
			return []string{"ZADD", key("zset"), n(90), n(50), n(90), n(50)}
		case 22:
			return []string{"ZINCRBY", key("zset"), "1.5", n(50)}
		case 23:
			return []string{"ZPOPMIN", key("zset")}
		case 24, 25:
			return []string{"HSET", key("hash"), n(50), n(1000), n(50), n(1000)}
		case 26:
			return []string{"HINCRBY", key("hash"), n(50), "1"}
		case 27:
			return []string{"HPEXPIRE", key("hash"), soon(), "FIELDS", "2", n(50), n(50)} // not in 7.0
		case 28, 29:
			return []string{"XADD", key("stream"), "MAXLEN", "~", "100", "*", "f", n(1000)}
		case 30:
			return []string{"XGROUP", "CREATE", key("stream"), "g", "0", "MKSTREAM"}
		case 31:
			return []string{"XREADGROUP", "GROUP", "g", "c" + n(3), "COUNT", "3", "STREAMS", key("stream"), ">"}
		case 32:
			return []string{"XAUTOCLAIM", key("stream"), "g", "c" + n(3), "0", "0"}
		case 33:
			return []string{"PEXPIRE", anyKey(), soon()}
		case 34:
			return []string{"PERSIST", anyKey()}
		case 35:
			return []string{"DEL", anyKey()}
		case 36:
			typ := types[r.IntN(len(types))]
			return []string{"RENAME", key(typ), key(typ)}
		case 37:
			typ := types[r.IntN(len(types))]
			return []string{"COPY", key(typ), key(typ), "DB", n(3), "REPLACE"}
		case 38:
			return []string{"EVAL", "for i = 1, 5 do redis.call('INCR', KEYS[1]) end redis.call('SADD', KEYS[2], redis.call('TIME')[2]) return 1", "2", key("num"), key("set")}
		case 39:
			return []string{"PFADD", key("hll"), n(100000)}
		case 40:
			return []string{"GEOADD", key("geo"), n(180), n(80), n(20)}
		case 41:
			if r.IntN(4) == 0 {
				return []string{"FUNCTION", "LOAD", "REPLACE", "#!lua name=cats\nredis.register_function('purr', function(keys) return redis.call('INCRBY', keys[1], " + n(9) + ") end)"}
			}
			return []string{"FCALL", "purr", "1", key("num")}
		case 42:
			return []string{"SELECT", n(3)}
		}
		switch r.IntN(12) {
		case 0:
			return []string{"SWAPDB", n(3), n(3)}
		case 1:
			if r.IntN(4) == 0 {
				return []string{"FLUSHALL"}
			}
			return []string{"FLUSHDB"}
		}
		return []string{"MOVE", anyKey(), n(3)}
	}
	if r.IntN(20) > 0 {
		return [][]string{one()}
	}
	calls = append(calls, []string{"MULTI"})
	for range 1 + r.IntN(30) {
		calls = append(calls, one())
	}
	return append(calls, []string{"EXEC"})
}

// writes writes to a server until stop is closed. A server that was killed loses no acknowledged write.
func writes(r *redisAt, seed uint64, shortest int, stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(seed, 1))
	var c *redisClient
	for {
		select {
		case <-stop:
			if c != nil {
				c.conn.Close()
			}
			return
		default:
		}
		if c == nil {
			var err error
			if c, err = r.dial(); err != nil {
				<-time.After(time.Millisecond)
				continue
			}
		}
		calls := randomWrite(random, shortest)
		if r.meowdis && random.IntN(4) == 0 {
			calls = [][]string{moduleWrite(random)}
		}
		for _, args := range calls {
			if _, err := c.do(args...); err != nil {
				c.conn.Close()
				c = nil
				break
			}
		}
		<-time.After(time.Millisecond) // leaves time for the other processes
	}
}

// TestFollow copies a server that clients write to, to a file and to another server, and a file that meowdis serves. The network is cut in the middle of the snapshot and of commands,
// and both sides are killed. In the end nothing differs: no command was lost, and none took effect twice.
func TestFollow(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"file", "redis", "meowdis"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			source, m := newServer(t, kind == "meowdis"), mover{t, t.TempDir()}
			// A server drops expired keys by its own clock, so an expiry may not be close there: docs/moving.md.
			target, shortest := "target.sqlite", 1
			var other *redisAt
			if kind == "redis" {
				other = newRedis(t)
				target, shortest = other.url(), 600_000
			}
			for i := range 2000 {
				source.do("SET", fmt.Sprintf("before:%d", i), strings.Repeat("x", 100))
			}
			for range 5 {
				source.do("LPUSH", "long", strings.Repeat("y", 100_000))
			}
			proxy := newCutter(t, source.socket, *followCuts, func() int64 { return 1000 + rand.Int64N(200_000) })
			stop := make(chan struct{})
			var writers sync.WaitGroup
			for i := range 2 {
				writers.Add(1)
				go func() {
					defer writers.Done()
					writes(source, uint64(i), shortest, stop)
				}()
			}
			args := []string{"copy", "--follow", proxy.url, target, "--on-conflict", "replace"}
			follow := func() (*exec.Cmd, *bytes.Buffer, chan struct{}) {
				c, said := exec.Command("meowdis", args...), &bytes.Buffer{} // runs for as long as the test
				c.Dir, c.Stdout, c.Stderr, c.Env = m.dir, said, said, manyThreads()
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					c.Wait() // its exit code is checked where it ends by itself
				}()
				t.Cleanup(func() {
					c.Process.Kill()
					<-ended
				})
				return c, said, ended
			}
			c, said, ended := follow()
			for left := int64(1); left > 0; {
				select {
				case left = <-proxy.cut:
				case <-ended:
					t.Fatalf("it ended: %s", said)
				}
				switch {
				case left%4 == 1:
					c.Process.Signal(syscall.SIGKILL)
					<-ended
					c, said, ended = follow()
				case left%4 == 2:
					source.kill()
					source.start()
				case left%4 == 3 && other != nil:
					other.kill()
					other.start()
				}
			}
			close(stop)
			writers.Wait()
			source.settle()
			c.Process.Signal(syscall.SIGINT)
			<-ended
			if code := c.ProcessState.ExitCode(); code != 130 {
				t.Fatalf("exit code %d: %s", code, said)
			}
			m.run(0, append(slices.Clone(args), "--until-caught-up")...)
			m.agree(proxy.url, target)
			if other == nil {
				m.run(0, "doctor", target)
			}
		})
	}
}

// agree fails the test if two targets differ. A field that expires between the reads of the two sides is no difference.
func (m mover) agree(a, b string) {
	m.t.Helper()
	var said *bytes.Buffer
	for late := time.Now().Add(time.Minute); time.Now().Before(late); {
		var c *exec.Cmd
		c, said = m.command("diff", a, b)
		if c.Run(); c.ProcessState.ExitCode() == 0 && said.Len() == 0 {
			return
		}
	}
	m.t.Errorf("%s and %s differ: %s", a, b, said)
}

// TestFollowTargetRestarts kills the server that is the target while all keys are copied to it, and starts it again. The
// copy continues.
func TestFollowTargetRestarts(t *testing.T) {
	t.Parallel()
	source, target, m := newRedis(t), newRedis(t), mover{t, t.TempDir()}
	for i := range 300 {
		source.do("SET", fmt.Sprintf("long:%d", i), strings.Repeat("x", 200_000))
	}
	c, said := m.command("copy", "--follow", source.url(), target.url(), "--until-caught-up")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for target.do("DBSIZE").Int < 3 { // the position, and some keys
		<-time.After(time.Millisecond)
	}
	target.kill()
	target.start()
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if differences := m.run(0, "diff", source.url(), target.url()); differences != "" {
		t.Error(differences)
	}
}

// TestFollowCutOver switches the clients while writes at the source are paused, and leaves nothing behind in the target.
// A command that fails switches nothing.
func TestFollowCutOver(t *testing.T) {
	t.Parallel()
	source, m := newRedis(t), mover{t, t.TempDir()}
	source.do("MSET", "a", "1", "b", "2")
	source.do("FUNCTION", "LOAD", "#!lua name=cats\nredis.register_function('purr', function() return 'purr' end)")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		writes(source, 1, 600_000, stop)
	}()
	defer func() {
		close(stop)
		<-ended
	}()
	said := m.run(3, "copy", "--follow", source.url(), "target.sqlite", "--cut-over", "exit 7")
	if !strings.Contains(said, "exit 7: exit status 7; the source takes writes again") {
		t.Error(said)
	}
	source.do("INCR", "after") // which would wait while writes are paused
	said = m.run(0, "copy", "--follow", source.url(), "target.sqlite", "--cut-over", "echo switched", "--verify", "--json")
	if !strings.Contains(said, "switched\n") || !strings.Contains(said, `"differences":0,`) || !strings.Contains(said, `"cut_over":true}`) {
		t.Error(said)
	}
	// Writes at the source are paused still, so both are equal.
	if differences := m.run(0, "diff", source.url(), "target.sqlite"); differences != "" {
		t.Error(differences)
	}
	if left := m.run(0, "exec", "-t", "target.sqlite", "KEYS", "meowdis:*"); strings.TrimSpace(left) != "" {
		t.Error(left)
	}
	source.do("CLIENT", "UNPAUSE")
}

// TestFollowSlowSwitch keeps writes paused for as long as the user's command runs.
func TestFollowSlowSwitch(t *testing.T) {
	t.Parallel()
	source, m := newRedis(t), mover{t, t.TempDir()}
	source.do("SET", "a", "1")
	extended := "until meowdis exec -t " + source.url() + " INFO commandstats | grep -q 'client|pause:calls=[2-9]'; do sleep 0.1; done"
	said := m.run(0, "copy", "--follow", source.url(), "target.sqlite", "--pause", "12s", "--cut-over", extended)
	if !strings.Contains(said, "cut over:") || strings.Contains(said, "compare both") {
		t.Error(said)
	}
}

// TestFollowCutOverOfMeowdis moves keys of types that Redis does not have, and arrays, which no stream has.
func TestFollowCutOverOfMeowdis(t *testing.T) {
	t.Parallel()
	source, m := newServer(t, true), mover{t, t.TempDir()}
	for i := range 3000 { // a sample would have 1000 keys
		source.do("SET", fmt.Sprint("key:", i), "v")
	}
	source.do("JSON.SET", "doc", "$", `{"a":1}`)
	source.do("FT.CREATE", "first", "SCHEMA", "a", "TEXT")
	if said := m.run(0, "copy", "--follow", source.url(), "target.sqlite", "--until-caught-up"); strings.Contains(said, "leaves out") {
		t.Error(said)
	}
	if differences := m.run(0, "diff", source.url(), "target.sqlite"); differences != "" {
		t.Error(differences)
	}
	source.do("HSET", "hash", "a", "red")
	source.do("FT.CREATE", "second", "SCHEMA", "a", "TEXT")
	source.do("FT.ALIASADD", "alias", "second")
	source.do("FT.DROPINDEX", "first")
	source.do("ARSET", "array", "3", "x")
	said := m.run(0, "copy", "--follow", source.url(), "target.sqlite", "--cut-over", "echo switched")
	if !strings.Contains(said, "leaves out arrays") || !strings.Contains(said, "copied again because they differed: 1 key") || !strings.Contains(said, "switched\n") {
		t.Error(said)
	}
	if differences := m.run(0, "diff", source.url(), "target.sqlite"); differences != "" {
		t.Error(differences)
	}
}

// TestFollowConflicts keeps keys that the target had, and later writes to them, too.
func TestFollowConflicts(t *testing.T) {
	t.Parallel()
	source, m := newRedis(t), mover{t, t.TempDir()}
	source.do("MSET", "a", "source", "b", "source")
	follow := func(code int, more ...string) string {
		t.Helper()
		return m.run(code, append([]string{"copy", "--follow", source.url(), "target.sqlite", "--until-caught-up"}, more...)...)
	}
	get := func(key, want string) {
		t.Helper()
		if got := strings.TrimSpace(m.run(0, "exec", "-t", "target.sqlite", "GET", key)); got != want {
			t.Errorf("%s is %q, not %q", key, got, want)
		}
	}
	m.run(0, "exec", "-t", "target.sqlite", "MSET", "a", "own", "other", "own")
	if said := follow(3); !strings.Contains(said, `"a": it already exists in target.sqlite; give --on-conflict replace`) {
		t.Error(said)
	}
	get("a", "own")
	follow(0, "--on-conflict", "skip")
	source.do("SET", "a", "changed")
	source.do("SET", "b", "changed")
	if said := follow(0); !strings.Contains(said, "0 keys copied") {
		t.Error(said)
	}
	get("a", "own")
	get("b", "changed")
	get("other", "own")
	source.do("FLUSHALL")
	if said := follow(3); !strings.Contains(said, "the source ran FLUSHALL, and the target had other keys") {
		t.Error(said)
	}
	get("other", "own")
}

// TestFollowRestartedSource empties a target only for a source that has keys, or if the user says so.
func TestFollowRestartedSource(t *testing.T) {
	t.Parallel()
	source, m := newRedis(t), mover{t, t.TempDir()}
	follow := func(code int, more ...string) string {
		t.Helper()
		return m.run(code, append([]string{"copy", "--follow", source.url(), "target.sqlite", "--until-caught-up"}, more...)...)
	}
	source.do("MSET", "a", "1", "b", "2")
	follow(0)
	source.do("DEL", "b")
	source.kill() // it forgets its replication ID
	source.start()
	if said := follow(3); !strings.Contains(said, "all keys must be copied again; give --on-conflict replace to empty target.sqlite first") {
		t.Error(said)
	}
	if got := strings.TrimSpace(m.run(0, "exec", "-t", "target.sqlite", "EXISTS", "a", "b")); got != "2" {
		t.Error(got)
	}
	follow(0, "--on-conflict", "replace")
	if differences := m.run(0, "diff", source.url(), "target.sqlite"); differences != "" {
		t.Error(differences)
	}
}
