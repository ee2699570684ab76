package cmd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/local"
)

// measure runs meowdis with the args of this process, and prints how much it had in memory at
// most, as the system counts it. It is a process of its own, and a small one: Linux counts what
// a process had before it became another program, which for a child of a test is what the test
// has.
func measure() {
	c := exec.Command("meowdis", os.Args[1:]...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	err := c.Run()
	if c.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	fmt.Println(maxrss(c.ProcessState))
	os.Exit(c.ProcessState.ExitCode())
}

// peak is how many bytes a run of meowdis, which must end with 0, had in memory at most.
func (m mover) peak(args ...string) int {
	m.t.Helper()
	c := exec.Command("measure", args...)
	c.Dir = m.dir
	c.Env = append(manyThreads(), "XDG_CONFIG_HOME="+m.dir, "XDG_DATA_HOME="+m.dir, "MEOWDIS_TOKEN="+restToken)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		m.t.Fatalf("meowdis %q: %v: %s", args, err, said.String())
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		m.t.Fatal(err)
	}
	if runtime.GOOS != "darwin" { // KB
		n <<= 10
	}
	return n
}

// element is a key with one large element, which the call ends with, or has in place of the
// empty word.
type element struct {
	what, call string
	isJSON     bool
	isRedis    bool // a dump file can hold the key, and every redis-server
}

var heavyElements = []element{
	{what: "value of a hash", call: "HSET k f ", isRedis: true},
	{what: "field of a hash", call: "HSET k  v", isRedis: true},
	{what: "element of a list", call: "RPUSH k ", isRedis: true},
	{what: "member of a set", call: "SADD k ", isRedis: true},
	{what: "member of a sorted set", call: "ZADD k 1 ", isRedis: true},
	{what: "value of a stream", call: "XADD k 1-1 f ", isRedis: true},
	{what: "field of a stream", call: "XADD k 1-1  v", isRedis: true},
	{what: "string", call: "SET k ", isRedis: true},
	{what: "value of an array", call: "ARSET k 7 "},
	{what: "document", call: "JSON.SET k $ ", isJSON: true},
	{what: "name of a vector", call: "VADD k VALUES 2 1 2 "},
	{what: "attributes of a vector", call: "VADD k VALUES 2 1 2 e SETATTR ", isJSON: true},
}

// make makes a file with the key, whose element has so many bytes, which cannot be compressed.
func (e element) make(t *testing.T, path string, size int) {
	t.Helper()
	large := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(large)
	if e.isJSON {
		for i, c := range large {
			large[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[c%64]
		}
		copy(large, `{"a":"`)
		copy(large[size-2:], `"}`)
	}
	s, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	var args [][]byte
	for word := range strings.SplitSeq(e.call, " ") {
		if args = append(args, []byte(word)); word == "" {
			args[len(args)-1] = large
		}
	}
	v, err := engine.New(s).Session().Do(context.Background(), args...)
	if err := errors.Join(err, s.Close()); err != nil || v.IsError() {
		t.Fatalf("%s: %v %s", e.what, err, v.Str)
	}
}

// memoryMove is a run of meowdis, which reads what one before it has written.
type memoryMove struct {
	name  string
	args  string  // "a" is the file with the key, REDIS a server
	tight float64 // times that the value of a hash may be in memory; 0 for what the everyday run leaves out
}

var memoryMoves = []memoryMove{
	{"file → file", "copy a b", 2.6},
	{"diff of files", "diff a b", 3.6},
	{"file → archive", "dump -t a archive", 3.9},
	{"archive → file", "restore -t fromArchive archive", 2.6},
	{"file → JSON lines", "dump -t a x.jsonl", 2.6},
	{"JSON lines → file", "import -t fromJSON x.jsonl", 2.6},
	{"file → commands", "dump -t a x.txt", 2.6},
	{"commands → file", "import -t fromCommands --format commands x.txt", 4},
	{"file → protocol", "dump -t a x.resp", 2.6},
	{"protocol → file", "import -t fromProtocol --format aof x.resp", 3.2},
	{"file → dump file", "export -t a x.rdb", 2.6},
	{"dump file → file", "import -t fromRDB x.rdb", 2.6},
	{"file → redis-server", "copy a REDIS", 2.6},
	{"redis-server → file", "copy REDIS fromRedis", 2.6},
	{"diff with a redis-server", "diff a REDIS", 3.8},
	{"redis-server → archive", "dump -t REDIS archive2", 0},
	{"redis-server → JSON lines", "dump -t REDIS y.jsonl", 0},
	{"redis-server → commands", "dump -t REDIS y.txt", 0},
	{"redis-server → dump file", "export -t REDIS y.rdb", 0},
	{"archive → redis-server", "restore --replace -t REDIS archive", 0},
	{"JSON lines → redis-server", "import --replace -t REDIS x.jsonl", 0},
	{"commands → redis-server", "import --replace -t REDIS --format commands x.txt", 0},
	{"dump file → redis-server", "import --replace -t REDIS x.rdb", 0},
}

// times measures a move in times of the element.
func (m mover) times(move memoryMove, redis string, base, size int) float64 {
	m.t.Helper()
	return float64(m.peak(strings.Fields(strings.ReplaceAll(move.args, "REDIS", redis))...)-base) / float64(size)
}

// TestMemory moves keys with one large element each: beside what meowdis needs without one, that
// may be in memory four times. The everyday run is a part of the table, with tighter bounds, so
// that one copy more fails; with -large 67108864 it is all of it, and takes minutes.
func TestMemory(t *testing.T) {
	t.Parallel()
	size, all := *largeElement, true
	if size < 48<<20 {
		size, all = 24<<20, false
	}
	for i, e := range heavyElements {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(e.what, func(t *testing.T) {
			t.Parallel()
			m := mover{t, t.TempDir()}
			e.make(t, filepath.Join(m.dir, "small"), 20)
			e.make(t, filepath.Join(m.dir, "a"), size)
			base := m.peak("copy", "small", "smaller")
			redis := ""
			if all || i == 0 { // the everyday run moves other elements between files only
				server := oracle.Start(t)
				server.Dial(t)
				redis = "unix://" + server.Socket
			}
			for j, move := range memoryMoves {
				forRedis := strings.Contains(move.args, "REDIS") || strings.Contains(move.args, "rdb")
				if forRedis && !e.isRedis || !all && (move.tight == 0 || i > 0 && j > 0) {
					continue
				}
				most := 4.0
				if i == 0 && move.tight > 0 {
					most = move.tight
				}
				n := m.times(move, redis, base, size)
				t.Logf("%-28s%5.1f", move.name, n)
				if n > most+0.05 {
					t.Errorf("%s takes %.1f times the element and not %.1f", move.name, n, most)
				}
			}
		})
	}
}
