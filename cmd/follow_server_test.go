package cmd_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// redisAt is a server on a Unix socket that can be killed and started again with its data: a redis-server, or meowdis.
type redisAt struct {
	t       *testing.T
	socket  string
	meowdis bool
	cmd     *exec.Cmd
}

func newRedis(t *testing.T) *redisAt { return newServer(t, false) }

func newServer(t *testing.T, meowdis bool) *redisAt {
	t.Helper()
	dir, err := os.MkdirTemp("", "follow") // t.TempDir's paths can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	r := &redisAt{t: t, socket: filepath.Join(dir, "redis.sock"), meowdis: meowdis}
	r.start()
	t.Cleanup(func() {
		r.kill()
		os.RemoveAll(dir)
	})
	return r
}

func (r *redisAt) url() string { return "unix://" + r.socket }

func (r *redisAt) start() {
	r.t.Helper()
	r.cmd = exec.Command("redis-server", "--port", "0", "--unixsocket", r.socket, "--save", "", "--appendonly", "yes", "--dir", filepath.Dir(r.socket),
		"--repl-diskless-sync-delay", "0", "--repl-backlog-size", "16mb")
	if r.meowdis {
		os.Remove(r.socket) // a killed server leaves it
		r.cmd = exec.Command("meowdis", "serve", filepath.Join(filepath.Dir(r.socket), "source.sqlite"), "--resp", "unix:"+r.socket)
	}
	r.cmd.Env = manyThreads()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal("these tests need redis-server: ", err)
	}
	for deadline := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
		if c, err := r.dial(); err == nil {
			v, err := c.do("PING")
			c.conn.Close()
			if err == nil && !v.IsError() { // it has loaded its data
				return
			}
		}
		if time.Now().After(deadline) {
			r.t.Fatal("redis-server did not start")
		}
	}
}

func (r *redisAt) kill() {
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

// redisClient is a connection of a test. Unlike a session it never connects again.
type redisClient struct {
	conn net.Conn
	in   *resp.Reader
}

func (r *redisAt) dial() (*redisClient, error) {
	conn, err := net.Dial("unix", r.socket)
	if err != nil {
		return nil, err
	}
	return &redisClient{conn, resp.NewReader(conn)}, nil
}

func (c *redisClient) do(words ...string) (resp.Value, error) {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	c.conn.SetDeadline(time.Now().Add(patience))
	if _, err := c.conn.Write(resp.AppendCommand(nil, args...)); err != nil {
		return resp.Value{}, err
	}
	return c.in.ReadReply()
}

// do runs a command that must succeed.
func (r *redisAt) do(words ...string) resp.Value {
	r.t.Helper()
	c, err := r.dial()
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.conn.Close()
	v, err := c.do(words...)
	if err != nil || v.IsError() {
		r.t.Fatalf("%q: %s %v", words, v.Str, err)
	}
	return v
}

// settle makes the groups of streams such as replicas have them: a server does not tell its replicas of consumers that
// have read nothing (Redis 8.0), and how many entries a group has read (7.0).
func (r *redisAt) settle() {
	r.t.Helper()
	old := bytes.Contains(r.do("INFO", "server").Str, []byte("redis_version:7.0."))
	c, err := r.dial()
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.conn.Close()
	do := func(words ...string) resp.Value { // without the group it is an error reply
		v, err := c.do(words...)
		if err != nil {
			r.t.Fatal(err)
		}
		return v
	}
	for db := range 3 {
		do("SELECT", fmt.Sprint(db))
		for i := range 12 {
			stream := fmt.Sprintf("stream:%d", i)
			if old {
				do("XGROUP", "SETID", stream, "g", "0")
			}
			for _, consumer := range do("XINFO", "CONSUMERS", stream, "g").Elems {
				if name, pending := consumer.Elems[1].Str, consumer.Elems[3].Int; pending == 0 {
					do("XGROUP", "DELCONSUMER", stream, "g", string(name))
				}
			}
		}
	}
}

// cutter is a proxy that cuts each replication connection after some bytes of the server, as long as cuts are left.
type cutter struct {
	url   string
	left  atomic.Int64
	cut   chan int64 // receives the cuts that are left
	mu    sync.Mutex
	ended bool
	conns map[net.Conn]bool
}

func newCutter(t *testing.T, socket string, cuts int, after func() int64) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{url: "redis://" + l.Addr().String(), cut: make(chan int64, cuts), conns: map[net.Conn]bool{}}
	c.left.Store(int64(cuts))
	var relays sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		c.mu.Lock()
		c.ended = true
		for conn := range c.conns {
			conn.Close()
		}
		c.mu.Unlock()
		relays.Wait()
	})
	relays.Add(1)
	go func() {
		defer relays.Done()
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", socket)
			if err != nil {
				client.Close()
				continue
			}
			c.mu.Lock()
			if c.conns[client], c.conns[server] = true, true; c.ended {
				client.Close()
				server.Close()
			}
			c.mu.Unlock()
			relays.Add(1)
			go func() {
				defer relays.Done()
				c.relay(client, server, after())
			}()
		}
	}()
	return c
}

func (c *cutter) relay(client, server net.Conn, after int64) {
	var replica atomic.Bool
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		defer server.Close()
		b := make([]byte, 4096)
		for {
			n, err := client.Read(b)
			if bytes.Contains(b[:n], []byte("PSYNC")) {
				replica.Store(true)
			}
			if _, bad := server.Write(b[:n]); err != nil || bad != nil {
				return
			}
		}
	}()
	b := make([]byte, 997)
	for {
		n, err := server.Read(b)
		after -= int64(n)
		if replica.Load() && after <= 0 && c.left.Load() > 0 {
			c.cut <- c.left.Add(-1)
			client.Write(b[:rand.IntN(n+1)]) // in the middle of a command
			break
		}
		if _, bad := client.Write(b[:n]); err != nil || bad != nil {
			break
		}
	}
	client.Close()
	server.Close()
	<-sent
	c.mu.Lock()
	delete(c.conns, client)
	delete(c.conns, server)
	c.mu.Unlock()
}
