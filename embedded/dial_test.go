package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/embedded"
	"github.com/meowdis/meowdis/internal/test/capture"
)

// patience allows for a loaded machine.
const patience = 60 * time.Second

// peer is a client that speaks RESP2.
type peer struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, db interface {
	Dialer(context.Context, string, string) (net.Conn, error)
}) *peer {
	t.Helper()
	conn, err := db.Dialer(t.Context(), "tcp", "ignored:1")
	if err != nil {
		t.Fatal(err)
	}
	return meet(t, conn)
}

func meet(t *testing.T, conn net.Conn) *peer {
	conn.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { conn.Close() })
	return &peer{t, conn, bufio.NewReader(conn)}
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p, line+"\r\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) expect(want string) {
	p.t.Helper()
	got := make([]byte, len(want)+2)
	if _, err := io.ReadFull(p.in, got); err != nil || string(got) != want+"\r\n" {
		p.t.Fatalf("got %q, %v; want %q", got, err, want)
	}
}

func (p *peer) check(line, want string) {
	p.t.Helper()
	p.send(line)
	p.expect(want)
}

func waits(t *testing.T, db *embedded.DB, n string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		info, err := db.Do(t.Context(), "INFO", "clients").Text()
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%s clients do not wait: %v\n%s", n, err, info)
		}
		if strings.Contains(info, "blocked_clients:"+n+"\r\n") {
			return
		}
	}
}

// A client may send a long pipeline before it reads any reply.
func TestLongPipeline(t *testing.T) {
	db := embedded.RunT(t)
	p := dial(t, db)
	const n = 20_000
	value := strings.Repeat("x", 200)
	p.send(strings.TrimSuffix(strings.Repeat("SET k "+value+"\r\nGET k\r\n", n), "\r\n"))
	for range n {
		p.expect("+OK\r\n$200\r\n" + value)
	}
}

// TestPanics makes the clock panic under commands of the program and of a connection, and under the sweep: each gets an
// error, the log has the stacks, and the database continues.
func TestPanics(t *testing.T) {
	var panics atomic.Bool
	var log capture.Buffer
	db, err := embedded.Open(t.TempDir()+"/db.sqlite", embedded.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), embedded.WithClock(func() time.Time {
		if panics.Load() {
			panic("injected")
		}
		return time.Unix(1_700_000_000, 0)
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := dial(t, db)
	for i := range 3 {
		panics.Store(true)
		if v := db.Do(t.Context(), "SET", "k", i); v.Err() == nil {
			t.Error("SET succeeds")
		}
		p.send("GET k")
		if line, err := p.in.ReadString('\n'); err != nil || !strings.Contains(line, "internal error: injected") {
			t.Errorf("GET replies %q, %v", line, err)
		}
		if line, err := p.in.ReadString('\n'); err == nil {
			t.Errorf("the connection stays open, and replies %q", line)
		}
		panics.Store(false)
		if err := db.Do(t.Context(), "SET", "k", i).Err(); err != nil {
			t.Error(err)
		}
		p = dial(t, db)
		p.check("GET k", fmt.Sprintf("$1\r\n%d", i))
	}
	if n := strings.Count(log.String(), "stack="); n < 6 {
		t.Errorf("the log has %d stacks: %s", n, log.String())
	}
}

func TestDialedConnections(t *testing.T) {
	db := embedded.RunT(t)
	a, b := dial(t, db), dial(t, db)
	a.check("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1")
	b.check("PUBLISH c hello", ":1")
	a.expect("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nhello")

	// A blocked client that hangs up takes no element.
	b.send("BLPOP queue 0")
	waits(t, db.DB, "1")
	b.Close()
	waits(t, db.DB, "0")
	db.Check(1, "RPUSH", "queue", "x")

	// A deadline passes while nothing arrives, and the connection continues.
	c := dial(t, db)
	c.SetReadDeadline(time.Unix(1, 0))
	if _, err := c.Read(make([]byte, 1)); err == nil || !err.(net.Error).Timeout() {
		t.Errorf("reading after the deadline: %v", err)
	}
	c.SetReadDeadline(time.Time{})
	c.check("PING", "+PONG")
	waiting, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // both outcomes are valid while the server accepts
		if conn, err := db.Dialer(waiting, "", ""); err == nil {
			conn.Close()
		} else if err != context.Canceled {
			t.Fatal(err)
		}
	}
}

func TestAddr(t *testing.T) {
	db := embedded.RunT(t)
	if db.Addr() != db.Addr() {
		t.Error("there are two ports")
	}
	conn, err := net.Dial("tcp", db.Addr())
	if err != nil {
		t.Fatal(err)
	}
	p := meet(t, conn)
	p.check("SET k v", "+OK")
	db.Check("v", "GET", "k")
	db.Close()
	if _, err := p.in.ReadByte(); err == nil {
		t.Error("the connection goes on")
	}
}

func TestServe(t *testing.T) {
	db := embedded.RunT(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Serve(ctx, ln) }()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	meet(t, conn).check("PING", "+PONG")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	db.Check("PONG", "PING") // the database still works
}
