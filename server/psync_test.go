package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// dumping is a Config.Dump of a text. It must be closed exactly once.
type dumping struct {
	text   string
	closed atomic.Bool
	wait   chan struct{} // if not nil, Dump waits until it is closed
}

func (d *dumping) dump(ctx context.Context, o server.DumpOptions) (*server.Dump, error) {
	o.Began()
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
		Size: int64(len(d.text)),
	}, nil
}

type closer func()

func (c closer) Close() error { c(); return nil }

// reads fails the test unless the server sends text.
func (p *peer) reads(text string) {
	p.t.Helper()
	p.SetReadDeadline(time.Now().Add(time.Minute))
	got := make([]byte, len(text))
	if n, err := io.ReadFull(p.Conn, got); err != nil || string(got) != text {
		p.t.Fatalf("got %.200q, %v, want %.200q", got[:n], err, text)
	}
}

const ping = "*1\r\n$4\r\nPING\r\n"

// TestReplica gets all data, then the effects of writes and pings, and continues after it was away.
func TestReplica(t *testing.T) {
	text := strings.Repeat("REDIS", 200_000)
	d := &dumping{text: text, wait: make(chan struct{})}
	s := serve(t, server.Config{Dump: d.dump})
	c, writer := s.dial(t), s.dial(t)
	id := fieldOf(t, writer, "replication", "master_replid")
	c.send("PING\r\nREPLCONF listening-port 7000\r\nREPLCONF capa psync2\r\nPSYNC ? -1\r\n")
	c.reads("+PONG\r\n+OK\r\n+OK\r\n+FULLRESYNC " + id + " 0\r\n")
	c.reads("\n") // while the dump is made
	want(t, writer.do("SET", "k", "v", "PX", "5000"), "OK")
	close(d.wait)
	head := make([]byte, 1)
	for io.ReadFull(c, head); head[0] == '\n'; io.ReadFull(c, head) {
	}
	stream := string(resp.AppendCommand(resp.AppendCommand(nil, []byte("SELECT"), []byte("0")),
		[]byte("SET"), []byte("k"), []byte("v"), []byte("PXAT"), []byte("1700000005000")))
	c.reads("1000000\r\n" + text + stream)
	if line := fieldOf(t, writer, "replication", "slave0"); line != "ip=127.0.0.1,port=7000,state=online,offset=0,lag=0" {
		t.Error(line)
	}
	waiting := s.dial(t)
	waiting.send("WAIT 1 0\r\n")
	c.reads("*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n")
	c.send(fmt.Sprintf("REPLCONF ACK %d\r\n", len(stream)))
	want(t, waiting.reply(), "(integer) 1")
	// As in Redis 8.0, WAIT in MULTI and scripts counts the replicas that have the writes before, and does not wait.
	for _, line := range []string{"MULTI", "SET k w", "WAIT 2 0", "WAITAOF 0 1 0"} {
		waiting.do(strings.Fields(line)...)
	}
	want(t, waiting.do("EXEC"), "1) OK\n2) (integer) 1\n3) 1) (integer) 0\n   2) (integer) 0")
	want(t, waiting.do("EVAL", "return redis.call('WAIT', 2, 0)", "0"), "(integer) 0")
	want(t, waiting.do("WAIT", "0", "0"), "(integer) 0")
	c.Close()
	for deadline := time.Now().Add(time.Minute); !d.closed.Load() || fieldOf(t, writer, "replication", "connected_slaves") != "0"; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the replica is still there, or its dump is open")
		}
	}
	want(t, writer.do("INCR", "n"), "(integer) 1")
	c = s.dial(t)
	c.send(fmt.Sprintf("REPLCONF capa psync2\r\nPSYNC %s %d\r\n", id, len(stream)+1))
	c.reads("+OK\r\n+CONTINUE " + id + "\r\n*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nw\r\n*3\r\n$3\r\nSET\r\n$1\r\nn\r\n$1\r\n1\r\n")
	for _, next := range []int{-1, 0, 1 << 40} {
		again := s.dial(t)
		again.send(fmt.Sprintf("PSYNC %s %d\r\n", id, next))
		again.reads("+FULLRESYNC " + id)
	}
}

// TestReplicaPings sends pings, between marks for a replica that accepts them.
func TestReplicaPings(t *testing.T) {
	d := &dumping{text: "REDIS0010"}
	c := serve(t, server.Config{Dump: d.dump, PingEvery: 10 * time.Millisecond}).dial(t)
	c.send("REPLCONF capa eof\r\nSYNC\r\n")
	c.reads("+OK\r\n$EOF:")
	mark := make([]byte, 40)
	io.ReadFull(c, mark)
	c.reads("\r\nREDIS0010" + string(mark))
	c.send("REPLCONF ACK 0\r\n") // nothing may follow the mark before
	c.reads(ping + ping)
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
	s := serve(t, server.Config{Dump: func(ctx context.Context, _ server.DumpOptions) (*server.Dump, error) {
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
	case <-time.After(time.Minute):
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

// endless reads as a dump file without an end.
type endless struct{ begun chan struct{} }

func (e *endless) Read(b []byte) (int, error) {
	if e.begun == nil {
		for i := range b {
			b[i] = "\xfe\x00"[i%2] // SELECT 0
		}
		return len(b) &^ 1, nil
	}
	close(e.begun)
	e.begun = nil
	return copy(b, "REDIS0010"), nil
}

// TestDigestAtTheEnd stops the server during DEBUG DIGEST.
func TestDigestAtTheEnd(t *testing.T) {
	begun := make(chan struct{})
	s := serve(t, server.Config{Dump: func(context.Context, server.DumpOptions) (*server.Dump, error) {
		return &server.Dump{ReadCloser: io.NopCloser(&endless{begun})}, nil
	}})
	c := s.dial(t)
	c.send("DEBUG DIGEST\r\n")
	<-begun
	s.stop()
	io.Copy(io.Discard, c)
	<-s.done
}

func TestReplicationErrors(t *testing.T) {
	s := serve(t, server.Config{Dump: func(context.Context, server.DumpOptions) (*server.Dump, error) { return nil, errors.New("a secret") }})
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
