package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// scattering compares SET and GET of o.keys random keys, which exist, with redis-server. The key names are
// redis-benchmark's.
func scattering(o *options, parent string) error {
	servers := []rival{rivals(o)[0], redisServer}
	var all []*running
	var alone map[string]float64
	for i, s := range servers {
		dir := filepath.Join(parent, fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if i == 0 {
			file := filepath.Join(dir, "meowdis.sqlite")
			if err := fill(o.keys, exec.Command(o.meowdis, "exec", "--pipe", "-t", file)); err != nil {
				return err
			}
			var err error
			if alone, err = sqliteByName(file, o.keys); err != nil {
				return err
			}
		}
		server, err := start(s, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		defer server.stop()
		if i == 1 {
			if err := fill(o.keys, exec.Command("redis-cli", "-p", server.port, "--pipe")); err != nil {
				return err
			}
		}
		all = append(all, server)
	}
	fmt.Fprintf(o.out, "`redis-benchmark -c 50 -r %d` on a file of these keys, requests a second, median of %d rounds after one that does not count:\n\n", o.keys, o.rounds)
	fmt.Fprint(o.out, "| | pipeline | meowdis | redis-server | meowdis : Redis | SQLite alone, one processor | SQLite alone : Redis |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, w := range []scattered{{"set", 1, 1, 0.5}, {"get", 1, 1, 0.8}, {"set", 16, 4, 0.2}, {"get", 16, 8, 0.3}} {
		rates, err := w.rates(o, all)
		if err != nil {
			return err
		}
		ours, redis := median(rates[0]), median(rates[1])
		limit := alone[w.test]
		fmt.Fprintf(o.out, "| %s | %d | %.0f | %.0f | %.2f× | %.0f | %.2f× |\n", w.test, w.pipeline, ours, redis, ours/redis, limit, limit/redis)
		o.goals.atLeastBeside(fmt.Sprintf("%s of %d random keys, pipeline %d, meowdis : Redis", w.test, o.keys, w.pipeline), ours/redis, w.goal, fmt.Sprintf("SQLite alone: %.2f×", limit/redis))
	}
	fmt.Fprintln(o.out)
	return nil
}

// scattered describes commands on random keys.
type scattered struct {
	test           string
	pipeline, more int
	goal           float64 // the least meowdis : Redis
}

// rates returns the requests a second of each server in each round but the first.
func (w scattered) rates(o *options, servers []*running) (rates [2][]float64, err error) {
	for round := range o.rounds + 1 {
		for i, server := range servers {
			rate, err := benchmark(server.port, w.test, o.keys, w.pipeline, o.requests*w.more)
			if err != nil {
				return rates, fmt.Errorf("%s: %w", server.name, err)
			}
			if round > 0 {
				rates[i] = append(rates[i], rate)
			}
		}
	}
	return rates, nil
}

// fill writes a SET of each key of redis-benchmark to the stdin of a command.
func fill(keys int, to *exec.Cmd) error {
	in, err := to.StdinPipe()
	if err != nil {
		return err
	}
	var took started
	return took.addWith(to, func() error {
		defer in.Close()
		w := bufio.NewWriterSize(in, 64<<10)
		for _, i := range shuffled(keys) {
			if _, err := fmt.Fprintf(w, "SET key:%012d xxx\r\n", i); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}
