package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/clustertest"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/cluster"
	"github.com/meowdis/meowdis/transfer"
)

var (
	keyCount = flag.Int("cluster-keys", 4000, "keys that are read while slots move and masters die")
	rounds   = flag.Int("cluster-rounds", 1, "how often")
)

func open(t testing.TB, c *clustertest.Cluster, o cluster.Options) *cluster.Session {
	t.Helper()
	ctx := context.Background()
	node, err := remote.OpenRedis(ctx, "redis://"+c.Masters[0].Address, false, o.Options)
	if err != nil {
		t.Fatal(err)
	}
	s, err := cluster.Open(ctx, node, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// do runs a command of words and returns its reply as redis-cli prints it without a terminal.
func do(t testing.TB, s keyspace.Client, line string) string {
	t.Helper()
	args, err := resp.SplitLine(line)
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.Do(context.Background(), args...)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return shown(v)
}

func shown(v resp.Value) string {
	switch v.Kind {
	case resp.Array:
		all := make([]string, len(v.Elems))
		for i, e := range v.Elems {
			all[i] = shown(e)
		}
		return "[" + strings.Join(all, " ") + "]"
	case resp.Int:
		return fmt.Sprint(v.Int)
	case resp.Null, resp.NullArray:
		return "(nil)"
	}
	return string(v.Str)
}

func TestCommands(t *testing.T) {
	c := clustertest.Start(t, 3, true)
	s := open(t, c, cluster.Options{})
	for _, step := range []struct{ line, want string }{
		// a is in slot 15495, b in 3300, c in 7365: on three masters.
		{"SET a 1", "OK"}, {"SET b 2", "OK"}, {"SET c 3", "OK"},
		{"GET b", "2"},
		{"MGET a b c missing", "[1 2 3 (nil)]"},
		{"EXISTS a b c a missing", "4"},
		{"DBSIZE", "3"},
		{"TOUCH a b", "2"},
		{"MSET a 1 b 2", `CROSSSLOT Keys in request don't hash to the same slot: "a" is in 15495, "b" is in 3300; keys with the same {tag} share a slot`},
		{"RENAME a {a}2", "OK"}, {"RENAME {a}2 a", "OK"},
		{"SUNION a b", `CROSSSLOT Keys in request don't hash to the same slot: "a" is in 15495, "b" is in 3300; keys with the same {tag} share a slot`},
		{"EVAL \"return redis.call('GET', KEYS[1])\" 1 c", "3"},
		{"SCRIPT LOAD \"return KEYS[1]\"", "4a2267357833227dd98abdedb8cf24b15a986445"},
		{"EVALSHA 4a2267357833227dd98abdedb8cf24b15a986445 1 b", "b"},
		{"SCRIPT EXISTS 4a2267357833227dd98abdedb8cf24b15a986445 ffff", "[1 0]"},
		{"SELECT 1", "ERR SELECT is not allowed in cluster mode"}, {"SELECT 0", "OK"},
		{"GET", "ERR wrong number of arguments for 'get' command"},
		{"NOSUCH a", "ERR unknown command 'NOSUCH', with args beginning with: 'a' "},
		{"INCR b", "3"}, {"OBJECT ENCODING b", "int"}, {"MEMORY USAGE missing", "(nil)"},
		{"CLUSTER COUNTKEYSINSLOT 3300", "1"}, {"CLUSTER GETKEYSINSLOT 15495 10", "[a]"},
		{"PUBLISH news hello", "0"}, {"SPUBLISH a hello", "0"}, {"PING", "PONG"}, {"ECHO hello", "hello"},
		{"SCAN x", "ERR invalid cursor"}, {"SCAN 0 COUNT 0", "ERR syntax error"},

		// A transaction is on the node of its first key.
		{"MULTI", "OK"}, {"PING", "QUEUED"}, {"SET b 5", "QUEUED"}, {"INCR b", "QUEUED"}, {"EXEC", "[PONG OK 6]"},
		{"MULTI", "OK"}, {"INCR b", "QUEUED"},
		{"INCR a", `CROSSSLOT Keys in transaction don't hash to the same slot: "b" is in 3300, "a" is in 15495; keys with the same {tag} share a slot`},
		{"EXEC", "EXECABORT Transaction discarded because of previous errors."},
		{"GET b", "6"},
		{"MULTI", "OK"}, {"ECHO 1", "QUEUED"}, {"EXEC", "[1]"},
		{"MULTI", "OK"}, {"GET", "ERR wrong number of arguments for 'get' command"}, {"EXEC", "EXECABORT Transaction discarded because of previous errors."},
		{"MULTI", "OK"}, {"MULTI", "ERR MULTI calls can not be nested"}, {"DISCARD", "OK"},
		{"EXEC", "ERR EXEC without MULTI"}, {"DISCARD", "ERR DISCARD without MULTI"},
		{"WATCH c", "OK"}, {"GET a", "1"}, {"SET c 9", "OK"}, {"MULTI", "OK"}, {"SET c 8", "QUEUED"}, {"EXEC", "(nil)"},
		{"WATCH c", "OK"}, {"MULTI", "OK"}, {"SET c 8", "QUEUED"}, {"EXEC", "[OK]"},
		{"WATCH c", "OK"}, {"UNWATCH", "OK"}, {"GET c", "8"},
		{"DEL a b c missing", "3"},
		{"DBSIZE", "0"},
		{"RANDOMKEY", "(nil)"},
	} {
		if got := do(t, s, step.line); got != step.want {
			t.Errorf("%s: got %s, want %s", step.line, got, step.want)
		}
	}
	for i := range 300 {
		do(t, s, fmt.Sprintf("SET cat:%d %d", i, i))
		do(t, s, fmt.Sprintf("RPUSH list:%d %d", i, i))
	}
	for _, scan := range []struct {
		options string
		want    int
	}{{"", 600}, {"COUNT 1", 600}, {"COUNT 1000", 600}, {"MATCH cat:*", 300}, {"TYPE list", 300}, {"MATCH cat:1* TYPE string COUNT 50", 111}} {
		// Each call is in a session of its own: a cursor means the same in all.
		names, pages := map[string]int{}, 0
		for cursor := "0"; pages == 0 || cursor != "0"; pages++ {
			args, _ := resp.SplitLine("SCAN " + cursor + " " + scan.options)
			session := s
			if pages%7 == 1 {
				session = open(t, c, cluster.Options{})
			}
			v, err := session.Do(context.Background(), args...)
			if err != nil || v.IsError() {
				t.Fatalf("%q: %s %v", args, v.Str, err)
			}
			cursor = string(v.Elems[0].Str)
			for _, e := range v.Elems[1].Elems {
				names[string(e.Str)]++
			}
		}
		twice := 0
		for _, n := range names {
			twice += n - 1
		}
		if len(names) != scan.want || twice > 0 {
			t.Errorf("SCAN %s: %d keys, %d of them twice, in %d pages; want %d", scan.options, len(names), twice, pages, scan.want)
		}
	}
	if got := strings.Count(do(t, s, "KEYS cat:*"), "cat:"); got != 300 {
		t.Errorf("KEYS returns %d keys", got)
	}
	if info := do(t, s, "INFO keyspace"); !strings.Contains(info, "db0:keys=600,expires=0") {
		t.Errorf("INFO says %q", info)
	}
	if replica := open(t, c, cluster.Options{Replicas: true}); do(t, replica, "GET cat:7") != "7" || !slices.ContainsFunc(c.Replicas, func(n *clustertest.Node) bool { return n.Address == replica.Node() }) {
		t.Errorf("a read with Replicas was answered by %s", replica.Node())
	}
}

// A slot with more keys than a page is read in several.
func TestLargeSlot(t *testing.T) {
	c := clustertest.Start(t, 2, false)
	s := open(t, c, cluster.Options{})
	var calls [][][]byte
	for i := range 1000 {
		calls = append(calls, [][]byte{[]byte("SET"), fmt.Appendf(nil, "{tag}%d", i), []byte("x")})
	}
	if _, err := s.Pipeline(context.Background(), calls); err != nil {
		t.Fatal(err)
	}
	l := keyspace.Lister{Client: s, Page: 10}
	seen, most := map[string]bool{}, 0
	if err := l.Keys(context.Background(), func(page []keyspace.Key) error {
		most = max(most, len(page))
		for _, k := range page {
			if seen[string(k.Name)] {
				t.Errorf("%s twice", k.Name)
			}
			seen[string(k.Name)] = true
		}
		return nil
	}); err != nil || len(seen) != 1000 || most > 40 {
		t.Errorf("%d keys, at most %d in a page: %v", len(seen), most, err)
	}
}

func TestAddresses(t *testing.T) {
	c := clustertest.Start(t, 2, false, "--cluster-announce-hostname", "cats.invalid", "--cluster-preferred-endpoint-type", "hostname")
	ctx := context.Background()
	node, err := remote.OpenRedis(ctx, "redis://"+c.Masters[0].Address, false, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	s, err := cluster.Open(ctx, node, nil, cluster.Options{Map: map[string]string{"cats.invalid": "127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := do(t, s, "SET a 1") + do(t, s, "SET b 1") + do(t, s, "DBSIZE"); got != "OKOK2" {
		t.Error(got)
	}
}

// shuffle moves random slots between masters that live until stop is called.
func shuffle(t testing.TB, c *clustertest.Cluster, slots []int) (stop func() int) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	moved := 0
	done.Go(func() {
		for ctx.Err() == nil {
			at := slots[rand.IntN(len(slots))]
			from := c.Owner(at)
			if from == nil {
				continue
			}
			alive := slices.DeleteFunc(append(slices.Clone(c.Masters), c.Replicas...), func(n *clustertest.Node) bool { return n == from || !isMaster(n) })
			if len(alive) == 0 {
				continue
			}
			if err := c.Move(ctx, at, from, alive[rand.IntN(len(alive))]); err == nil {
				moved++
			}
		}
	})
	return func() int { cancel(); done.Wait(); return moved }
}

func isMaster(n *clustertest.Node) bool {
	v, err := n.Try("CLUSTER", "NODES")
	return err == nil && strings.Contains(string(v.Str), "myself,master")
}

// Each command runs once, while slots move.
func TestCommandsWhileSlotsMove(t *testing.T) {
	c := clustertest.Start(t, 3, false)
	s := open(t, c, cluster.Options{})
	ctx := context.Background()
	var slots []int
	for i := range 20 {
		slots = append(slots, slot.Of(fmt.Appendf(nil, "n%d", i)))
	}
	stop := shuffle(t, c, slots)
	const times = 150
	for n := range times {
		var calls [][][]byte
		for i := range 20 {
			key := fmt.Appendf(nil, "n%d", i)
			calls = append(calls, [][]byte{[]byte("INCR"), key}, [][]byte{[]byte("RPUSH"), fmt.Appendf(nil, "{n%d}list", i), fmt.Append(nil, n)})
			if i%5 == 0 {
				calls = append(calls, [][]byte{[]byte("MULTI")}, [][]byte{[]byte("INCR"), fmt.Appendf(nil, "{n%d}multi", i)}, [][]byte{[]byte("GET"), key}, [][]byte{[]byte("EXEC")})
			}
		}
		replies, err := s.Pipeline(ctx, calls)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range replies {
			if v.HasError() {
				t.Fatalf("round %d: %q: %s", n, calls[i], shown(v))
			}
		}
	}
	moved := stop()
	t.Logf("%d slots moved", moved)
	if moved < 3 {
		t.Errorf("only %d slots moved", moved)
	}
	for i := range 20 {
		if got := do(t, s, fmt.Sprintf("GET n%d", i)); got != fmt.Sprint(times) {
			t.Errorf("n%d is %s", i, got)
		}
		if got := do(t, s, fmt.Sprintf("LLEN {n%d}list", i)); got != fmt.Sprint(times) {
			t.Errorf("list %d has %s", i, got)
		}
		if got := do(t, s, fmt.Sprintf("GET {n%d}multi", i)); i%5 == 0 && got != fmt.Sprint(times) {
			t.Errorf("multi %d is %s", i, got)
		}
	}
}

// All keys arrive, each once, while slots move and a master dies.
func TestMovingKeys(t *testing.T) {
	for round := range *rounds {
		c := clustertest.Start(t, 3, true)
		s := open(t, c, cluster.Options{})
		fill(t, s, *keyCount)
		for _, n := range c.Masters {
			n.Do("WAIT", "1", "10000") // for the replica that takes over
		}
		var slots []int
		for i := range 200 {
			slots = append(slots, slot.Of(name(i)))
		}
		stop := shuffle(t, c, slots)
		file, err := local.Open(filepath.Join(t.TempDir(), "copy.sqlite"), local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		target := engine.New(file).Session()
		killed := c.Masters[round%3]
		copied := copyAll(t, s, target, *keyCount/3, func() { c.KillMaster(killed) })
		t.Logf("round %d: copied, with %d connections", round, s.Connections())
		if copied.Keys != int64(*keyCount) || copied.Failed > 0 {
			t.Errorf("round %d: %+v", round, copied)
		}
		compare(t, s, target, *keyCount)
		if moved := stop(); moved < 3 {
			t.Errorf("round %d: only %d slots moved", round, moved)
		} else {
			t.Logf("round %d: %d slots moved", round, moved)
		}
		file.Close()
		for _, n := range append(c.Masters, c.Replicas...) {
			n.Kill()
		}
	}
}

func name(i int) []byte { return fmt.Appendf(nil, "cat:%d", i) }

// fill writes keys of some types.
func fill(t testing.TB, s keyspace.Client, n int) {
	t.Helper()
	for from := 0; from < n; from += 2000 {
		var calls [][][]byte
		for i := from; i < min(from+2000, n); i++ {
			value := fmt.Appendf(nil, "value %d", i)
			switch i % 5 {
			case 0:
				calls = append(calls, [][]byte{[]byte("RPUSH"), name(i), value, []byte("last")})
			case 1:
				calls = append(calls, [][]byte{[]byte("HSET"), name(i), []byte("field"), value})
			default:
				calls = append(calls, [][]byte{[]byte("SET"), name(i), value})
			}
		}
		replies, err := s.Pipeline(context.Background(), calls)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range replies {
			if v.IsError() {
				t.Fatalf("%q: %s", calls[i], v.Str)
			}
		}
	}
}

// copyAll copies all keys, and calls halfway after some of them.
func copyAll(t testing.TB, from, to keyspace.Session, after int, halfway func()) transfer.Written {
	t.Helper()
	ctx := context.Background()
	problem := func(k *transfer.Key, err error) {
		if !errors.Is(err, transfer.ErrGone) {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	w := transfer.NewWriter(to, transfer.WriteOptions{Notify: problem})
	n := 0
	if err := transfer.Run(ctx, transfer.FromSession(ctx, from, transfer.ReadOptions{}), w, problem, func(transfer.Part) {
		if n++; n == after {
			halfway()
		}
	}); err != nil {
		t.Fatal(err)
	}
	return w.Written()
}

// compare compares two targets in both directions.
func compare(t testing.TB, a, b keyspace.Session, want int) {
	t.Helper()
	for _, pair := range [][2]keyspace.Session{{a, b}, {b, a}} {
		n, err := transfer.Diff(context.Background(), pair[0], pair[1], transfer.DiffOptions{
			Found:  func(d transfer.Difference) { t.Errorf("%s: %s %s %s", d.Key.Name, d.What, d.A, d.B) },
			Notify: func(k *transfer.Key, err error) { t.Errorf("%s: %v", k.Name, err) }, Seen: func(transfer.Part) {},
		})
		if err != nil || n != int64(want) {
			t.Fatalf("compared %d keys: %v", n, err)
		}
	}
}
