package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
)

func want(t *testing.T, got resp.Value, text string) {
	t.Helper()
	if show(got) != text {
		t.Errorf("got %s, want %s", show(got), text)
	}
}

// A complete command gets its reply although the next one has only partly arrived.
func TestPartialCommand(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	c.send("*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nEC")
	want(t, c.reply(), "PONG")
	c.send("HO\r\n$5\r\nhel")
	c.send("lo\r\n*1\r\n")
	want(t, c.reply(), `"hello"`)
	c.send("$4\r\nPING\r\n")
	want(t, c.reply(), "PONG")
}

func TestLongPipeline(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	const n = 20_000
	go func() {
		var out []byte
		for i := range n {
			out = resp.AppendCommand(out, words("ECHO", fmt.Sprint(i))...)
		}
		c.Write(out)
	}()
	for i := range n {
		want(t, c.reply(), fmt.Sprintf("%q", fmt.Sprint(i)))
	}
}

func TestBigValues(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 500_000) // 8 MB
	c.send(string(resp.AppendCommand(nil, []byte("SET"), []byte("big"), big)) + "GET big\r\nPING\r\n")
	want(t, c.reply(), "OK")
	if got := c.reply(); !bytes.Equal(got.Str, big) {
		t.Errorf("a value of %d bytes came back as %d", len(big), len(got.Str))
	}
	want(t, c.reply(), "PONG")
}

// The words of a queued command outlive the buffer that they were read from.
func TestQueueOutlivesBuffer(t *testing.T) {
	c := serve(t, server.Config{}).dial(t)
	c.do("MULTI")
	for i := range 2000 {
		want(t, c.do("SET", fmt.Sprint("key:", i), fmt.Sprint("value:", i)), "QUEUED")
	}
	c.do("EXEC")
	for i := range 2000 {
		want(t, c.do("GET", fmt.Sprint("key:", i)), fmt.Sprintf(`"value:%d"`, i))
	}
}

// elsewhere is a listener whose peers appear to be on another machine.
type elsewhere struct{ net.Listener }

type remoteConn struct{ net.Conn }

func (remoteConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 4000} }

func (l elsewhere) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return remoteConn{c}, nil
}

