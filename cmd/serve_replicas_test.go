package cmd_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

// node is a connection to a server under test.
type node struct {
	t    *testing.T
	dial func() (net.Conn, error)
	conn net.Conn
	r    *resp.Reader
}

func connect(t *testing.T, network, address string) *node {
	n := &node{t: t, dial: func() (net.Conn, error) { return net.Dial(network, address) }}
	n.reconnect()
	t.Cleanup(func() { n.conn.Close() })
	return n
}

func (n *node) reconnect() {
	n.t.Helper()
	if n.conn != nil {
		n.conn.Close()
	}
	for deadline := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
		conn, err := n.dial()
		if err == nil {
			n.conn, n.r = conn, resp.NewReader(conn)
			return
		}
		if time.Now().After(deadline) {
			n.t.Fatal(err)
		}
	}
}

// try sends a command and waits for its reply for a limited time, after which the connection is another one.
func (n *node) try(patience time.Duration, args ...[]byte) (resp.Value, bool) {
	n.t.Helper()
	n.conn.SetDeadline(time.Now().Add(patience))
	_, err := n.conn.Write(resp.AppendCommand(nil, args...))
	if err == nil {
		var v resp.Value
		if v, err = n.r.ReadReply(); err == nil {
			return v, true
		}
	}
	n.reconnect()
	return resp.Value{}, false
}

// once sends a command to a server that may die.
func (n *node) once(words ...string) (v resp.Value, ok bool) {
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	if _, err := n.conn.Write(resp.AppendCommand(nil, args...)); err != nil {
		return v, false
	}
	v, err := n.r.ReadReply()
	return v, err == nil
}

func (n *node) do(words ...string) resp.Value {
	n.t.Helper()
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	v, ok := n.try(patience, args...)
	if !ok {
		n.t.Fatalf("no reply to %.200q", words)
	}
	return v
}

// must fails the test if the reply is an error.
func (n *node) must(words ...string) resp.Value {
	n.t.Helper()
	v := n.do(words...)
	if v.IsError() {
		n.t.Fatalf("%.200q: %s", words, v.Str)
	}
	return v
}

// info returns a field of INFO.
func (n *node) info(section, name string) string {
	n.t.Helper()
	_, rest, _ := strings.Cut(string(n.must("INFO", section).Str), "\r\n"+name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// eventually waits until a condition holds.
func (n *node) eventually(what string, holds func() bool) {
	n.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			n.t.Fatalf("never: %s\n%s\n%s", what, n.do("INFO", "replication").Str, n.do("INFO", "stats").Str)
		}
	}
}

// follow starts a redis-server that follows address, and returns it once the link is up.
func follow(t *testing.T, address string, args ...string) *node {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	s := oracle.Start(t, append([]string{"--logfile", log, "--repl-diskless-sync-delay", "0", "--repl-timeout", "600"}, args...)...)
	n := connect(t, "unix", s.Socket)
	t.Cleanup(func() {
		if text, _ := os.ReadFile(log); t.Failed() {
			t.Logf("%s", text[max(0, len(text)-4000):])
		}
	})
	n.eventually("it has loaded", func() bool { return !n.do("PING").IsError() })
	host, port, _ := net.SplitHostPort(address)
	n.must("REPLICAOF", host, port)
	n.eventually("the link is up", func() bool { return n.info("replication", "master_link_status") == "up" })
	return n
}

// caughtUp waits until a replica has acknowledged everything.
func caughtUp(master, replica *node) {
	master.t.Helper()
	master.eventually("WAIT counts the replica", func() bool { return master.must("WAIT", "1", "500").Int >= 1 })
	master.t.Helper()
	if errors := replica.info("stats", "unexpected_error_replies"); errors != "0" {
		master.t.Fatalf("the replica could not apply %s effects: %s", errors, replica.do("INFO", "errorstats").Str)
	}
}

// state reads all data of types that Redis has, one line a key.
func (n *node) state() map[string]string {
	n.t.Helper()
	all := map[string]string{}
	for db := range 16 {
		n.must("SELECT", strconv.Itoa(db))
		for _, key := range n.must("KEYS", "*").Elems {
			if line, ok := n.key(string(key.Str)); ok {
				all[fmt.Sprintf("%d %q", db, key.Str)] = line
			}
		}
	}
	n.must("SELECT", "0")
	if v := n.do("FUNCTION", "LIST", "WITHCODE"); !v.IsError() {
		all["functions"] = flat(v, true)
	}
	return all
}

