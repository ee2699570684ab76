package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// rival is a server under test, which keeps its files in dir.
type rival struct {
	name    string
	command func(port, dir string) *exec.Cmd
}

func rivals(o options) []rival {
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

// workload is one line of the table.
type workload struct {
	command  string
	pipeline int
}

var workloads = []workload{{"SET", 1}, {"GET", 1}, {"SET", 16}, {"GET", 16}}

// compareServers runs every workload on every server, round by round, so that
// whatever else the machine does hits all of them. keys is the number of
// different keys, 0 for redis-benchmark's own single one.
func compareServers(o options, dir string, keys int) error {
	servers := rivals(o)
	rates := make([]map[workload][]float64, len(servers))
	for i := range rates {
		rates[i] = map[workload][]float64{}
	}
	for range o.rounds {
		for i, s := range servers {
			if err := measure(o, s, dir, keys, rates[i]); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	random := ""
	if keys > 0 {
		random = fmt.Sprintf(" -r %d", keys)
	}
	fmt.Printf("`redis-benchmark -c 50%s`, requests per second, median of %d rounds, every server on a file:\n\n", random, o.rounds)
	fmt.Print("| | ")
	for _, s := range servers {
		fmt.Printf("%s | ", s.name)
	}
	fmt.Println("meowdis : Redka | meowdis : Redis |")
	fmt.Println("|---|---:|---:|---:|---:|---:|")
	for _, w := range workloads {
		fmt.Printf("| %s, pipeline %d | ", w.command, w.pipeline)
		var m []float64
		for i := range servers {
			m = append(m, median(rates[i][w]))
			fmt.Printf("%.0f | ", m[i])
		}
		fmt.Printf("%.2f× | %.2f× |\n", m[0]/m[1], m[0]/m[2])
	}
	fmt.Println()
	return nil
}

// measure starts a server on fresh files, runs all workloads and stops it.
func measure(o options, s rival, parent string, keys int, rates map[workload][]float64) (err error) {
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
		n := o.requests
		if w.pipeline > 1 {
			n *= 4
		}
		rate, err := benchmark(server.port, w, n, keys)
		if err != nil {
			return err
		}
		rates[w] = append(rates[w], rate)
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

func benchmark(port string, w workload, n, keys int) (float64, error) {
	args := []string{"-h", "127.0.0.1", "-p", port, "-c", "50", "-P", strconv.Itoa(w.pipeline), "-n", strconv.Itoa(n), "-t", w.command, "--csv"}
	if keys > 0 {
		args = append(args, "-r", strconv.Itoa(keys))
	}
	out, err := exec.Command("redis-benchmark", args...).Output()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil || len(rows) < 2 || len(rows[1]) < 2 {
		return 0, fmt.Errorf("redis-benchmark printed %q", out)
	}
	return strconv.ParseFloat(rows[1][1], 64)
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
