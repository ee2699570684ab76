// Package oracle runs a real redis-server beside a test, to decide the correct reply. It is
// the one on the PATH, of version 7.0 or later; meowdis follows 8.0.
package oracle

import (
	"bytes"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// Server is a redis-server for one test, on a Unix socket, without persistence.
type Server struct {
	Socket string
	end    func()
}

// End ends the server before the test does, also one that runs an endless script.
func (s *Server) End() { s.end() }

// Start runs a redis-server, with further args, until the test ends. A machine without one fails the
// test: an oracle that is skipped proves nothing.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("these tests compare with a real Redis: install redis-server (Debian: apt-get install redis-server; macOS: brew install redis)")
	}
	// Socket paths are short of room: t.TempDir's can be too long.
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Socket: filepath.Join(dir, "redis.sock")}
	cmd := exec.Command(bin, "--port", "0", "--unixsocket", s.Socket, "--save", "", "--appendonly", "no", "--dir", dir, "--enable-debug-command", "yes")
	cmd.Args = append(cmd.Args, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.end = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(dir)
	})
	t.Cleanup(s.end)
	return s
}

// StartCluster runs a redis-server as Start does, as the only node of a cluster.
func StartCluster(t testing.TB) *Server {
	t.Helper()
	// A port that the system gives to no other test, since it is below its own range.
	port := ""
	for port == "" {
		n := strconv.Itoa(10_000 + rand.IntN(20_000))
		if bus, err := net.Listen("tcp", "127.0.0.1:"+n); err == nil {
			bus.Close()
			port = n
		}
	}
	s := Start(t, "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-port", port)
	c := s.Dial(t)
	c.Do([]byte("CLUSTER"), []byte("ADDSLOTSRANGE"), []byte("0"), []byte("16383"))
	for !bytes.Contains(c.Do([]byte("CLUSTER"), []byte("INFO")).Str, []byte("cluster_state:ok")) {
		<-time.After(5 * time.Millisecond)
	}
	return s
}

// Wait waits for the server to come up.
func (s *Server) Wait(t testing.TB) {
	t.Helper()
	s.Dial(t).conn.Close()
}

// Conn is a connection to the oracle.
type Conn struct {
	t    testing.TB
	conn net.Conn
	r    *resp.Reader
}

// Dial connects, waiting for the server to come up. The connection closes with
// the test.
func (s *Server) Dial(t testing.TB) *Conn {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		c, err := net.Dial("unix", s.Socket)
		if err == nil {
			t.Cleanup(func() { c.Close() })
			return &Conn{t: t, conn: c, r: resp.NewReader(c)}
		}
		if time.Now().After(deadline) {
			t.Fatalf("redis-server did not come up: %v", err)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// patience limits the wait for a reply. A blocking command, such as BLPOP, may wait for ever.
const patience = 2 * time.Minute

// Do sends one command and returns its reply.
func (c *Conn) Do(args ...[]byte) resp.Value {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := c.conn.Write(resp.AppendCommand(nil, args...)); err != nil {
		c.t.Fatal(err)
	}
	v, err := c.r.ReadReply()
	if err != nil {
		c.t.Fatalf("redis-server does not answer %q: %v", args, err)
	}
	return v
}

// Pipeline sends commands without waiting and returns their replies.
func (c *Conn) Pipeline(calls [][][]byte) []resp.Value {
	c.t.Helper()
	replies, err := c.TryPipeline(calls)
	if err != nil {
		i := len(replies)
		c.t.Errorf("redis-server does not answer call %d of %d, %.2000q: %v", i, len(calls), calls[i], err)
		replies = append(replies, make([]resp.Value, len(calls)-i)...)
	}
	return replies
}

// TryPipeline is Pipeline for commands that may crash the server. It returns the replies before the
// error, which may be fewer than the server has run commands.
func (c *Conn) TryPipeline(calls [][][]byte) (replies []resp.Value, err error) {
	c.conn.SetReadDeadline(time.Now().Add(patience))
	go func() {
		var b []byte
		for _, args := range calls {
			b = resp.AppendCommand(b, args...)
		}
		c.conn.Write(b) // an error shows as a missing reply
	}()
	for range calls {
		v, err := c.r.ReadReply()
		if err != nil {
			return replies, err
		}
		replies = append(replies, v)
	}
	return replies, nil
}
