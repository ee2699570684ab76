package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// remembering measures the peak memory of processes that print many keys or move large values.
func remembering(o *options, parent string) error {
	dir, err := os.MkdirTemp(parent, "memory")
	if err != nil {
		return err
	}
	place := func(name string) string { return filepath.Join(dir, name) }
	fmt.Fprint(o.out, "| | most memory |\n|---|---:|\n")
	if _, _, err := load(o, place("many.sqlite"), inOrder(o.keys)); err != nil {
		return err
	}
	many := fmt.Sprintf("`KEYS *` of %d keys, piped", o.keys)
	if err := o.peakOf(many, 64*int64(max(o.keys, 1_000_000))/1_000_000, nil, "exec", "-t", place("many.sqlite"), "KEYS", "*"); err != nil {
		return err
	}
	if err := largeValues(o, place("large.sqlite")); err != nil {
		return err
	}
	redis, err := start(redisServer, dir)
	if err != nil {
		return err
	}
	defer redis.stop()
	port, err := freePort()
	if err != nil {
		return err
	}
	const token = "bench"
	rest := exec.Command(o.meowdis, "serve", "-t", place("served.sqlite"), "--http", "127.0.0.1:"+port, "--token", token)
	if err := rest.Start(); err != nil {
		return err
	}
	defer (&running{cmd: rest}).stop()
	if err := await(port); err != nil {
		return err
	}
	fromRedis, toREST := "redis://localhost:"+redis.port, "http://127.0.0.1:"+port
	if err := exec.Command(o.meowdis, "copy", place("large.sqlite"), fromRedis).Run(); err != nil {
		return fmt.Errorf("filling redis-server: %w", err)
	}
	for _, m := range []struct {
		name string
		args []string
	}{
		{"`copy` from redis-server to a file", []string{"copy", fromRedis, place("copied.sqlite")}},
		{"`diff` of redis-server and a file", []string{"diff", fromRedis, place("large.sqlite")}},
		{"`copy` from a file to REST", []string{"copy", place("large.sqlite"), toREST}},
	} {
		if err := o.peakOf(m.name+", 550 MB in values of up to 200 MB", 300, []string{"MEOWDIS_TOKEN=" + token}, m.args...); err != nil {
			return err
		}
	}
	fmt.Fprintln(o.out)
	return nil
}

// largeValues creates a file with three strings of 550 MB in all, which cannot be compressed.
func largeValues(o *options, file string) error {
	for i, size := range []int64{200 << 20, 200 << 20, 150 << 20} {
		set := exec.Command(o.meowdis, "exec", "-t", file, "-x", "SET", fmt.Sprintf("large:%d", i))
		set.Stdin = io.LimitReader(rand.NewChaCha8([32]byte{byte(i)}), size)
		if err := set.Run(); err != nil {
			return fmt.Errorf("a string of %d bytes: %w", size, err)
		}
	}
	return nil
}

// peakOf runs meowdis, prints the most memory that it takes, and adds a goal in MB.
func (o *options) peakOf(what string, mb int64, env []string, args ...string) error {
	c := exec.Command(o.meowdis, args...)
	c.Env = append(os.Environ(), env...)
	var failed bytes.Buffer
	c.Stdout, c.Stderr = &discard{}, &failed // not /dev/null: a pipe
	if err := c.Start(); err != nil {
		return err
	}
	var kb int64
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("%q: %w: %s", args, err, failed.Bytes())
			}
			fmt.Fprintf(o.out, "| %s | %d MB |\n", what, kb>>10)
			o.goals.below(what, kb, mb)
			return nil
		case <-time.After(5 * time.Millisecond):
			if now, unknown := memoryOf(c.Process.Pid, "VmHWM:"); unknown == nil {
				kb = max(kb, now)
			}
		}
	}
}

// discard makes a command write to a pipe.
type discard struct{}

func (*discard) Write(p []byte) (int, error) { return len(p), nil }
