package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rival is a server under test, which keeps its files in dir.
type rival struct {
	name    string
	command func(port, dir string) *exec.Cmd
}

func rivals(o *options) []rival {
	return []rival{
		{"meowdis", func(port, dir string) *exec.Cmd {
			return exec.Command(o.meowdis, "serve", "--db", filepath.Join(dir, "meowdis.sqlite"), "--resp", "127.0.0.1:"+port)
		}},
		{"Redka 0.6.0", func(port, dir string) *exec.Cmd {
			return exec.Command(o.redka, "-h", "127.0.0.1", "-p", port, filepath.Join(dir, "redka.db"))
		}},
		redisServer,
	}
}

var redisServer = rival{"redis-server, appendfsync everysec", func(port, dir string) *exec.Cmd {
	return exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "yes")
}}

// workload is a test of redis-benchmark at a length of pipelines. Each takes so many requests
// less than the shortest commands that it lasts about as long. A goal of 0 is none.
type workload struct {
	test             string // as redis-benchmark calls it
	less             int
	overRedka, redis [2]float64 // goals, at pipeline 1 and 16
}

var pipelines = [2]int{1, 16}

var (
	writes = [2]float64{5, 6}
	reads  = [2]float64{2, 4}
)

// workloads are the tests that redis-benchmark runs when it is told none.
var workloads = []workload{
	{"ping_mbulk", 1, [2]float64{}, [2]float64{}},
	{"set", 1, writes, [2]float64{0.5}},
	{"get", 1, reads, [2]float64{0.5}},
	{"incr", 1, writes, [2]float64{0.5}},
	{"lpush", 1, writes, [2]float64{0.5}},
	{"rpush", 1, writes, [2]float64{0.5}},
	{"lpop", 1, writes, [2]float64{0.5}},
	{"rpop", 1, writes, [2]float64{0.5}},
	{"sadd", 1, writes, [2]float64{0.5}},
	{"hset", 1, writes, [2]float64{0.4}},
	{"spop", 1, writes, [2]float64{0.5}},
	{"zadd", 1, writes, [2]float64{0.35}},
	{"zpopmin", 1, writes, [2]float64{}},
	{"lrange_100", 4, reads, [2]float64{0.5}},
	{"lrange_300", 10, reads, [2]float64{}},
	{"lrange_500", 16, reads, [2]float64{}},
	{"lrange_600", 20, reads, [2]float64{}},
	{"mset", 8, writes, [2]float64{0.15}},
}

// different is how many keys and members redis-benchmark draws from.
const different = "10000"

// sample is what one run of a workload came to.
type sample struct {
	rate float64       // requests a second
	cpu  time.Duration // of the server's processors, for a request
}

// compareServers runs every workload on every server, round by round, so that whatever
// else the machine does hits all of them.
func compareServers(o *options, dir string) error {
	servers := rivals(o)
	for at, pipeline := range pipelines {
		samples := make([]map[string][]sample, len(servers))
		for i := range samples {
			samples[i] = map[string][]sample{}
		}
		for range o.rounds {
			for i, s := range servers {
				if err := measure(o, s, dir, pipeline, samples[i]); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
			}
		}
		fmt.Printf("`redis-benchmark -c 50 -r %s -P %d`, requests a second, median of %d rounds, every server on a file; "+
			"and µs of the server's processor time for a request:\n\n", different, pipeline, o.rounds)
		fmt.Print("| ")
		for _, s := range servers {
			fmt.Printf("| %s | µs ", s.name)
		}
		fmt.Println("| meowdis : Redka | meowdis : Redis |")
		fmt.Println("|---|" + strings.Repeat("---:|", 2*len(servers)+2))
		for _, w := range workloads {
			w.print(&o.goals, at, samples)
		}
		fmt.Println()
	}
	return nil
}

// print prints the line of w, and adds its goals.
func (w workload) print(g *goals, at int, samples []map[string][]sample) {
	name := strings.ToUpper(w.test)
	fmt.Printf("| %s ", name)
	var rates []float64
	for _, of := range samples {
		var r []float64
		var cpu []time.Duration
		for _, s := range of[w.test] {
			r, cpu = append(r, s.rate), append(cpu, s.cpu)
		}
		if len(r) == 0 { // the server does not know the command
			rates = append(rates, 0)
			fmt.Print("| – | – ")
			continue
		}
		rates = append(rates, median(r))
		fmt.Printf("| %.0f | %.1f ", median(r), float64(median(cpu))/float64(time.Microsecond))
	}
	for i, want := range []float64{w.overRedka[at], w.redis[at]} {
		if rates[i+1] == 0 {
			fmt.Print("| – ")
			continue
		}
		r := rates[0] / rates[i+1]
		fmt.Printf("| %.2f× ", r)
		if want > 0 {
			g.atLeast(fmt.Sprintf("%s, pipeline %d, beside %s", name, pipelines[at], []string{"Redka", "redis-server"}[i]), r, want)
		}
	}
	fmt.Println("|")
}

// measure starts a server on fresh files, runs all workloads that it knows and stops it.
func measure(o *options, s rival, parent string, pipeline int, samples map[string][]sample) (err error) {
	dir, err := os.MkdirTemp(parent, "server")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := start(s, dir)
	if err != nil {
		return err
	}
	defer server.stop()
	for _, w := range workloads {
		n := o.requests / w.less
		if pipeline > 1 {
			n *= 2
		}
		before, err := server.processor()
		if err != nil {
			return err
		}
		rate, err := benchmark(server.port, w.test, pipeline, n)
		if err != nil {
			return err
		}
		after, err := server.processor()
		if err != nil {
			return err
		}
		if rate > 0 {
			samples[w.test] = append(samples[w.test], sample{rate, (after - before) / time.Duration(n)})
		}
	}
	return nil
}

// running is a server that has been started.
type running struct {
	port string
	cmd  *exec.Cmd
}

// start starts a server that keeps its files in dir, and waits until it listens.
func start(s rival, dir string) (*running, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	r := &running{port, s.command(port, dir)}
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

// processor is the processor time that the server has taken.
func (r *running) processor() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // after the name of the program
	words := strings.Fields(rest)
	const user, system = 11, 12 // proc_pid_stat(5) counts them from the pid
	if len(words) <= system {
		return 0, fmt.Errorf("the kernel says of the server %q", stat)
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

// benchmark is how many requests a second a test of redis-benchmark came to; 0 when the
// server answers it with errors.
func benchmark(port, test string, pipeline, n int) (float64, error) {
	out, err := exec.Command("redis-benchmark", "-h", "127.0.0.1", "-p", port, "-c", "50", "-r", different,
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
	return strconv.ParseFloat(rows[len(rows)-1][1], 64) // what LRANGE needs stands before it
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

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
