package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// moving times processes that move many keys from one file to another, and one that compares
// them.
func moving(o *options, parent string) error {
	dir, err := os.MkdirTemp(parent, "move")
	if err != nil {
		return err
	}
	place := func(name string) string { return filepath.Join(dir, name) }
	source, archive := place("source.sqlite"), place("archive")
	if _, _, err := load(o, source, shuffled(o.keys)); err != nil {
		return err
	}
	redis, err := start(redisServer, dir)
	if err != nil {
		return err
	}
	defer redis.stop()
	if err := redisDump(redis.port, source, o); err != nil {
		return fmt.Errorf("making an RDB file: %w", err)
	}
	fmt.Fprintf(o.out, "%d strings, in no order, whole processes:\n\n| | time | processor time | bytes written |\n|---|---:|---:|---:|\n", o.keys)
	for _, m := range []struct {
		name  string
		goal  time.Duration // processor time of a key; 0 for none
		wrote string        // a file that is written from nothing
		args  []string
	}{
		{"`dump`", 0, "", []string{"dump", "-t", source, archive}},
		{"`restore`", 10 * time.Microsecond, place("restored.sqlite"), []string{"restore", "-t", place("restored.sqlite"), archive}},
		{"`import` of an RDB file", 10 * time.Microsecond, "", []string{"import", "-t", place("imported.sqlite"), place("dump.rdb")}},
		{"`copy`", 10 * time.Microsecond, "", []string{"copy", source, place("copied.sqlite")}},
		{"`diff` of two files", 0, "", []string{"diff", source, place("copied.sqlite")}},
		{"`diff` of redis-server and a file", 15 * time.Microsecond, "", []string{"diff", "redis://localhost:" + redis.port, source}},
		{"`export`", 0, "", []string{"export", "-t", source, place("exported.rdb")}},
	} {
		var took started
		var wrote int64
		c := exec.Command(o.meowdis, m.args...)
		if err := took.addWith(c, func() error { wrote = bytesWritten(c); return nil }); err != nil {
			return fmt.Errorf("%q: %w", m.args, err)
		}
		fmt.Fprintf(o.out, "| %s | %s | %s | %d MB |\n", m.name, took.wall[0].Round(1e8), took.cpu[0].Round(1e8), wrote>>20)
		if m.goal > 0 {
			o.goals.within(fmt.Sprintf("processor time of %s, %d keys", m.name, o.keys), took.cpu[0], time.Duration(o.keys)*m.goal)
		}
		if m.wrote == "" {
			continue
		}
		file, err := os.Stat(m.wrote)
		if err != nil {
			return err
		}
		o.goals.atMost("bytes that "+m.name+" writes : bytes of the file", float64(wrote)/float64(file.Size()), 3)
	}
	fmt.Fprintln(o.out)
	return following(o, redis, place("followed.sqlite"))
}

// following times a process that follows redis-server, which has keys, while it takes writes. Two processors can be
// shared with the server if a write takes a third of the time that they have for 30,000 of them a second.
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
	n := o.keys / 2
	fill := exec.Command("redis-benchmark", "-p", redis.port, "-t", "set,incr", "-n", strconv.Itoa(n), "-r", strconv.Itoa(o.keys), "-P", "16", "-q")
	if err := fill.Run(); err != nil {
		return err
	}
	if err := run(&caughtUp, follow("--until-caught-up")); err != nil {
		return err
	}
	out, err := follow("--cut-over", "true").Output()
	if err != nil {
		return err
	}
	var result struct {
		PausedMs int64 `json:"paused_ms"`
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &result); err != nil {
		return err
	}
	pause := time.Duration(result.PausedMs) * time.Millisecond
	fmt.Fprintf(o.out, "`copy --follow` from redis-server:\n\n| | time | processor time |\n|---|---:|---:|\n")
	fmt.Fprintf(o.out, "| %d keys | %s | %s |\n", o.keys, copied.wall[0].Round(1e8), copied.cpu[0].Round(1e8))
	fmt.Fprintf(o.out, "| then %d writes | %s | %s |\n| pause of writes for the cut-over | %s | |\n\n", 2*n, caughtUp.wall[0].Round(1e8), caughtUp.cpu[0].Round(1e8), pause)
	o.goals.within(fmt.Sprintf("processor time of following %d writes", 2*n), caughtUp.cpu[0], (time.Duration(2*n) * time.Second / 30_000 * 2 / 3).Round(100*time.Millisecond))
	o.goals.below("memory of `copy --follow`", kb, 200)
	o.goals.within("pause of writes for the cut-over", pause, time.Second)
	return nil
}

// bytesWritten returns the bytes that the process of c has written when it ends, as the kernel counts them.
func bytesWritten(c *exec.Cmd) (n int64) {
	for {
		counts, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", c.Process.Pid))
		if err != nil {
			return n
		}
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
		for line := range strings.Lines(string(counts)) {
			if text, ok := strings.CutPrefix(line, "wchar: "); ok {
				n, _ = strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			}
		}
		if _, after, _ := bytes.Cut(state, []byte(") ")); err != nil || bytes.HasPrefix(after, []byte("Z")) {
			return n // it has ended, and nothing has waited for it
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// redisDump makes a redis-server write the keys of the file source to dump.rdb in its directory.
func redisDump(port, source string, o *options) error {
	commands, err := exec.Command(o.meowdis, "dump", "-t", source, "--format", "resp", "-").Output()
	if err != nil {
		return err
	}
	fill := exec.Command("redis-cli", "-p", port, "--pipe")
	fill.Stdin = bytes.NewReader(commands)
	if err := fill.Run(); err != nil {
		return err
	}
	return exec.Command("redis-cli", "-p", port, "SAVE").Run()
}
