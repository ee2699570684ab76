package server_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/server"
)

// maxclients applies to later connections.
func TestSetMaxClients(t *testing.T) {
	s := serve(t, server.Config{MaxClients: 1})
	a := s.dial(t)
	want(t, a.do("PING"), "PONG")
	s.dial(t).wantClosedAfterError(t)
	want(t, a.do("CONFIG", "SET", "maxclients", "2"), "OK")
	b := s.dial(t)
	want(t, b.do("PING"), "PONG")
	if got := statOf(b, "maxclients"); got != "2" {
		t.Errorf("INFO says %s", got)
	}
	want(t, a.do("CONFIG", "SET", "maxclients", "1"), "OK")
	want(t, b.do("PING"), "PONG")
	s.dial(t).wantClosedAfterError(t)
}

func (p *peer) wantClosedAfterError(t *testing.T) {
	t.Helper()
	want(t, p.reply(), "(error) ERR max number of clients reached")
	p.wantClosed()
}

// timeout closes idle clients, and none while it is 0.
func TestTimeout(t *testing.T) {
	s := serve(t, server.Config{})
	c := s.dial(t)
	want(t, c.do("PING"), "PONG")
	s.server.CloseIdle(time.Now().Add(24 * time.Hour))
	want(t, c.do("CONFIG", "SET", "timeout", "60"), "OK")
	s.server.CloseIdle(time.Now().Add(30 * time.Second))
	want(t, c.do("PING"), "PONG")
	listener := s.dial(t)
	listener.do("SUBSCRIBE", "news")
	s.server.CloseIdle(time.Now().Add(2 * time.Minute))
	c.wantClosed()
	listener.do("UNSUBSCRIBE", "news")
	s.server.CloseIdle(time.Now().Add(2 * time.Minute))
	listener.wantClosed()
}

// The parameters limit an argument and a command.
func TestQueryLimits(t *testing.T) {
	s := serve(t, server.Config{})
	c := s.dial(t)
	long := strings.Repeat("x", 1<<20+1)
	want(t, c.do("SET", "k", long), "OK")
	want(t, c.do("CONFIG", "SET", "proto-max-bulk-len", "1mb"), "OK")
	c.send("*2\r\n$3\r\nGET\r\n$1048577\r\n" + long[:100_000])
	want(t, c.reply(), "(error) ERR Protocol error: invalid bulk length")
	c.wantClosed()
	c = s.dial(t)
	want(t, c.do("CONFIG", "SET", "proto-max-bulk-len", "512mb", "client-query-buffer-limit", "1mb"), "OK")
	c.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1048577\r\n" + long + "\r\n")
	want(t, c.reply(), "(error) ERR Protocol error: too big request")
	c.wantClosed()
	c = s.dial(t)
	if got := statOf(c, "client_query_buffer_limit_disconnections"); got != "1" {
		t.Errorf("INFO counts %s", got)
	}
}

// A client that does not read is closed when its output exceeds its limits.
func TestOutputLimits(t *testing.T) {
	s := serve(t, server.Config{})
	admin, c := s.dial(t), s.dial(t)
	want(t, admin.do("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0"), "OK")
	id := c.do("CLIENT", "ID").Int
	for range 64 { // more than the sockets buffer
		s.server.Post(id, bytes.Repeat([]byte("x"), 1<<20-1))
	}
	if got := statOf(admin, "client_output_buffer_limit_disconnections"); got != "1" {
		t.Errorf("INFO counts %s", got)
	}
}
