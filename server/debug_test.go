package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/server"
)

// DEBUG SLEEP blocks all clients until it ends, as in a single-threaded Redis.
func TestDebugSleep(t *testing.T) {
	sleeping, wake := make(chan time.Duration), make(chan struct{})
	s := serve(t, server.Config{Sleep: func(_ <-chan struct{}, d time.Duration) {
		sleeping <- d
		<-wake
	}})
	a, b := s.dial(t), s.dial(t)
	want(t, b.do("SET", "k", "v"), "OK")
	a.send("DEBUG SLEEP 1000\r\nPING\r\n")
	if d := <-sleeping; d != 1000*time.Second {
		t.Errorf("it sleeps for %v", d)
	}
	b.send("GET k\r\nPING\r\n")
	for deadline := time.Now().Add(time.Minute); s.server.Waiting() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no other client is held")
		}
	}
	close(wake)
	want(t, a.reply(), "OK")
	want(t, a.reply(), "PONG")
	want(t, b.reply(), `"v"`)
	want(t, b.reply(), "PONG")
}

// A pause of writes continues after DEBUG SLEEP as it was.
func TestDebugSleepInPause(t *testing.T) {
	s := serve(t, server.Config{Sleep: func(<-chan struct{}, time.Duration) {}})
	a, b := s.dial(t), s.dial(t)
	want(t, a.do("CLIENT", "PAUSE", "1000000", "WRITE"), "OK")
	want(t, a.do("DEBUG", "SLEEP", "0"), "OK")
	b.send(command("SET", "k", "v"))
	s.blocked(t, 1)
	want(t, a.do("GET", "k"), "(nil)")
	want(t, a.do("CLIENT", "UNPAUSE"), "OK")
	want(t, b.reply(), "OK")
}

// DEBUG CHANGE-REPL-ID changes the replication ID.
func TestChangeReplID(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	before := statOf(c, "master_replid")
	want(t, c.do("DEBUG", "CHANGE-REPL-ID"), "OK")
	if after := statOf(c, "master_replid"); after == before || len(strings.TrimSpace(after)) != 40 {
		t.Errorf("the ID was %s, and is %s", before, after)
	}
}
