package soak

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/meowdis/meowdis/internal/test/hermetic"
)

// resident is how many bytes of memory the process takes.
func (p *process) resident() (int64, error) {
	if statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid)); err == nil {
		fields := strings.Fields(string(statm))
		if len(fields) < 2 {
			return 0, fmt.Errorf("the process has ended")
		}
		pages, err := strconv.ParseInt(fields[1], 10, 64)
		return pages * int64(os.Getpagesize()), err
	}
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(p.cmd.Process.Pid)).Output()
	if err != nil {
		return 0, err
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return kilobytes << 10, err
}

// watchMemory samples the memory of the server after a warm-up, a third of the time that
// is planned, until all leave.
func (c *crowd) watchMemory(planned time.Duration) (samples []int64) {
	c.pause(planned / 3)
	for c.here.Err() == nil {
		n, err := c.server.resident()
		if c.ending.Load() {
			break // what was read may be of a process that is gone
		}
		if c.unexpected("memory", err) {
			break
		}
		samples = append(samples, n)
		c.seen.memory.Add(1)
		c.pause(planned / 100)
	}
	return samples
}

// flat is an error when the least memory of the last third of the samples is clearly more
// than that of the first third. Peaks come and go, as garbage does, and what leaks stays.
func flat(samples []int64) error {
	third := len(samples) / 3
	if third == 0 {
		return fmt.Errorf("there are %d samples of memory", len(samples))
	}
	before, after := slices.Min(samples[:third]), slices.Min(samples[2*third:])
	if after > before+before/5+slack {
		return fmt.Errorf("the server takes more and more memory: %s", inMB(samples))
	}
	return nil
}

// slack is what garbage and caches may add, wherever in them the samples begin.
const slack = 24 << 20

// inMB shows the least memory of each tenth of the samples.
func inMB(samples []int64) string {
	var b strings.Builder
	for part := range slices.Chunk(samples, max(1, len(samples)/10)) {
		fmt.Fprintf(&b, "%d ", slices.Min(part)>>20)
	}
	return b.String() + "MB"
}

func TestFlat(t *testing.T) {
	var steady, growing []int64
	for i := range int64(100) {
		noise := i * 7919 % 101 << 20
		steady = append(steady, 100<<20+noise)
		growing = append(growing, 100<<20+noise+i<<20)
	}
	if err := flat(steady); err != nil {
		t.Error(err)
	}
	if flat(growing) == nil || flat(nil) == nil {
		t.Error("what grows is taken for flat")
	}
}

