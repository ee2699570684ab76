package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/internal/histogram"
	"github.com/meowdis/meowdis/redis/resp"
)

// Another client's GETs and SETs are sent at a fixed pace, and timed from their scheduled
// times, so that a slow one also delays the calls behind it. They continue for a while after
// the reply, because the rest of the work runs in the background.
const (
	pace  = 10 * time.Millisecond
	after = 5 * time.Second
)

// debugged is redis-server with DEBUG RELOAD.
var debugged = rival{redisServer.name, func(port, dir string) *exec.Cmd {
	cmd := redisServer.command(port, dir)
	cmd.Args = append(cmd.Args, "--enable-debug-command", "local")
	return cmd
}}

// stalling measures the latency of other clients during a slow command.
func stalling(o *options, parent string) error {
	fmt.Fprintf(o.out, "Latency of other clients during a command on a key of %d elements, from its start until %v after its end:\n\n", o.elements, after)
	fmt.Fprint(o.out, "| | | takes | GET p99 | longest | SET p99 | longest |\n|---|---|---:|---:|---:|---:|---:|\n")
	for _, s := range slows {
		if !s.wanted(o) {
			continue
		}
		for _, r := range []rival{rivals(o)[0], debugged} {
			if (o.alone || o.only == "") && r.name != "meowdis" {
				continue
			}
			if err := stall(o, parent, r, s); err != nil {
				fmt.Fprintf(o.out, "| `%s`, a %s | %s | %v | | | | |\n", s.command, s.typ, r.name, err)
			}
		}
	}
	fmt.Fprintln(o.out)
	return nil
}

// wanted reports whether to run the command. A run of all parts only runs the commands with a
// goal, and only on meowdis: all commands on both servers take half an hour.
func (s slow) wanted(o *options) bool {
	if o.only != "" || o.slow != "" {
		return strings.HasPrefix(s.command, o.slow)
	}
	name, _, _ := strings.Cut(s.command, " ")
	return slices.Contains([]string{"DEL", "UNLINK", "FLUSHALL", "RENAME", "COPY", "SUNIONSTORE", "DEBUG", "PEXPIRE",
		"RPUSH", "HSET", "SADD", "ZADD", "MSET", "HPEXPIRE", "SWAPDB", "FLUSHDB", "LPOP", "LMPOP", "ZMPOP"}, name)
}

func stall(o *options, parent string, r rival, s slow) error {
	dir, err := os.MkdirTemp(parent, "stall")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := start(r, dir)
	if err != nil {
		return err
	}
	defer server.stop()
	var clients [3]*client
	for i := range clients {
		conn, err := net.Dial("tcp", "127.0.0.1:"+server.port)
		if err != nil {
			return err
		}
		defer conn.Close()
		clients[i] = &client{conn, resp.NewReader(conn)}
	}
	if err := prepare(clients[0], s.filling, o.elements); err != nil {
		return err
	}
	words, err := s.words(clients[0], o.elements)
	if err != nil {
		return err
	}
	var reads, writes bystander
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { reads.watch(clients[1], done, "GET", "bystander") })
	running.Go(func() { writes.watch(clients[2], done, "SET", "other", "v") })
	began := time.Now()
	_, err = clients[0].do(words...)
	took := time.Since(began)
	time.Sleep(after)
	close(done)
	running.Wait()
	if err := errors.Join(err, reads.err, writes.err); err != nil {
		return err
	}
	fmt.Fprintf(o.out, "| `%s`, a %s | %s | %s | %s | %s | %s | %s |\n", s.command, s.typ, r.name, round(took),
		round(reads.Quantile(0.99)), round(reads.Max), round(writes.Quantile(0.99)), round(writes.Max))
	if r.name == "meowdis" && s.holds == "" {
		for _, b := range []struct {
			what string
			*bystander
		}{{"GET", &reads}, {"SET", &writes}} {
			o.goals.within(fmt.Sprintf("p99 of %s beside `%s`, a %s", b.what, s.command, s.typ), b.Quantile(0.99), 50*time.Millisecond)
		}
	}
	return nil
}

// bystander is another client, and its latencies.
type bystander struct {
	histogram.Distribution
	err error
}

// watch repeats a command until done is closed.
func (b *bystander) watch(c *client, done chan struct{}, args ...string) {
	for due := time.Now(); ; due = due.Add(pace) {
		time.Sleep(time.Until(due))
		select {
		case <-done:
			return
		default:
		}
		_, err := c.do(args...)
		for err != nil && strings.HasPrefix(err.Error(), "LOADING") {
			time.Sleep(time.Millisecond)
			_, err = c.do(args...)
		}
		if b.err = err; err != nil {
			return
		}
		b.Add(time.Since(due))
	}
}
