package cmd_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/clustertest"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/cluster"
)

// clusterSession returns a session on a cluster, of which one of the nodes must live.
func clusterSession(t *testing.T, c *clustertest.Cluster) *cluster.Session {
	t.Helper()
	var err error
	for _, n := range append(slices.Clone(c.Masters), c.Replicas...) {
		var node *remote.Redis
		if node, err = remote.OpenRedis(context.Background(), "redis://"+n.Address, false, remote.Options{}); err != nil {
			continue
		}
		var s *cluster.Session
		if s, err = cluster.Open(context.Background(), node, nil, cluster.Options{}); err == nil {
			t.Cleanup(func() { s.Close() })
			return s
		}
	}
	t.Fatal(err)
	return nil
}

// clusterWrite returns a command for keys of one slot. Its effect depends on the state, so it must take effect once.
func clusterWrite(r *rand.Rand, keys int) []string {
	key := fmt.Sprintf("k{%d}", r.IntN(keys))
	switch r.IntN(10) {
	case 0:
		return []string{"DEL", key + "list", key + "hash"}
	case 1:
		return []string{"HSET", key + "hash", fmt.Sprint(r.IntN(20)), fmt.Sprint(r.IntN(1000))}
	case 2:
		return []string{"RPUSH", key + "list", fmt.Sprint(r.IntN(1000)), "x"}
	case 3:
		return []string{"LMOVE", key + "list", key + "other", "LEFT", "RIGHT"}
	case 4:
		return []string{"SET", key + "expires", fmt.Sprint(r.IntN(1000)), "PX", "600000"}
	case 5:
		return []string{"EVAL", "redis.call('INCR', KEYS[1]) return redis.call('APPEND', KEYS[2], 'y')", "2", key + "n", key + "text"}
	case 6:
		return []string{"LTRIM", key + "other", "-50", "-1"}
	}
	return []string{"INCRBY", key + "n", fmt.Sprint(r.IntN(9))}
}

// clusterWrites writes until stop is closed.
func clusterWrites(t *testing.T, s *cluster.Session, seed uint64, keys int, stop <-chan struct{}) (written int) {
	r := rand.New(rand.NewPCG(seed, 7))
	for {
		select {
		case <-stop:
			return written
		default:
		}
		var calls [][][]byte
		for range 10 {
			var args [][]byte
			for _, word := range clusterWrite(r, keys) {
				args = append(args, []byte(word))
			}
			calls = append(calls, args)
		}
		// A write whose master dies may fail. What counts is that both sides agree in the end.
		if _, err := s.Pipeline(context.Background(), calls); err == nil {
			written += len(calls)
		}
		<-time.After(time.Millisecond) // leaves time for the other processes
	}
}

// TestFollowCluster follows all masters of a cluster to a file, while slots move and a master dies and its replica takes
// over. The copy is killed, and continues. In the end nothing differs.
func TestFollowCluster(t *testing.T) {
	t.Parallel()
	const keys = 60
	c, m := clustertest.Start(t, 3, true), mover{t, t.TempDir()}
	s := clusterSession(t, c)
	for i := range 500 {
		if v, err := s.Do(context.Background(), []byte("SET"), fmt.Appendf(nil, "before:%d", i), []byte("x")); err != nil || v.IsError() {
			t.Fatal(err, v)
		}
	}
	if v, err := s.Do(context.Background(), []byte("FUNCTION"), []byte("LOAD"), []byte("#!lua name=cats\nredis.register_function('purr', function() return 'purr' end)")); err != nil || v.IsError() {
		t.Fatal(err, v)
	}
	url := "cluster://"
	for i, n := range append(slices.Clone(c.Masters), c.Replicas...) {
		if i > 0 {
			url += ","
		}
		url += n.Address
	}
	stop := make(chan struct{})
	end := sync.OnceFunc(func() { close(stop) })
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	for i := range 2 {
		own := clusterSession(t, c)
		running.Go(func() { clusterWrites(t, own, uint64(i), keys, stop) })
	}
	var moved atomic.Int64
	running.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			at := slot.Of(fmt.Appendf(nil, "{%d}", rand.IntN(keys)))
			from := c.Owner(at)
			to := append(slices.Clone(c.Masters), c.Replicas...)[rand.IntN(6)]
			if from == nil || from == to {
				continue
			}
			if v, err := to.Try("ROLE"); err != nil || len(v.Elems) == 0 || string(v.Elems[0].Str) != "master" {
				continue
			}
			if c.Move(context.Background(), at, from, to) == nil {
				moved.Add(1)
			}
		}
	})
	args := []string{"copy", "--follow", url, "target.sqlite"}
	start := func(more ...string) (kill func(), done chan error) {
		cmd, said := m.command(append(slices.Clone(args), more...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done = make(chan error, 1)
		go func() {
			if err := cmd.Wait(); err != nil {
				done <- fmt.Errorf("%w: %s", err, said)
			}
			close(done)
		}()
		return func() { cmd.Process.Signal(syscall.SIGKILL); <-done }, done
	}
	ended := func(done chan error) {
		t.Helper()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(patience):
			t.Fatal("the copy does not catch up")
		}
	}
	_, done := start("--until-caught-up")
	ended(done)
	kill, done := start()
	c.Masters[0].Await("slots have moved", func() bool { return moved.Load() >= 3 })
	c.KillMaster(c.Masters[1])
	c.Replicas[1].Await("the replica has taken over", func() bool {
		v, err := c.Replicas[1].Try("ROLE")
		return err == nil && len(v.Elems) > 0 && string(v.Elems[0].Str) == "master"
	})
	select {
	case err := <-done:
		t.Fatal("it ended: ", err)
	case <-time.After(50 * time.Millisecond):
	}
	kill()
	end()
	running.Wait()
	_, done = start("--until-caught-up", "--on-conflict", "replace")
	ended(done)
	if differences := m.run(0, "diff", url, "target.sqlite"); differences != "" {
		t.Error(differences)
	}
	m.run(0, "doctor", "target.sqlite")
	said := m.run(0, append(slices.Clone(args), "--cut-over", "echo switched", "--verify")...)
	if !strings.Contains(said, "switched\n") {
		t.Error(said)
	}
	if left := m.run(0, "exec", "-t", "target.sqlite", "KEYS", "meowdis:*"); strings.TrimSpace(left) != "" {
		t.Error(left)
	}
}

