package server_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/server"
)

// dumping is a Config.Dump of a text. It must be closed exactly once.
type dumping struct {
	text            string
	changed, closed atomic.Bool
	wait            chan struct{} // if not nil, Dump waits until it is closed
}

func (d *dumping) dump(ctx context.Context) (*server.Dump, error) {
	if d.wait != nil {
		select {
		case <-d.wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &server.Dump{
		ReadCloser: struct {
			io.Reader
			io.Closer
		}{strings.NewReader(d.text), closer(func() { d.closed.Store(true) })},
		Size:    int64(len(d.text)),
		Changed: func(context.Context) (bool, error) { return d.changed.Load(), nil },
	}, nil
}

type closer func()

func (c closer) Close() error { c(); return nil }

// reads fails the test unless the server sends text.
func (p *peer) reads(text string) {
	p.t.Helper()
	p.SetReadDeadline(time.Now().Add(20 * time.Second))
	got := make([]byte, len(text))
	if n, err := io.ReadFull(p.Conn, got); err != nil || string(got) != text {
		p.t.Fatalf("got %.200q, %v, want %.200q", got[:n], err, text)
	}
}

const ping = "*1\r\n$4\r\nping\r\n"

// TestReplica gets all data, and then pings until the next write.
func TestReplica(t *testing.T) {
	text := strings.Repeat("REDIS", 200_000)
	d := &dumping{text: text, wait: make(chan struct{})}
	s := serve(t, server.Config{Dump: d.dump, PingEvery: 10 * time.Millisecond})
	c := s.dial(t)
	id := fieldOf(t, s.dial(t), "replication", "master_replid")
	c.send("PING\r\nREPLCONF listening-port 7000\r\nREPLCONF capa eof capa psync2\r\nPSYNC ? -1\r\n")
	c.reads("+PONG\r\n+OK\r\n+OK\r\n+FULLRESYNC " + id + " 0\r\n")
	c.reads("\n") // while the dump is made
	close(d.wait)
	head := make([]byte, 1)
	for io.ReadFull(c, head); head[0] == '\n'; io.ReadFull(c, head) {
	}
	c.reads("1000000\r\n" + text + ping)
	if n := fieldOf(t, s.dial(t), "replication", "connected_slaves"); n != "1" {
		t.Errorf("%s replicas", n)
	}
	c.send("REPLCONF ACK 14\r\n")
	c.reads(ping)
	d.changed.Store(true)
	io.Copy(io.Discard, c) // until EOF
	for deadline := time.Now().Add(20 * time.Second); !d.closed.Load(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the dump is still open")
		}
	}
}

// fieldOf returns a field of INFO.
func fieldOf(t *testing.T, c *peer, section, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(string(c.do("INFO", section).Str), "\r\n"+name+":")
	if !ok {
		t.Fatalf("INFO %s has no %s", section, name)
	}
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// TestDumpAlone sends the dump to redis-cli --rdb and closes the connection.
func TestDumpAlone(t *testing.T) {
	d := &dumping{text: "REDIS0010"}
	c := serve(t, server.Config{Dump: d.dump}).dial(t)
	want(t, c.do("REPLCONF", "rdb-only", "1"), "OK")
	c.send("SYNC\r\nPING\r\n")
	c.reads("$9\r\nREDIS0010")
	if rest, err := io.ReadAll(c); len(rest) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("then %q, %v", rest, err)
	}
}

// TestReplicaThatLeaves cancels the dump of a replica that leaves.
func TestReplicaThatLeaves(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, server.Config{Dump: func(ctx context.Context) (*server.Dump, error) {
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}})
	c := s.dial(t)
	c.send("SYNC\r\n")
	c.reads("\n")
	c.Close()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the dump goes on")
	}
}

// TestReplicaAtTheEnd stops the server while a replica waits for its dump, and while it has it.
func TestReplicaAtTheEnd(t *testing.T) {
	d := &dumping{text: "REDIS0010"}
	s := serve(t, server.Config{Dump: d.dump})
	c := s.dial(t)
	c.send("PSYNC ? -1\r\n")
	c.reads("+FULLRESYNC ")
	s.stop()
	io.Copy(io.Discard, c)
	<-s.done
}

func TestReplicationErrors(t *testing.T) {
	s := serve(t, server.Config{Dump: func(context.Context) (*server.Dump, error) { return nil, errors.New("a secret") }})
	c := s.dial(t)
	for call, says := range map[string]string{
		"PSYNC ?":                      "(error) ERR wrong number of arguments for 'psync' command",
		"PSYNC ? x":                    "(error) ERR value is not an integer or out of range",
		"PSYNC a b c":                  "(error) ERR value is not an integer or out of range",
		"SYNC x":                       "(error) ERR wrong number of arguments for 'sync' command",
		"REPLCONF":                     "OK",
		"REPLCONF a":                   "(error) ERR syntax error",
		"REPLCONF foo bar":             "(error) ERR Unrecognized REPLCONF option: foo",
		"REPLCONF listening-port x":    "(error) ERR value is not an integer or out of range",
		"REPLCONF rdb-only x":          "(error) ERR value is not an integer or out of range",
		"REPLCONF rdb-filter-only x":   "(error) ERR Unsupported rdb-filter-only option: x",
		"REPLCONF capa eof capa other": "OK",
		"REPLCONF ip-address 1.2.3.4":  "OK",
	} {
		want(t, c.do(strings.Fields(call)...), says)
	}
	c.send("REPLCONF ACK 1\r\nREPLCONF GETACK *\r\nPING\r\n")
	want(t, c.reply(), "PONG")
	want(t, c.do("MULTI"), "OK")
	want(t, c.do("PSYNC", "?", "-1"), "(error) ERR Command not allowed inside a transaction")
	want(t, c.do("DISCARD"), "OK")
	if _, got := s.get(t, "/psync/x/1"); got != `{"error":"ERR Command \"PSYNC\" is not allowed in REST or it has a special context path"}` {
		t.Error(got)
	}
	c.send("SYNC\r\n")
	c.wantClosed()
	want(t, serve(t, server.Config{}).dial(t).do("SYNC"), "(error) ERR this server has no dump for replicas")
}
