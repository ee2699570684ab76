package server_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// blocked waits until n clients are blocked.
func (s *served) blocked(t *testing.T, n int) {
	t.Helper()
	control := s.dial(t)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		info := string(control.do("INFO", "clients").Str)
		if strings.Contains(info, fmt.Sprintf("blocked_clients:%d\r\n", n)) {
			control.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d clients do not wait:\n%s", n, info)
		}
	}
}

// TestManyWait blocks many clients on one key and serves them in order of arrival.
func TestManyWait(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/t.sqlite", server.Config{})
	const n = 200
	waiting := make([]*peer, n)
	for i := range waiting {
		waiting[i] = s.dial(t)
		waiting[i].send(command("BLPOP", "other", "q", "0"))
		s.blocked(t, i+1)
	}
	gone := n / 4
	waiting[gone].Close()
	s.blocked(t, n-1)
	writer := s.dial(t)
	var pushes strings.Builder
	for i := range n - 1 {
		pushes.WriteString(command("RPUSH", "q", fmt.Sprint(i)) + command("LLEN", "q"))
	}
	go io.WriteString(writer, pushes.String())
	at := 0
	for i, c := range waiting {
		if i != gone {
			want(t, c.reply(), fmt.Sprintf("1) \"q\"\n2) \"%d\"", at))
			at++
		}
	}
	for range n - 1 {
		want(t, writer.reply(), "(integer) 1")
		want(t, writer.reply(), "(integer) 0")
	}
}

// TestBlockedCallIsPlannedOnce counts the hooks of calls that find nothing: one for the plan, and one for the reply
// to BLPOP; BLMOVE is refused in its batch.
func TestBlockedCallIsPlannedOnce(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var hooks atomic.Int64
	e := engine.New(file, engine.WithHook(func() { hooks.Add(1) }))
	s := serve(t, server.Config{Engine: e})
	for i, test := range []struct {
		call  []string
		hooks int64
	}{{[]string{"BLPOP", "q", "0"}, 2}, {[]string{"BLMOVE", "q", "r", "LEFT", "LEFT", "0"}, 1}} {
		before := hooks.Load()
		s.dial(t).send(command(test.call...))
		for blocked := 0; blocked <= i; blocked, _, _ = e.Blocked() {
			time.Sleep(time.Millisecond)
		}
		if n := hooks.Load() - before; n != test.hooks {
			t.Errorf("%s: %d hooks, want %d", test.call, n, test.hooks)
		}
	}
}

// TestNoWakeUpIsLost makes clients pass elements on as fast as they can. Each element must arrive once, and none may
// stay in a list while a client waits for it.
func TestNoWakeUpIsLost(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/t.sqlite", server.Config{})
	const clients, each = 8, 60
	var all sync.WaitGroup
	got := make(chan string, clients*each)
	run := func(turn func(c *peer, i int)) {
		for id := range clients {
			c := s.dial(t)
			all.Go(func() {
				for i := range each {
					turn(c, id*each+i)
				}
			})
		}
	}
	run(func(c *peer, i int) {
		switch i % 3 {
		case 0:
			c.do("RPUSH", "in", fmt.Sprint(i))
		case 1:
			c.send("MULTI\r\n" + command("RPUSH", "in", fmt.Sprint(i)) + "EXEC\r\n")
			for range 3 {
				c.reply()
			}
		default:
			c.do("EVAL", "redis.call('rpush','in',ARGV[1])", "0", fmt.Sprint(i))
		}
	})
	run(func(c *peer, _ int) { c.do("BLMOVE", "in", "out", "LEFT", "RIGHT", "0") })
	run(func(c *peer, i int) {
		var v resp.Value
		if i%2 == 0 {
			v = c.do("BLPOP", "nothing", "out", "0")
		} else {
			v = c.do("BRPOP", "out", "0")
		}
		got <- string(v.Elems[1].Str)
	})
	all.Wait()
	close(got)
	seen := map[string]bool{}
	for value := range got {
		if seen[value] {
			t.Errorf("%s came twice", value)
		}
		seen[value] = true
	}
	if len(seen) != clients*each {
		t.Errorf("%d elements came, want %d", len(seen), clients*each)
	}
	want(t, s.dial(t).do("DBSIZE"), "(integer) 0")
}

// TestOthersWrite serves blocked clients with writes of another process and of REST.
func TestOthersWrite(t *testing.T) {
	path := t.TempDir() + "/t.sqlite"
	s := serveFile(t, path, server.Config{})
	file, err := local.Open(path, local.Options{SweepEvery: -1, Now: s.clock.Load})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	other := engine.New(file, engine.WithClock(s.clock.Load)).Session()
	do := func(args ...string) {
		t.Helper()
		if v, err := other.Do(context.Background(), words(args...)...); err != nil || v.IsError() {
			t.Fatal(v, err)
		}
	}
	a, b, c := s.dial(t), s.dial(t), s.dial(t)
	a.send(command("BLPOP", "x", "q", "0"))
	s.blocked(t, 1)
	b.send(command("BLMOVE", "q", "r", "LEFT", "LEFT", "0"))
	s.blocked(t, 2)
	c.send(command("XREAD", "BLOCK", "0", "STREAMS", "s", "$"))
	s.blocked(t, 3)
	do("SET", "unrelated", "1")
	do("RPUSH", "q", "1", "2")
	want(t, a.reply(), "1) \"q\"\n2) \"1\"")
	want(t, b.reply(), `"2"`)
	do("XADD", "s", "1-1", "f", "v")
	want(t, c.reply(), "1) 1) \"s\"\n   2) 1) 1) \"1-1\"\n         2) 1) \"f\"\n            2) \"v\"")
	want(t, a.do("LRANGE", "r", "0", "-1"), `1) "2"`)

	a.send(command("BZPOPMIN", "z", "0"))
	s.blocked(t, 1)
	if _, text := s.request(t, "POST", "/", `["ZADD","z","1","m"]`); text != `{"result":1}` {
		t.Error(text)
	}
	want(t, a.reply(), "1) \"z\"\n2) \"m\"\n3) \"1\"")
	for body, answer := range map[string]string{
		`["XREAD","BLOCK","0","STREAMS","s","$"]`: `{"result":null}`,
		`["WAIT","1","0"]`:                        `{"result":0}`,
		`["BLPOP","q","0"]`:                       `{"error":"ERR Command \"BLPOP\" is not allowed in REST or it has a special context path"}`,
	} {
		if _, text := s.request(t, "POST", "/", body); text != answer {
			t.Errorf("%s answers %s, want %s", body, text, answer)
		}
	}
}