// flat returns the text of a reply.
func flat(v resp.Value, sorts bool) string {
	var parts []string
	var walk func(resp.Value)
	walk = func(v resp.Value) {
		for _, e := range v.Elems {
			walk(e)
		}
		switch {
		case v.Elems != nil:
		case v.Kind == resp.Int:
			parts = append(parts, strconv.FormatInt(v.Int, 10))
		default:
			parts = append(parts, strconv.Quote(string(v.Str)))
		}
	}
	walk(v)
	if sorts {
		slices.Sort(parts)
	}
	return strings.Join(parts, " ")
}

func (n *node) key(key string) (line string, ok bool) {
	n.t.Helper()
	typ := string(n.must("TYPE", key).Str)
	line = typ + " " + flat(n.must("PEXPIRETIME", key), false) + " "
	switch typ {
	case "string":
		v := n.must("GET", key)
		if bytes.HasPrefix(v.Str, []byte("HYLL")) && len(v.Str) >= 16 {
			copy(v.Str[8:16], make([]byte, 8)) // the cache of PFCOUNT
		}
		line += flat(v, false)
	case "list":
		line += flat(n.must("LRANGE", key, "0", "-1"), false)
	case "set":
		line += flat(n.must("SMEMBERS", key), true)
	case "zset":
		members := n.must("ZRANGE", key, "0", "-1", "WITHSCORES").Elems
		for i := 0; i+1 < len(members); i += 2 {
			score, _ := strconv.ParseFloat(string(members[i+1].Str), 64) // versions print the digits differently
			line += fmt.Sprintf("%q=%v ", members[i].Str, score)
		}
	case "hash":
		var pairs []string
		fields := n.must("HGETALL", key).Elems
		for i := 0; i+1 < len(fields); i += 2 {
			pair := flat(fields[i], false) + "=" + flat(fields[i+1], false)
			if v := n.do("HPEXPIRETIME", key, "FIELDS", "1", string(fields[i].Str)); !v.IsError() && flat(v, false) != "-1" {
				pair += "@" + flat(v, false)
			}
			pairs = append(pairs, pair)
		}
		slices.Sort(pairs)
		line += strings.Join(pairs, " ")
	case "stream":
		line += flat(n.must("XRANGE", key, "-", "+"), false)
		info := n.must("XINFO", "STREAM", key).Elems
		for i := 0; i+1 < len(info); i += 2 {
			if name := string(info[i].Str); name == "last-generated-id" || name == "max-deleted-entry-id" || name == "entries-added" {
				line += " " + name + "=" + flat(info[i+1], false)
			}
		}
		for _, g := range n.must("XINFO", "GROUPS", key).Elems {
			group := string(g.Elems[1].Str)
			for i := 0; i+1 < len(g.Elems); i += 2 {
				if string(g.Elems[i].Str) != "lag" { // versions compute it differently
					line += " " + flat(g.Elems[i+1], false)
				}
			}
			for _, p := range n.must("XPENDING", key, group, "-", "+", "1000").Elems {
				line += " " + flat(resp.MakeArray(p.Elems[0], p.Elems[1], p.Elems[3]), false)
			}
		}
	case "vectorset":
		line += flat(n.must("VCARD", key), false)
	default:
		return "", false
	}
	return line, true
}

// same compares two states until they are equal: a key of the replica that has expired exists until the source's sweep.
func same(t *testing.T, master, replica *node) {
	t.Helper()
	var differences []string
	for deadline := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
		caughtUp(master, replica)
		want, got := master.state(), replica.state()
		differences = differences[:0]
		for name, line := range want {
			if got[name] != line {
				differences = append(differences, fmt.Sprintf("%s\n at the source:  %.3000s\n at the replica: %.3000s", name, line, got[name]))
			}
		}
		for name, line := range got {
			if _, ok := want[name]; !ok {
				differences = append(differences, fmt.Sprintf("%s is only at the replica: %.1000s", name, line))
			}
		}
		if len(differences) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Error(strings.Join(differences, "\n"))
			return
		}
	}
}

// notReplayed are commands that end or change the connections of a transcript, or the test's replica.
var notReplayed = []string{"SHUTDOWN", "MONITOR", "QUIT", "REPLICAOF", "SLAVEOF", "SYNC", "PSYNC", "WAIT", "WAITAOF", "FAILOVER", "DEBUG", "CONFIG", "CLIENT", "ACL", "AUTH", "HELLO"}

