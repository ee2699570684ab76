package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rival is a server to measure. It stores its files in dir.
type rival struct {
	name    string
	command func(port, dir string) *exec.Cmd
}

func rivals(o *options) []rival {
	return []rival{
		{"meowdis", func(port, dir string) *exec.Cmd {
			return exec.Command(o.meowdis, "serve", "-t", filepath.Join(dir, "meowdis.sqlite"), "--resp", "127.0.0.1:"+port)
		}},
		{"Redka 0.6.0", func(port, dir string) *exec.Cmd {
			return exec.Command(o.redka, "-h", "127.0.0.1", "-p", port, filepath.Join(dir, "redka.db"))
		}},
		redisServer,
	}
}

// redisServer is the redis-server on the PATH; run adds its version to the name.
var redisServer = rival{"redis-server", func(port, dir string) *exec.Cmd {
	return exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "yes")
}}

// workload is a test of redis-benchmark with two pipeline lengths. Every server gets the same
// number of requests: the shortest command's number divided by less, and more times as many at
// pipeline 16, so that connecting does not count. A goal of 0 means none.
type workload struct {
	test         string // redis-benchmark's name
	less, more   int
	redka, redis [2]float64 // goals, at pipeline 1 and 16
}

var pipelines = [2]int{1, 16}

var (
	writes = [2]float64{5, 6}
	reads  = [2]float64{2, 4}
)

// ping is the test that shows the limit of redis-benchmark: no reply is faster.
const ping = "ping_mbulk"

// workloads are redis-benchmark's default tests.
var workloads = []workload{
	{ping, 1, 8, [2]float64{}, [2]float64{}},
	{"set", 1, 2, writes, [2]float64{0.6, 0.3}},
	{"get", 1, 8, reads, [2]float64{0.6, 0.4}},
	{"incr", 1, 2, writes, [2]float64{0.6, 0.3}},
	{"lpush", 1, 2, writes, [2]float64{0.6, 0.2}},
	{"rpush", 1, 2, writes, [2]float64{0.5, 0.2}},
	{"lpop", 1, 2, writes, [2]float64{0.5, 0.2}},
	{"rpop", 1, 2, writes, [2]float64{0.5, 0.2}},
	{"sadd", 1, 2, writes, [2]float64{0.5, 0.2}},
	{"hset", 1, 2, writes, [2]float64{0.6, 0.2}},
	{"spop", 1, 2, writes, [2]float64{0.5, 0}},
	{"zadd", 1, 2, writes, [2]float64{0.45, 0.2}},
	{"zpopmin", 1, 2, writes, [2]float64{}},
	{"lrange_100", 4, 2, reads, [2]float64{0.5, 0}},
	{"lrange_300", 10, 2, reads, [2]float64{}},
	{"lrange_500", 16, 2, reads, [2]float64{}},
	{"lrange_600", 20, 2, reads, [2]float64{}},
	{"mset", 4, 2, writes, [2]float64{0.3, 0}},
}

// requests returns the number of requests of the workload, if the shortest command has
// shortest at pipeline 1.
func (w workload) requests(shortest, pipeline int) int {
	n := shortest / w.less
	if pipeline > 1 {
		n *= w.more
	}
	return n
}

// distinctKeys is the number of distinct keys and members that redis-benchmark draws.
const distinctKeys = 10_000

// samples holds the results of each workload on a server.
type samples map[string][]sample

// sample holds the result of one run of a workload.
type sample struct {
	rate float64       // requests per second
	cpu  time.Duration // server processor time per request
}

// rate returns the median, or 0 if the server does not know the command.
func (s samples) rate(test string) float64 {
	var rates []float64
	for _, one := range s[test] {
		rates = append(rates, one.rate)
	}
	if len(rates) == 0 {
		return 0
	}
	return median(rates)
}

func (s samples) cpu(test string) time.Duration {
	var cpu []time.Duration
	for _, one := range s[test] {
		cpu = append(cpu, one.cpu)
	}
	return median(cpu)
}