// TestExpiryEndsWaits sweeps an expired stream that a client reads through a group.
func TestExpiryEndsWaits(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/t.sqlite", server.Config{})
	a, writer := s.dial(t), s.dial(t)
	writer.do("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
	writer.do("PEXPIRE", "s", "1000")
	a.send(command("XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"))
	s.blocked(t, 1)
	s.clock.Add(2000)
	if _, err := s.store.Sweep(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	want(t, a.reply(), "(error) NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option")
}

// TestStopEndsWaits stops a server while clients are blocked or paused.
func TestStopEndsWaits(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/t.sqlite", server.Config{})
	a, b := s.dial(t), s.dial(t)
	a.send(command("RPUSH", "other", "1") + command("BLPOP", "q", "0"))
	want(t, a.reply(), "(integer) 1")
	s.blocked(t, 1)
	want(t, b.do("CLIENT", "PAUSE", "100000", "WRITE"), "OK")
	b.send(command("SET", "k", "v"))
	s.blocked(t, 2)
	s.stop()
	a.wantClosed()
	b.wantClosed()
	<-s.done
}

// TestPauseKeepsArrival releases clients in the order in which their commands arrived, also if they arrived at the same
// time.
func TestPauseKeepsArrival(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("without an event loop, commands that arrive at the same time have no order")
	}
	s := serveFile(t, t.TempDir()+"/t.sqlite", server.Config{})
	control := s.dial(t)
	clients := make([]*peer, 100)
	for i := range clients {
		clients[i] = s.dial(t)
		want(t, clients[i].do("PING"), "PONG")
	}
	want(t, control.do("CLIENT", "PAUSE", "1000000", "WRITE"), "OK")
	for i, c := range clients {
		c.send(command("RPUSH", "l", fmt.Sprint(i)))
	}
	s.blocked(t, len(clients))
	want(t, control.do("CLIENT", "UNPAUSE"), "OK")
	for _, c := range clients {
		c.reply()
	}
	for i, e := range control.do("LRANGE", "l", "0", "-1").Elems {
		if string(e.Str) != fmt.Sprint(i) {
			t.Fatalf("client %s came after %d others", e.Str, i)
		}
	}
}

// TestPauseOfFunctions holds calls of functions that may write, whether or not this process has called them before.
func TestPauseOfFunctions(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/t.sqlite", server.Config{})
	control, c := s.dial(t), s.dial(t)
	load := func(flags string) {
		t.Helper()
		source := "#!lua name=l\nredis.register_function{function_name='f', callback=function() return 1 end, flags={" + flags + "}}"
		want(t, control.do("FUNCTION", "LOAD", "REPLACE", source), `"l"`)
	}
	load("'no-writes'")
	want(t, control.do("CLIENT", "PAUSE", "1000000", "WRITE"), "OK")
	want(t, c.do("FCALL", "f", "0"), "(integer) 1")
	want(t, control.do("CLIENT", "UNPAUSE"), "OK")
	load("")
	want(t, control.do("CLIENT", "PAUSE", "1000000", "WRITE"), "OK")
	c.send(command("FCALL", "f", "0"))
	s.blocked(t, 1)
	want(t, control.do("CLIENT", "UNPAUSE"), "OK")
	want(t, c.reply(), "(integer) 1")
}

// TestPauseReleasesInOrder releases many clients in the order in which a pause held them. One of them blocks and must
// not hold up the next ones.
func TestPauseReleasesInOrder(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/t.sqlite", server.Config{})
	control := s.dial(t)
	want(t, control.do("CLIENT", "PAUSE", "1000000", "WRITE"), "OK")
	const n = 50
	var held []*peer
	var order []string
	for i := range n {
		c := s.dial(t)
		switch i {
		case 20:
			c.send(command("BLPOP", "nothing", "0"))
		case 30:
			c.send(command("RPUSH", "l", fmt.Sprint(i)) + command("RPUSH", "l", "and"))
			held, order = append(held, c, c), append(order, fmt.Sprint(i), "and")
		default:
			c.send(command("RPUSH", "l", fmt.Sprint(i)))
			held, order = append(held, c), append(order, fmt.Sprint(i))
		}
		for s.server.Waiting() <= i {
			time.Sleep(time.Millisecond)
		}
	}
	want(t, control.do("CLIENT", "UNPAUSE"), "OK")
	for _, c := range held {
		c.reply()
	}
	var got []string
	for _, e := range control.do("LRANGE", "l", "0", "-1").Elems {
		got = append(got, string(e.Str))
	}
	if !slices.Equal(got, order) {
		t.Errorf("clients continued in the order %q", got)
	}
}
