package server_test

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/server"
)

// executed returns the number of commands that the server has run.
func (p *peer) executed() int {
	p.t.Helper()
	_, after, _ := strings.Cut(string(p.do("INFO", "stats").Str), "total_commands_processed:")
	n, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(after, "\n", 2)[0]))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// TestClientThatDoesNotRead pipelines commands with large replies and reads none. The server creates only a few of the
// replies, and serves other clients.
func TestClientThatDoesNotRead(t *testing.T) {
	s := serve(t, server.Config{})
	other, deaf := s.dial(t), s.dial(t)
	want(t, other.do("SET", "big", strings.Repeat("x", 2<<20)), "OK")
	before := other.executed()
	deaf.send(strings.Repeat("*2\r\n$3\r\nGET\r\n$3\r\nbig\r\n", 1000))
	for asked := 1; asked < 50; asked++ {
		if made := other.executed() - before - asked; made > 100 {
			t.Fatalf("%d replies of 2 MB were made for a client that reads none", made)
		}
	}
}

// TestClientThatIsDone reads its replies although it has closed its sending side.
func TestClientThatIsDone(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	c.send("SET k v\r\nGET k\r\n*2\r\n$3\r\nGET\r\n")
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c)
	if err != nil || string(all) != "+OK\r\n$1\r\nv\r\n" {
		t.Errorf("%q, %v", all, err)
	}
}

// TestClientsThatStall holds unfinished requests open over both protocols. The server serves other clients, closes
// these when it stops, and returns no error.
func TestClientsThatStall(t *testing.T) {
	s := serve(t, server.Config{Grace: 10 * time.Millisecond})
	for _, beginning := range []string{"*2147483647\r\n$536870912\r\nabc", "*", "$", "SET k", "*1\r\n$4\r\nPI"} {
		s.dial(t).send(beginning)
	}
	for _, beginning := range []string{"", "P", "POST / HTTP/1.1\r\nHost: x\r\nX", "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 50000000\r\n\r\n["} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.rest, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte(beginning)); err != nil {
			t.Fatal(err)
		}
	}
	want(t, s.dial(t).do("PING"), "PONG")
	if status, text := s.request(t, "POST", "/", `["PING"]`); status != 200 {
		t.Errorf("%d %s", status, text)
	}
}