// compareServers runs every workload on every server, round by round, so that other work on
// the machine affects all of them. The first round, with half the requests, warms the servers
// up and does not count.
func compareServers(o *options, dir string) error {
	file := filepath.Join(dir, "alone.sqlite")
	if err := fill(distinctKeys, exec.Command(o.meowdis, "exec", "--pipe", "-t", file)); err != nil {
		return err
	}
	alone, err := sqliteByName(file, distinctKeys)
	if err != nil {
		return err
	}
	elements, err := sqliteElements(file)
	if err != nil {
		return err
	}
	maps.Copy(alone, elements)
	alone["mset"] = alone["set"] / 10 // keys of redis-benchmark's MSET
	for at, pipeline := range pipelines {
		fmt.Fprintf(o.out, "`redis-benchmark -c 50 -r %d -P %d`, requests a second, median of %d rounds after one that does not count, "+
			"every server on a file, each with %d requests of SET, %d of GET, %d of LRANGE_100 and %d of MSET; and µs of the server's processor time "+
			"per request; LRANGE includes the LPUSHes that fill its list:\n\n", distinctKeys, pipeline, o.rounds,
			workloadOf("set").requests(o.requests, pipeline), workloadOf("get").requests(o.requests, pipeline), workloadOf("lrange_100").requests(o.requests, pipeline), workloadOf("mset").requests(o.requests, pipeline))
		servers := rivals(o)
		measured, err := inRounds(o, servers, filepath.Join(dir, strconv.Itoa(pipeline)), pipeline)
		if err != nil {
			return err
		}
		fmt.Fprint(o.out, "| ")
		for _, s := range servers {
			fmt.Fprintf(o.out, "| %s | µs ", s.name)
		}
		fmt.Fprintln(o.out, "| meowdis : Redka | meowdis : Redis |")
		fmt.Fprintln(o.out, "|---|"+strings.Repeat("---:|", 2*len(servers)+2))
		for _, w := range workloads {
			w.print(o, at, measured, alone)
		}
		fmt.Fprintln(o.out)
	}
	fmt.Fprint(o.out, "SQLite alone, on one processor, in one transaction and with the fewest statements that each command needs by itself:\n\n| | a second |\n|---|---:|\n")
	for _, w := range workloads {
		if rate := alone[w.test]; rate > 0 {
			fmt.Fprintf(o.out, "| %s | %.0f |\n", strings.ToUpper(w.test), rate)
		}
	}
	fmt.Fprintln(o.out)
	return nil
}

// workloadOf returns the workload of a test.
func workloadOf(test string) workload {
	return workloads[slices.IndexFunc(workloads, func(w workload) bool { return w.test == test })]
}

