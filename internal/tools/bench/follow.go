package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const (
	followedRate    = 30_000 // writes per second
	followedSeconds = 30
)

// following measures copy --follow of redis-server, which has keys, into a file.
func following(o *options, redis *running, file string) error {
	follow := func(more ...string) *exec.Cmd {
		return exec.Command(o.meowdis, append([]string{"copy", "--follow", "redis://localhost:" + redis.port, file, "--json"}, more...)...)
	}
	for _, args := range [][]string{{"CONFIG", "SET", "repl-backlog-size", "256mb"}, {"CONFIG", "SET", "repl-diskless-sync-delay", "0"}} {
		if err := exec.Command("redis-cli", append([]string{"-p", redis.port}, args...)...).Run(); err != nil {
			return err
		}
	}
	var copied, caughtUp started
	kb := int64(0)
	run := func(into *started, c *exec.Cmd) error {
		return into.addWith(c, func() error {
			for { // until the process has ended
				now, err := memoryOf(c.Process.Pid, "VmHWM:")
				if err != nil {
					return nil
				}
				kb = max(kb, now)
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	if err := run(&copied, follow("--until-caught-up")); err != nil {
		return err
	}
	if err := redis.write(o.keys, o.keys); err != nil {
		return err
	}
	if err := run(&caughtUp, follow("--until-caught-up")); err != nil {
		return err
	}
	behind, err := keepingUp(redis, o.keys, follow())
	if err != nil {
		return err
	}
	out, err := follow("--cut-over", "true").Output()
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var end followed
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil {
		return err
	}
	pause := time.Duration(end.PausedMs) * time.Millisecond
	fmt.Fprintf(o.out, "`copy --follow` from redis-server:\n\n| | time | processor time |\n|---|---:|---:|\n")
	fmt.Fprintf(o.out, "| %d keys | %s | %s |\n", o.keys, copied.wall[0].Round(1e8), copied.cpu[0].Round(1e8))
	fmt.Fprintf(o.out, "| then %d writes | %s | %s |\n", o.keys, caughtUp.wall[0].Round(1e8), caughtUp.cpu[0].Round(1e8))
	fmt.Fprintf(o.out, "| most that it is behind %d writes a second, of %d s | %s | |\n", followedRate, followedSeconds, behind.Round(1e8))
	fmt.Fprintf(o.out, "| pause of writes for the cut-over | %s | |\n\n", pause)
	o.goals.within(fmt.Sprintf("`copy --follow` behind %d writes a second", followedRate), behind, 3*time.Second)
	o.goals.below("memory of `copy --follow`", kb, 200)
	o.goals.within("pause of writes for the cut-over", pause, time.Second)
	return nil
}

// followed holds fields of a line of copy --follow --json.
type followed struct {
	LagBytes int64 `json:"lag_bytes"`
	PausedMs int64 `json:"paused_ms"`
}

// write runs n writes, half SET and half INCR, on random names out of keys.
func (r *running) write(n, keys int) error {
	return exec.Command("redis-benchmark", "-p", r.port, "-t", "set,incr", "-n", strconv.Itoa(n/2), "-r", strconv.Itoa(keys), "-P", "16", "-q").Run()
}

// keepingUp writes followedRate times a second while c follows. It returns how far c was behind at most, in seconds of
// writes, and fails if the machine cannot run the writes in time.
func keepingUp(redis *running, keys int, c *exec.Cmd) (behind time.Duration, err error) {
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	lags := make(chan []int64, 1)
	go func() { lags <- lagsOf(out) }()
	sent, err := redis.writeSteadily(keys)
	if err == nil {
		time.Sleep(2 * time.Second) // two more lines
	}
	c.Process.Signal(os.Interrupt)
	all := <-lags
	c.Wait()
	switch {
	case err != nil:
		return 0, err
	case len(all) < followedSeconds:
		return 0, fmt.Errorf("copy --follow printed %d lines in %d seconds", len(all), followedSeconds)
	case all[len(all)-1] > 0:
		return 0, fmt.Errorf("copy --follow was %d bytes behind 2 s after the last write", all[len(all)-1])
	}
	most := int64(0)
	for _, lag := range all {
		most = max(most, lag)
	}
	return time.Duration(float64(most) / float64(sent) * followedSeconds * float64(time.Second)), nil
}

func lagsOf(out io.Reader) (lags []int64) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var line followed
		if json.Unmarshal(lines.Bytes(), &line) == nil {
			lags = append(lags, line.LagBytes)
		}
	}
	return lags
}

// writeSteadily returns the bytes that the writes added to the replication stream.
func (r *running) writeSteadily(keys int) (sent int64, err error) {
	from, err := r.offset()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for second := range followedSeconds {
		if err := r.write(followedRate, keys); err != nil {
			return 0, err
		}
		next := began.Add(time.Duration(second+1) * time.Second)
		if late := time.Since(next); late > time.Second {
			return 0, fmt.Errorf("the writes take %s longer than they should", late)
		}
		time.Sleep(time.Until(next))
	}
	to, err := r.offset()
	return to - from, err
}

// offset returns the length of the replication stream so far.
func (r *running) offset() (int64, error) {
	out, err := exec.Command("redis-cli", "-p", r.port, "INFO", "replication").Output()
	if err != nil {
		return 0, err
	}
	_, text, _ := strings.Cut(string(out), "master_repl_offset:")
	text, _, _ = strings.Cut(text, "\r")
	return strconv.ParseInt(text, 10, 64)
}