// TestReplicas plays the corpus on a server that a redis-server follows, and compares their data after each transcript.
func TestReplicas(t *testing.T) {
	t.Parallel()
	address := serveProcess(t, filepath.Join(t.TempDir(), "source.sqlite"))
	master := connect(t, "tcp", address)
	replica := follow(t, address)
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	version := (&oracle.Server{Socket: replica.conn.RemoteAddr().String()}).Dial(t).Version()
	clients := map[int]*node{1: connect(t, "tcp", address), 2: connect(t, "tcp", address)}
	for _, transcript := range all {
		if version.Before(transcript.Since) {
			continue
		}
		master.must("FLUSHALL")
		master.must("FUNCTION", "FLUSH")
		for _, step := range transcript.Steps {
			if name := strings.ToUpper(string(step.Args[0])); !slices.Contains(notReplayed, name) && !strings.Contains(name, "SUBSCRIBE") {
				clients[step.Client].try(2*time.Second, step.Args...)
			}
		}
		clients[1].do("RESET")
		clients[2].do("RESET")
		if same(t, master, replica); t.Failed() {
			t.Fatalf("after the transcript %s", transcript.Name)
		}
	}
	if n := number(master.info("stats", "sync_full")); n != 1 { // an effect that is unknown makes the replica start over
		t.Errorf("%d full synchronizations", n)
	}
}

// randomCall returns a write of a kind that needs a rewrite: random members, relative times, scripts, blocking calls.
func randomCall(r *rand.Rand) []string {
	key := func(typ string) string { return typ + strconv.Itoa(r.IntN(6)) }
	n := func(most int) string { return strconv.Itoa(r.IntN(most)) }
	calls := [][]string{
		{"SET", key("s"), n(100)}, {"SET", key("s"), n(100), "PX", n(40) + "1"}, {"SET", key("s"), n(100), "KEEPTTL"}, {"INCRBY", key("i"), n(9)},
		{"INCR", key("i")}, {"PEXPIRE", key("i"), n(30) + "1"}, {"INCRBYFLOAT", key("f"), "0." + n(99)}, {"APPEND", key("s"), n(9)}, {"GETDEL", key("s")},
		{"GETEX", key("s"), "EX", "100"}, {"PERSIST", key("s")}, {"SETRANGE", key("s"), n(20), "x"}, {"SETBIT", key("b"), n(80), "1"},
		{"SADD", key("m"), n(50), n(50)}, {"SPOP", key("m")}, {"SPOP", key("m"), "3"}, {"SMOVE", key("m"), key("m"), n(50)}, {"SUNIONSTORE", key("m"), key("m"), key("m")},
		{"RPUSH", key("l"), n(9), n(9)}, {"LPOP", key("l")}, {"BLPOP", key("l"), key("l"), "0.001"}, {"BLMOVE", key("l"), key("l"), "LEFT", "RIGHT", "0.001"}, {"LMPOP", "2", key("l"), key("l"), "RIGHT", "COUNT", "2"},
		{"LTRIM", key("l"), "0", "20"}, {"PEXPIRE", key("l"), n(50) + "1"}, {"RENAME", key("l"), key("l")}, {"COPY", key("l"), key("l"), "DB", n(3), "REPLACE"}, {"MOVE", key("m"), "5"},
		{"HSET", key("h"), n(20), n(20)}, {"HINCRBYFLOAT", key("h"), n(20), "1.5"}, {"HDEL", key("h"), n(20)}, {"PEXPIRE", key("h"), n(90) + "1"},
		{"ZADD", key("z"), n(20), n(20)}, {"ZINCRBY", key("z"), "1.25", n(20)}, {"ZPOPMIN", key("z")}, {"ZMPOP", "1", key("z"), "MAX"}, {"BZPOPMAX", key("z"), key("z"), "0.001"}, {"ZRANGESTORE", key("z"), key("z"), "0", "5"},
		{"XADD", key("x"), "*", "f", n(9)}, {"XADD", key("x"), "MAXLEN", "~", "5", "*", "f", n(9)}, {"XTRIM", key("x"), "MAXLEN", "3"}, {"XGROUP", "CREATE", key("x"), "g", "0", "MKSTREAM"},
		{"XREADGROUP", "GROUP", "g", "c" + n(3), "COUNT", "2", "STREAMS", key("x"), ">"}, {"XREADGROUP", "GROUP", "g", "c" + n(3), "NOACK", "STREAMS", key("x"), ">"}, {"XAUTOCLAIM", key("x"), "g", "c" + n(3), "0", "0"}, {"PFADD", key("p"), n(1000), n(1000)},
		{"DEL", key("x")}, {"DEL", key("s"), key("i"), key("l")}, {"SORT", key("m"), "STORE", key("l")}, {"FLUSHDB"}, {"SWAPDB", "2", n(3)},
		{"JSON.SET", key("j"), "$", n(9)}, {"RENAME", key("j"), key("s")},
		{"EVAL", "redis.call('INCR', KEYS[1]) redis.call('SPOP', KEYS[2]) return redis.call('SET', KEYS[3], redis.call('TIME')[2])", "3", key("i"), key("m"), key("s")},
	}
	return calls[r.IntN(len(calls))]
}

