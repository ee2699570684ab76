package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// started is the cost of a whole process: elapsed time, and processor time, which varies less
// with other work on the machine.
type started struct {
	wall, cpu []time.Duration
}

// starting times processes that do one thing each, round by round, and the client of a running
// server.
func starting(o *options, parent string) error {
	dir, err := os.MkdirTemp(parent, "start")
	if err != nil {
		return err
	}
	redis, err := start(redisServer, dir)
	if err != nil {
		return fmt.Errorf("%s: %w", redisServer.name, err)
	}
	defer redis.stop()
	file := filepath.Join(dir, "one.sqlite")
	meowdis := func(args ...string) []string { return append([]string{o.meowdis}, args...) }
	processes := []struct {
		name string
		argv []string
	}{
		{"`redis-cli GET k`, of a server that runs", []string{"redis-cli", "-p", redis.port, "GET", "k"}},
		{"`meowdis exec SET k v` on a file", meowdis("exec", "-t", file, "SET", "k", "v")}, // creates the file
		{"`meowdis exec GET k` on a file", meowdis("exec", "-t", file, "GET", "k")},
		{"completion of a key in the shell", meowdis("__complete", "exec", "-t", file, "GET", "k")},
		{"`meowdis --help`", meowdis("--help")},
		{"`meowdis version`", meowdis("version")},
	}
	took := make([]started, len(processes))
	for range startRounds {
		for i, p := range processes {
			if err := took[i].add(exec.Command(p.argv[0], p.argv[1:]...)); err != nil {
				return fmt.Errorf("%q: %w", p.argv, err)
			}
		}
	}
	fmt.Fprintf(o.out, "Whole processes, median of %d rounds:\n\n", startRounds)
	fmt.Fprintln(o.out, "| | time | : redis-cli | processor time | : redis-cli |\n|---|---:|---:|---:|---:|")
	client := took[0]
	for i, p := range processes {
		wall, cpu := median(took[i].wall), median(took[i].cpu)
		fmt.Fprintf(o.out, "| %s | %s | %.2f× | %s | %.2f× |\n", p.name, round(wall), ratio(wall, median(client.wall)), round(cpu), ratio(cpu, median(client.cpu)))
	}
	fmt.Fprintln(o.out)
	o.goals.atMost("`exec GET` beside `redis-cli GET`", ratio(median(took[2].wall), median(client.wall)), 1.3)
	binary, err := os.Stat(o.meowdis)
	if err != nil {
		return err
	}
	o.goals.below("the binary", binary.Size()>>10, 28)
	return nil
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

const startRounds = 100

// add runs cmd to its end and adds its cost.
func (s *started) add(cmd *exec.Cmd) error { return s.addWith(cmd, func() error { return nil }) }

// addWith runs cmd and feed at the same time, and adds cmd's cost.
func (s *started) addWith(cmd *exec.Cmd, feed func() error) error {
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	err := feed()
	if err := errors.Join(cmd.Wait(), err); err != nil {
		return err
	}
	s.wall = append(s.wall, time.Since(began))
	s.cpu = append(s.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	return nil
}