// TestFollowIntoCluster follows a server into a cluster, which has no transactions over all keys.
func TestFollowIntoCluster(t *testing.T) {
	t.Parallel()
	source, c, m := newRedis(t), steadyCluster(t, 2), mover{t, t.TempDir()}
	do := func(words ...string) resp.Value { t.Helper(); return source.do(words...) }
	do("MSET", "a", "1", "b", "2", "gone", "3")
	do("RPUSH", "list", "1", "2")
	target := "redis://" + c.Masters[0].Address
	args := []string{"copy", "--follow", source.url(), target, "--until-caught-up"}
	m.run(0, args...)
	do("MSET", "a", "changed", "c", "3")
	do("RENAME", "list", "renamed")
	do("DEL", "gone")
	do("SET", "expires", "1", "EX", "1000")
	do("SUNIONSTORE", "union", "none")
	do("FUNCTION", "LOAD", "#!lua name=cats\nredis.register_function('purr', function() return 'purr' end)")
	m.run(0, args...)
	if differences := m.run(0, "diff", source.url(), target); differences != "" {
		t.Error(differences)
	}
	do("FLUSHALL")
	do("SET", "after", "1")
	said := m.run(0, "copy", "--follow", source.url(), target, "--cut-over", "echo switched")
	if !strings.Contains(said, "switched\n") {
		t.Error(said)
	}
	do("CLIENT", "UNPAUSE")
	if differences := m.run(0, "diff", source.url(), target); differences != "" {
		t.Error(differences)
	}
	if left := m.run(0, "exec", "-t", target, "KEYS", "meowdis:*"); strings.TrimSpace(left) != "" {
		t.Error(left)
	}
}

// TestFollowClusterWithoutReplication follows a cluster whose user may not run PSYNC: in passes, and by the notifications
// of each node, which are off again at the end.
func TestFollowClusterWithoutReplication(t *testing.T) {
	t.Parallel()
	c, m := steadyCluster(t, 3), mover{t, t.TempDir()}
	s := clusterSession(t, c)
	set := func(key, value string) {
		if v, err := s.Do(context.Background(), []byte("SET"), []byte(key), []byte(value)); err != nil || v.IsError() {
			t.Fatal(err, v)
		}
	}
	settings := func() (all []string) {
		for _, n := range c.Masters {
			v, err := n.Try("CONFIG", "GET", "notify-keyspace-events")
			if err != nil || len(v.Elems) != 2 {
				t.Fatal(v, err)
			}
			all = append(all, string(v.Elems[1].Str))
		}
		return all
	}
	for _, n := range c.Masters {
		n.Do("ACL", "SETUSER", "cat", "on", ">purr", "~*", "&*", "+@all", "-psync")
	}
	off := settings()
	for i := range 90 {
		set(fmt.Sprint("key:", i), "1")
	}
	args := []string{"copy", "--follow", "redis://cat:purr@" + c.Masters[1].Address, "target.sqlite"}
	if said := m.run(0, append(args, "--until-caught-up")...); !strings.Contains(said, "refuses to serve a replica (NOPERM") {
		t.Error(said)
	}
	copying, said := m.command(append(args, "--json")...)
	if err := copying.Start(); err != nil {
		t.Fatal(err)
	}
	await := func(what string, met func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !met(); <-time.After(50 * time.Millisecond) {
			if time.Now().After(end) {
				copying.Process.Kill()
				copying.Wait()
				t.Fatalf("%s: %s", what, said)
			}
		}
	}
	await("not all nodes notify", func() bool {
		return !slices.ContainsFunc(settings(), func(s string) bool { return slices.Contains(off, s) })
	})
	for i := range 30 { // keys of all nodes
		set(fmt.Sprint("key:", i), "2")
	}
	await("changes do not arrive", func() bool {
		got := m.run(0, "exec", "-t", "target.sqlite", "EVAL", "local n = 0 for i = 0, 29 do if redis.call('GET', 'key:' .. i) == '2' then n = n + 1 end end return n", "0")
		return strings.TrimSpace(got) == "30"
	})
	copying.Process.Signal(syscall.SIGINT)
	copying.Wait()
	if now := settings(); !slices.Equal(now, off) {
		t.Errorf("notify-keyspace-events is %q: %s", now, said)
	}
	if !strings.Contains(said.String(), "changes arrive as the source notifies of them") {
		t.Error(said)
	}
	if cut := m.run(0, append(args, "--cut-over", "echo switched")...); !strings.Contains(cut, "switched\n") {
		t.Error(cut)
	}
	for _, n := range c.Masters {
		n.Do("CLIENT", "UNPAUSE")
	}
	if differences := m.run(0, "diff", "redis://"+c.Masters[0].Address, "target.sqlite"); differences != "" {
		t.Error(differences)
	}
}