// TestReplicaOfBusySource attaches a replica while clients write, cuts its connection, writes as another process, makes
// the replica too slow, and compares the data.
func TestReplicaOfBusySource(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "source.sqlite")
	address := serveProcess(t, file)
	master := connect(t, "tcp", address)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	pause := func() {
		close(stop)
		writers.Wait()
	}
	write := func() {
		stop = make(chan struct{})
		for i := range 3 {
			n, r := connect(t, "tcp", address), rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))
			writers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					switch r.IntN(8) {
					case 0:
						n.do("SELECT", strconv.Itoa(r.IntN(3)))
					case 1:
						n.do("MULTI")
						for range 3 {
							n.do(randomCall(r)...)
						}
						n.do("EXEC")
					default:
						n.do(randomCall(r)...)
					}
				}
			})
		}
	}
	cut := func() {
		for line := range strings.Lines(string(master.must("CLIENT", "LIST").Str)) {
			if id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " "); strings.Contains(line, " flags=S ") {
				master.must("CLIENT", "KILL", "ID", id)
			}
		}
	}
	linked := func(replica *node) {
		replica.eventually("the link is up", func() bool { return replica.info("replication", "master_link_status") == "up" })
	}
	master.must("CONFIG", "SET", "repl-backlog-size", "64mb")
	write()
	replica := follow(t, address)
	for i := range 3 {
		master.eventually("writes are sent", func() bool { return number(master.info("replication", "master_repl_offset")) > int64(i+1)*20_000 })
		cut()
		master.eventually("it resumes", func() bool { return number(master.info("stats", "sync_partial_ok")) == int64(i+1) })
	}
	pause()
	linked(replica)
	same(t, master, replica)
	if n := master.info("stats", "sync_full"); n != "1" {
		t.Errorf("%s full synchronizations", n)
	}

	// Another process writes.
	resets := number(master.info("replication", "repl_resyncs_forced"))
	if out, err := exec.Command("meowdis", "exec", "-t", file, "SET", "other", "process").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	replica.eventually("it has the write", func() bool { return string(replica.do("GET", "other").Str) == "process" })
	linked(replica)
	same(t, master, replica)
	if n := number(master.info("replication", "repl_resyncs_forced")); n != resets+1 {
		t.Errorf("%d forced full synchronizations, want %d", n, resets+1)
	}

	// The replica stops reading.
	master.must("CONFIG", "SET", "client-output-buffer-limit", "replica 1mb 0 0", "repl-backlog-size", "16kb")
	full := number(master.info("stats", "sync_full"))
	process := replica.info("server", "process_id")
	signal := func(name string) {
		if out, err := exec.Command("kill", "-"+name, process).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	signal("STOP")
	value := strings.Repeat("v", 1<<20)
	master.eventually("it is disconnected", func() bool {
		master.must("SET", "big", value)
		return number(master.info("clients", "connected_clients")) > 0 && master.info("replication", "connected_slaves") == "0"
	})
	signal("CONT")
	master.eventually("it starts over", func() bool { return number(master.info("stats", "sync_full")) > full })
	linked(replica)
	same(t, master, replica)
	for _, field := range []string{"role", "master_replid", "repl_backlog_active", "repl_backlog_histlen", "slave0"} {
		if master.info("replication", field) == "" {
			t.Errorf("INFO lacks %s", field)
		}
	}
	if role := master.must("ROLE"); len(role.Elems) != 3 || len(role.Elems[2].Elems) != 1 {
		t.Errorf("ROLE replies %s", flat(role, false))
	}
	if v := master.must("WAITAOF", "0", "1", "100"); len(v.Elems) != 2 || v.Elems[1].Int != 0 {
		t.Errorf("WAITAOF replies %s for a replica without a file", flat(v, false))
	}
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