// TestBoundedMemory asks for much more than --max-memory in several ways: the process never takes 250 MB more than that,
// and ends when it is told to, even while a script runs.
func TestBoundedMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the system does not say how much memory a process had at most")
	}
	const limit, more = 64, 250
	p := startVerb(t, t.TempDir()+"/db.sqlite", 0, "--max-memory", fmt.Sprintf("%dmb", limit), "--max-request-memory", fmt.Sprintf("%dmb", limit), unhurried)
	s, err := p.dial(false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := runner(s)
	replies := []string{"JSON.GET", "JSON.RESP", "ZUNION", "GEOSEARCH", "HGETALL"} // they may fit
	mb := strings.Repeat("x", 1<<20)
	mget := []string{"MGET"}
	for i := range 40 {
		key := fmt.Sprint("v", i)
		run("SET", key, mb)
		for range 10 {
			mget = append(mget, key)
		}
	}
	run("JSON.SET", "json", "$", strings.Repeat("[", 100)+strings.Repeat("0,", 20_000)+"0"+strings.Repeat("]", 100))
	run("JSON.SET", "deep", "$", strings.Repeat(`{"a":[1,`, 50)+"1"+strings.Repeat("]}", 50))
	run("JSON.SET", "arrays", "$", "["+strings.Repeat("[],", 20_000)+"[]]")
	numbers := "[" + strings.Repeat("1,", 20_000) + "1]"
	run(append([]string{"RPUSH", "list"}, slices.Repeat([]string{"1"}, 4000)...)...)
	fill(run, "zset", 100_000)
	fill(run, "hash", 100_000)
	run("JSON.SET", "objects", "$", "["+strings.Repeat(`{"a":{"b":1}},`, 25_000)+"1]")
	run("CMS.INITBYDIM", "cms", "40000000", "2")
	run("TS.MADD", "ts", "1", "1", "ts", "1000000000", "1")
	const many = "local s, t = string.rep('x', 1048576), {} for i = 1, 3000 do t[i] = s end "
	for _, attack := range [][]string{
		{"EVAL", many + "return #cjson.encode(t)", "0"},
		{"EVAL", many + "return #cmsgpack.pack(t)", "0"},
		{"EVAL", many + "return #string.format(string.rep('%s', 3000), unpack(t))", "0"},
		{"EVAL", "return #string.gsub(string.rep('x', 1048576), '.*', string.rep('%0', 3000))", "0"},
		{"EVAL", many + "return redis.call('MGET', unpack(t))", "0"},
		{"EVAL", many + "for i = 1, 3000 do t[i] = {ok = s} end return t", "0"},
		{"EVAL", "return #cjson.decode('[' .. string.rep('[],', 5000000) .. '0]')", "0"},
		{"SORT", "list", "BY", "nosort", "GET", "v*"},
		{"SORT", "list", "BY", "v*", "ALPHA"},
		{"SORT", "list", "BY", "nosort", "GET", "v*", "STORE", "sorted"},
		{"JSON.ARRAPPEND", "arrays", "$.*", numbers},
		{"JSON.SET", "arrays", "$.*", numbers},
		{"JSON.MERGE", "arrays", "$.*", `{"a":` + numbers + "}"},
		{"JSON.GET", "json", "INDENT", strings.Repeat(" ", 10_000)},
		{"EVAL", "local s = string.rep('x', 1048576) local t = {} for i = 1, 3000 do t[i] = s end return t", "0"},
		mget,
		{"EVAL", "return #string.rep('x', 1e9)", "0"},
		{"EVAL", "local s, t = string.rep('x', 1048576), {} for i = 1, 3000 do t[i] = s end return #table.concat(t)", "0"},
		{"JSON.GET", "deep", "$..*..*"},
		append([]string{"SORT", "list", "BY", "nosort"}, slices.Repeat([]string{"GET", "v*"}, 100)...),
		append([]string{"SORT", "list", "BY", "nosort", "LIMIT", "0", "10"}, slices.Repeat([]string{"GET", "v*"}, 100)...),
		append([]string{"JSON.MGET"}, append(slices.Repeat([]string{"objects"}, 50), "$..*")...),
		{"JSON.RESP", "objects"},
		{"ZUNION", "3", "zset", "zset", "zset", "WITHSCORES"},
		{"GEOSEARCH", "zset", "FROMLONLAT", "-180", "-85", "BYRADIUS", "50000", "km", "WITHCOORD", "WITHDIST", "WITHHASH"},
		{"HGETALL", "hash"},
		{"CMS.MERGE", "cms", "1", "cms"},
		{"DUMP", "cms"},
		{"LCS", "v1", "v2"},
	} {
		if got := run(attack...); !strings.Contains(got, "memory") && !slices.Contains(replies, attack[0]) {
			t.Errorf("%.60q replies %.80q", attack, got)
		}
	}
	run("SETRANGE", "long", "100000000", "x")
	run("BITOP", "NOT", "other", "long")
	run("BITOP", "AND", "third", "long", "other")
	peak, err := p.peak()
	if err != nil || peak > (limit+more)<<20 {
		t.Errorf("the process had %d MB, %v", peak>>20, err)
	}
	t.Logf("at most %d MB", peak>>20)
	// A script that allocates for ever runs: other clients are refused.
	run("CONFIG", "SET", "busy-reply-threshold", "1")
	loops, err := p.dial(false)
	if err != nil {
		t.Fatal(err)
	}
	defer loops.Close()
	go do(loops, [][]byte{[]byte("EVAL"), []byte("while true do cjson.encode({string.rep('x', 1e7)}) end"), []byte("0")})
	for !strings.Contains(run("PING"), "BUSY") {
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.cmd.Wait()
}

// runner returns a function that runs a command on s, and returns its error.
func runner(s session) func(args ...string) (reply string) {
	return func(args ...string) (reply string) {
		call := make([][]byte, len(args))
		for i, arg := range args {
			call[i] = []byte(arg)
		}
		if err := do(s, call); err != nil {
			reply = err.Error()
		}
		return reply
	}
}

// fill adds n elements to the hash "hash", or to the sorted set "zset".
func fill(run func(args ...string) string, key string, n int) {
	const some = 10_000
	for first := 0; first < n; first += some {
		call := []string{map[string]string{"hash": "HSET", "zset": "ZADD"}[key], key}
		for i := range some {
			text := strconv.Itoa(first + i)
			call = append(call, text, text)
		}
		run(call...)
	}
}

// unhurried lets no command of a busy machine end by the time limit, where the limit of memory is the subject.
const unhurried = "--timeout=5m"

// TestMGETMemory asks for 4,000 MB at once, with the default limits of memory.
func TestMGETMemory(t *testing.T) {
	const most = 900
	p := startVerb(t, t.TempDir()+"/db.sqlite", 0, unhurried)
	if _, err := p.peak(); err != nil {
		t.Skip(err)
	}
	s, err := p.dial(false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := runner(s)
	mget := []string{"MGET"}
	for i := range 40 {
		key := fmt.Sprint("v", i)
		run("SET", key, strings.Repeat("x", 1<<20))
		mget = append(mget, slices.Repeat([]string{key}, 100)...)
	}
	for range 2 {
		if got := run(mget...); !strings.Contains(got, "memory") {
			t.Errorf("it replies %.80q", got)
		}
	}
	peak, err := p.peak()
	t.Logf("at most %d MB", peak>>20)
	if err != nil || peak > most<<20 {
		t.Errorf("the process had %d MB, %v; want %d MB", peak>>20, err, most)
	}
}

// TestAgentMemory has an agent ask for much: the process of mcp stays below 256 MB.
func TestAgentMemory(t *testing.T) {
	const most = 256
	path := t.TempDir() + "/db.sqlite"
	p := startVerb(t, path, 0)
	if _, err := p.peak(); err != nil {
		t.Skip(err)
	}
	s, err := p.dial(false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := runner(s)
	mget := "MGET"
	for i := range 20 {
		key := fmt.Sprint("v", i)
		run("SET", key, strings.Repeat("x", 1<<20))
		mget += strings.Repeat(" "+key, 50)
	}
	fill(run, "zset", 150_000)
	run(append([]string{"RPUSH", "list"}, slices.Repeat([]string{"1"}, 200_000)...)...)
	run("JSON.SET", "objects", "$", "["+strings.Repeat(`{"a":{"b":1}},`, 100_000)+"1]")
	run("CMS.INITBYDIM", "cms", "40000000", "2")
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.cmd.Wait()

	agent := &process{cmd: exec.Command(self(t), "mcp", path)}
	agent.cmd.Env = append(hermetic.Environ(), isMeowdis+"=1")
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: agent.cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, call := range []struct{ tool, line string }{
		{"query", mget}, {"query", "JSON.GET objects INDENT '" + strings.Repeat(" ", 10_000) + "'"}, {"query", "JSON.MGET" + strings.Repeat(" objects", 50) + " $..*"},
		{"query", "ZUNION 3 zset zset zset WITHSCORES"}, {"query", "SORT list BY nosort" + strings.Repeat(" GET v*", 100)}, {"query", "DUMP cms"},
		{"query", "LRANGE list 0 -1"}, {"query", "SORT list DESC"}, {"explain", mget}, {"explain", `EVAL "local t = {} for i = 1, 3000 do t[i] = string.rep('x', 1048576) end return t" 0`},
	} {
		if _, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: map[string]any{"line": call.line}}); err != nil {
			t.Errorf("%s %.60q: %v", call.tool, call.line, err)
		}
		peak, err := agent.peak()
		t.Logf("%d MB after %s %.60q", peak>>20, call.tool, call.line)
		if err != nil || peak > most<<20 {
			t.Fatalf("%s %.60q takes %d MB, %v; want %d MB", call.tool, call.line, peak>>20, err, most)
		}
	}
}

// peak is how many bytes of memory the process had at most.
func (p *process) peak() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	for line := range strings.Lines(string(status)) {
		if figure, is := strings.CutPrefix(line, "VmHWM:"); is {
			kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(figure), "kB")), 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, errors.Join(err, errors.New("the system does not say"))
}