func TestProtectedMode(t *testing.T) {
	for password, denied := range map[string]bool{"": true, "secret": false} {
		ctx, cancel := context.WithCancel(context.Background())
		ln := listen(t)
		e := engine.New(storeFunc(nil))
		done := make(chan error)
		go func() {
			done <- server.New(server.Config{Engine: e, RequirePass: password}).ServeRESP(ctx, elsewhere{ln})
		}()
		c := (&served{resp: ln.Addr().String()}).dial(t)
		if denied {
			if v := c.reply(); !strings.HasPrefix(string(v.Str), "DENIED Redis is running in protected mode") {
				t.Errorf("a stranger without a password gets %s", show(v))
			}
			c.wantClosed()
		} else {
			want(t, c.do("AUTH", password), "OK")
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestMaxClients(t *testing.T) {
	s := serve(t, server.Config{MaxClients: 2})
	a, b := s.dial(t), s.dial(t)
	want(t, a.do("PING"), "PONG")
	want(t, b.do("PING"), "PONG")
	c := s.dial(t)
	want(t, c.reply(), "(error) ERR max number of clients reached")
	c.wantClosed()
	if stats := string(a.do("INFO", "stats").Str); !strings.Contains(stats, "\r\nrejected_connections:1\r\n") {
		t.Errorf("INFO does not count the client that was refused: %s", stats)
	}
}

func TestClientListAndKill(t *testing.T) {
	s := serve(t, server.Config{})
	a, b := s.dial(t), s.dial(t)
	a.do("CLIENT", "SETNAME", "alice")
	b.do("HELLO", "3", "SETNAME", "bob")
	b.do("CLIENT", "SETINFO", "LIB-NAME", "test")
	b.do("CLIENT", "SETINFO", "lib-ver", "1.2")
	want(t, b.do("CLIENT", "SETINFO", "lib-ver", "1 2"), "(error) ERR lib-ver cannot contain spaces, newlines or special characters.")
	want(t, b.do("CLIENT", "SETINFO", "x", "y"), "(error) ERR Unrecognized option 'x'")
	b.do("SELECT", "7")
	b.do("MULTI")
	b.do("GET", "k")

	lines := strings.Split(strings.TrimSpace(string(a.do("CLIENT", "LIST").Str)), "\n")
	if len(lines) != 2 {
		t.Fatalf("CLIENT LIST has %d lines: %q", len(lines), lines)
	}
	for i, parts := range [][]string{
		{"name=alice", "db=0", "multi=-1", "cmd=client|list", "resp=2", "addr=" + a.LocalAddr().String()},
		{"name=bob", "db=7", "multi=1", "cmd=get", "resp=3", "lib-name=test", "lib-ver=1.2"},
	} {
		for _, part := range parts {
			if !strings.Contains(lines[i]+" ", " "+part+" ") {
				t.Errorf("%s is not in %s", part, lines[i])
			}
		}
	}
	want(t, b.do("CLIENT", "ID"), "QUEUED")
	id := fmt.Sprint(b.do("EXEC").Elems[1].Int)
	want(t, a.do("CLIENT", "KILL", "ID", id), "(integer) 1")
	b.wantClosed()
	want(t, a.do("CLIENT", "KILL", "TYPE", "normal"), "(integer) 0")
	want(t, a.do("CLIENT", "KILL", "MAXAGE", "1000000", "SKIPME", "no"), "(integer) 0")
	want(t, a.do("CLIENT", "KILL", "MAXAGE", "0"), "(error) ERR maxage should be greater than 0")
	want(t, a.do("CLIENT", "KILL", "MAXAGE", "x"), "(error) ERR maxage is not an integer or out of range")
	want(t, a.do("CLIENT", "KILL", a.LocalAddr().String()), "OK")
	a.wantClosed()
}

// storeFunc is a store implemented by a func.
type storeFunc func([]store.Batch) ([]store.Result, error)

func (f storeFunc) Apply(_ context.Context, b []store.Batch) ([]store.Result, error) { return f(b) }

func (f storeFunc) ApplyGroup(parts []*store.Part, took func(int)) int {
	return together(f, parts, took)
}

func TestStoreFailure(t *testing.T) {
	broken := errors.New(`running "INSERT INTO keys" on /home/cat/shop.sqlite: no space left`)
	told := ""
	s := serve(t, server.Config{
		Engine:        engine.New(storeFunc(func([]store.Batch) ([]store.Result, error) { return nil, broken })),
		PublicMessage: func(error) string { return told },
	})
	c := s.dial(t)
	want(t, c.do("GET", "a"), "(error) ERR the database failed: see the server's log")
	told = "no space left"
	const text = "(error) ERR the database failed: no space left"
	c.send("GET a\r\nPING\r\n")
	want(t, c.reply(), text)
	want(t, c.reply(), "PONG")
	// The client cannot know whether it is in database 1, so the server closes the connection.
	c.send(string(resp.AppendCommand(resp.AppendCommand(nil, words("SELECT", "1")...), words("GET", "a")...)))
	want(t, c.reply(), text)
	want(t, c.reply(), text)
	c.wantClosed()
	status, body := s.get(t, "/get/a")
	if status != 500 || body != `{"error":"ERR the database failed: no space left"}` {
		t.Errorf("REST answers %d %s", status, body)
	}
}

// A stopping server finishes the running command and sends its reply. It does not wait for idle clients.
func TestGracefulStop(t *testing.T) {
	running, finish := make(chan struct{}, 2), make(chan struct{})
	s := serve(t, server.Config{Engine: engine.New(storeFunc(func(b []store.Batch) ([]store.Result, error) {
		running <- struct{}{}
		<-finish
		return []store.Result{{Rows: [][]store.Row{nil}}}, nil
	}))})
	idle, busy := s.dial(t), s.dial(t)
	want(t, idle.do("PING"), "PONG")
	busy.send("GET k\r\n")
	var overREST sync.WaitGroup
	overREST.Go(func() {
		if status, body := s.get(t, "/get/k"); status != 200 || body != `{"result":null}` {
			t.Errorf("REST answers %d %s", status, body)
		}
	})
	<-running
	<-running
	s.stop()
	idle.wantClosed()
	select {
	case <-s.done:
		t.Error("the server is gone while a command runs")
	default:
	}
	close(finish)
	want(t, busy.reply(), "(nil)")
	busy.wantClosed()
	overREST.Wait()
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		t.Error("the server does not stop")
	}
	if c, err := net.Dial("tcp", s.resp); err == nil {
		c.Close()
		t.Error("the server still listens")
	}
}

// TestViolationIsTold sends more bytes than the server reads after a protocol error. The error must arrive, not a
// reset.
func TestViolationIsTold(t *testing.T) {
	s := serve(t, server.Config{})
	got := exchange(t, "tcp", s.resp, strings.Repeat("a", 500_000))
	if want := "-ERR Protocol error: too big inline request\r\n(closed)"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestInfo requests the server's sections of INFO over both protocols.
func TestInfo(t *testing.T) {
	s := serve(t, server.Config{MaxClients: 7})
	c := s.dial(t)
	c.send("PING\r\nCONFIG RESETSTAT\r\nPING\r\nINFO\r\n")
	var info string
	for range 4 {
		info = string(c.reply().Str)
	}
	for _, want := range []string{
		"\r\nrun_id:", "\r\nuptime_in_seconds:", "\r\ntcp_port:", "\r\n# Clients\r\nconnected_clients:1\r\n", "\r\nmaxclients:7\r\n",
		"\r\n# Memory\r\n", "\r\nused_memory_human:", "\r\n# Stats\r\ntotal_connections_received:0\r\ntotal_commands_processed:",
		"\r\ninstantaneous_ops_per_sec:", "\r\nrejected_connections:0\r\n", "\r\nrdb_last_bgsave_status:ok\r\n", "\r\n# CPU\r\nused_cpu_sys:",
	} {
		if !strings.Contains(info, want) {
			t.Errorf("%q is missing in\n%s", want, info)
		}
	}
}