// inRounds starts the servers on fresh files in a directory, and runs all workloads on each
// server in turn.
func inRounds(o *options, servers []rival, parent string, pipeline int) ([]samples, error) {
	var all []*running
	measured := make([]samples, len(servers))
	for i, s := range servers {
		dir := filepath.Join(parent, strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		server, err := start(s, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		defer server.stop()
		all, measured[i] = append(all, server), samples{}
	}
	for round := range o.rounds + 1 {
		for i, server := range all {
			into, shortest := measured[i], o.requests
			if round == 0 {
				into, shortest = samples{}, o.requests/2
			}
			if err := server.measure(pipeline, shortest, into); err != nil {
				return nil, fmt.Errorf("%s: %w", servers[i].name, err)
			}
		}
	}
	return measured, nil
}

// measure runs all workloads on a server, and adds their results to into.
func (r *running) measure(pipeline, shortest int, into samples) error {
	for _, w := range workloads {
		n := w.requests(shortest, pipeline)
		before, err := r.processor()
		if err != nil {
			return err
		}
		rate, err := benchmark(r.port, w.test, distinctKeys, pipeline, n)
		if err != nil {
			return err
		}
		after, err := r.processor()
		if err != nil {
			return err
		}
		if rate > 0 {
			into[w.test] = append(into[w.test], sample{rate, (after - before) / time.Duration(n)})
		}
	}
	return nil
}

// print prints the row of w, and adds its goals. alone holds what SQLite alone does in a second.
func (w workload) print(o *options, at int, measured []samples, alone map[string]float64) {
	name := strings.ToUpper(w.test)
	fmt.Fprintf(o.out, "| %s ", name)
	for _, of := range measured {
		if rate := of.rate(w.test); rate > 0 {
			fmt.Fprintf(o.out, "| %.0f | %.1f ", rate, float64(of.cpu(w.test))/float64(time.Microsecond))
		} else {
			fmt.Fprint(o.out, "| – | – ")
		}
	}
	rate, redka, redis := measured[0].rate(w.test), measured[1].rate(w.test), measured[2].rate(w.test)
	for _, rival := range []float64{redka, redis} {
		if rival == 0 {
			fmt.Fprint(o.out, "| – ")
		} else {
			fmt.Fprintf(o.out, "| %.2f× ", rate/rival)
		}
	}
	fmt.Fprintln(o.out, "|")
	what := fmt.Sprintf("%s, pipeline %d, ", name, pipelines[at])
	if w.redka[at] > 0 && redka > 0 {
		limit := measured[2].rate(ping) / redka
		beside := fmt.Sprintf("the client's limit is %.2f×", limit)
		if limit < w.redka[at] {
			beside += ", below the goal"
		}
		o.goals.atLeastBeside(what+"meowdis : Redka", rate/redka, w.redka[at], beside)
	}
	if w.redis[at] > 0 && redis > 0 {
		beside := ""
		switch limit := alone[w.test]; {
		case limit == 0:
		case at > 0:
			beside = fmt.Sprintf("SQLite alone: %.2f×", limit/redis)
		default:
			// One processor also reads each request and sends its reply, as for a PING.
			beside = fmt.Sprintf("PING and SQLite alone: %.2f×", 1/(1/limit+1/measured[0].rate(ping))/redis)
		}
		o.goals.atLeastBeside(what+"meowdis : Redis", rate/redis, w.redis[at], beside)
	}
}

// running is a started server.
type running struct {
	name, port string
	cmd        *exec.Cmd
}

// start starts a server with its files in dir, and waits until it listens.
func start(s rival, dir string) (*running, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	r := &running{s.name, port, s.command(port, dir)}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	if err := await(port); err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

func (r *running) stop() {
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

// processor returns the processor time that the server has used.
func (r *running) processor() (time.Duration, error) { return processorOf(r.cmd.Process.Pid) }

// processorOf returns the processor time that a process has used.
func processorOf(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // skip the program's name
	words := strings.Fields(rest)
	const user, system = 11, 12 // proc_pid_stat(5) counts them from the pid
	if len(words) <= system {
		return 0, fmt.Errorf("the kernel says of the process %q", stat)
	}
	ticks := 0
	for _, word := range words[user : system+1] {
		n, err := strconv.Atoi(word)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100, nil
}

// benchmark returns the rate per second of a redis-benchmark test, or 0 if the server replies
// with errors.
func benchmark(port, test string, keys, pipeline, n int) (float64, error) {
	out, err := exec.Command("redis-benchmark", "-h", "127.0.0.1", "-p", port, "-c", "50", "-r", strconv.Itoa(keys),
		"-P", strconv.Itoa(pipeline), "-n", strconv.Itoa(n), "-t", test, "--csv").Output()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && bytes.Contains(failed.Stderr, []byte("Error from server")):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("redis-benchmark -t %s: %w", test, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil || len(rows) < 2 || len(rows[len(rows)-1]) < 2 {
		return 0, fmt.Errorf("redis-benchmark printed %q", out)
	}
	return strconv.ParseFloat(rows[len(rows)-1][1], 64) // the rows before it are LRANGE's preparation
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func await(port string) error {
	for range 500 {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			return c.Close()
		}
		<-time.After(10 * time.Millisecond)
	}
	return fmt.Errorf("nothing listens on port %s", port)
}

func median[T int64 | float64 | time.Duration](xs []T) T {
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}

func medianTime(n int, fn func() error) (time.Duration, error) {
	var times []time.Duration
	for range n {
		start := time.Now()
		if err := fn(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	return median(times), nil
}

func round(d time.Duration) time.Duration {
	if d >= time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
