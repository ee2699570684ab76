package remote_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/remote"
)

// relay passes connections on to a socket, and can cut them.
type relay struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func startRelay(t *testing.T, socket string) *relay {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &relay{Listener: ln}
	t.Cleanup(func() { ln.Close(); p.cut() })
	go func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", socket)
			if err != nil {
				in.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, in, out)
			p.mu.Unlock()
			go io.Copy(out, in)
			go io.Copy(in, out)
		}
	}()
	return p
}

// cut closes every connection that there is.
func (p *relay) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func openRedis(t *testing.T, url string, resp3 bool) *remote.Redis {
	t.Helper()
	r, err := remote.OpenRedis(context.Background(), url, resp3, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestRedis(t *testing.T) {
	server := oracle.Start(t)
	server.Dial(t)
	r := openRedis(t, "unix://"+server.Socket+"?db=2", false)
	talk(t, r, [][2]string{
		{`SET k "a\xff\x00"`, "OK"},
		{"GET k", `"a\xff\x00"`},
		{"LPUSH k x", "(error) WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"SUBSCRIBE ch", "(error) ERR SUBSCRIBE is not available here"},
		{"HSET h f v", "(integer) 1"},
		{"HGETALL h", "1) \"f\"\n2) \"v\""},
	})
	if r.DB() != 2 {
		t.Errorf("DB is %d", r.DB())
	}
	talk(t, r, [][2]string{{"MULTI", "OK"}, {"SELECT 3", "QUEUED"}, {"SET k three", "QUEUED"}})
	if !r.InMulti() || r.DB() != 2 {
		t.Error("the transaction is not seen")
	}
	talk(t, r, [][2]string{{"EXEC", "1) OK\n2) OK"}, {"GET k", `"three"`}})
	if r.InMulti() || r.DB() != 3 {
		t.Error("the end of the transaction is not seen")
	}
	three := openRedis(t, "unix://"+server.Socket+"?db=2", true)
	talk(t, three, [][2]string{{"HGETALL h", `1# "f" => "v"`}})
	replies, err := r.PipelineUntilError(context.Background(), [][][]byte{
		byteWords([]string{"SET", "a", "x"}), byteWords([]string{"GET", "a"}), byteWords([]string{"INCR", "a"}), byteWords([]string{"SET", "a", "y"}),
	})
	if err != nil || len(replies) != 3 {
		t.Errorf("%d replies, %v", len(replies), err)
	}
	talk(t, r, [][2]string{{"GET a", `"x"`}})
}

func TestRedisReconnects(t *testing.T) {
	server := oracle.Start(t)
	server.Dial(t)
	p := startRelay(t, server.Socket)
	r := openRedis(t, "redis://"+p.Addr().String()+"/1", false)
	talk(t, r, [][2]string{{"SELECT 4", "OK"}, {"SET k 1", "OK"}})
	p.cut()
	talk(t, r, [][2]string{{"GET k", `"1"`}}) // in database 4 again
	p.cut()
	if got := say(t, r, "INCR k"); !strings.HasPrefix(got, "failed: talking to ") {
		t.Errorf("a write whose reply was lost: %s", got)
	}
	talk(t, r, [][2]string{{"INCR k", "(integer) 2"}, {"MULTI", "OK"}, {"SET k 9", "QUEUED"}})
	p.cut()
	if got := say(t, r, "GET k"); !strings.HasPrefix(got, "failed: ") {
		t.Errorf("a transaction whose connection was lost: %s", got)
	}
	if got := say(t, r, "EXEC"); !strings.Contains(got, "the connection was lost, and the transaction with it") {
		t.Errorf("EXEC after a lost connection: %s", got)
	}
	talk(t, r, [][2]string{{"GET k", `"2"`}, {"MULTI", "OK"}, {"SET k 9", "QUEUED"}})
	p.cut()
	if got := say(t, r, "EXEC"); !strings.HasPrefix(got, "failed: ") || r.InMulti() {
		t.Errorf("EXEC lost its connection: %s; in a transaction: %v", got, r.InMulti())
	}
	talk(t, r, [][2]string{{"GET k", `"2"`}})
	p.Close()
	p.cut()
	if got := say(t, r, "GET k"); !strings.Contains(got, "connection refused") {
		t.Errorf("without a server: %s", got)
	}
}

func TestRedisAuth(t *testing.T) {
	server := oracle.Start(t)
	conn := server.Dial(t)
	for _, args := range [][]string{{"ACL", "SETUSER", "cat", "on", ">purr", "~*", "+@all"}, {"CONFIG", "SET", "requirepass", "meow"}} {
		if v := conn.Do(byteWords(args)...); v.IsError() {
			t.Fatalf("%s", v.Str)
		}
	}
	p := startRelay(t, server.Socket)
	for userinfo, ok := range map[string]bool{":meow@": true, "cat:purr@": true, "cat:hiss@": false} {
		for _, resp3 := range []bool{false, true} {
			r, err := remote.OpenRedis(context.Background(), "redis://"+userinfo+p.Addr().String(), resp3, remote.Options{})
			if ok != (err == nil) {
				t.Errorf("%s, RESP3 %v: %v", userinfo, resp3, err)
			}
			if err == nil {
				talk(t, r, [][2]string{{"PING", "PONG"}})
				r.Close()
			} else if strings.Contains(err.Error(), "hiss") {
				t.Errorf("the error shows the password: %v", err)
			}
		}
	}
}

func TestRedisURLs(t *testing.T) {
	for _, url := range []string{"http://x", "redis://x/17", "redis://x/abc", "://"} {
		if _, err := remote.OpenRedis(context.Background(), url, false, remote.Options{}); err == nil {
			t.Errorf("%s: no error", url)
		}
	}
}

func TestRedisLargePipeline(t *testing.T) {
	server := oracle.Start(t)
	server.Dial(t)
	r := openRedis(t, "unix://"+server.Socket, false)
	big := []byte(strings.Repeat("x", 1<<20))
	var calls [][][]byte
	for range 40 {
		calls = append(calls, [][]byte{[]byte("ECHO"), big})
	}
	replies, err := r.Pipeline(context.Background(), calls)
	if err != nil || len(replies) != 40 || replies[39].Kind != resp.Bulk || len(replies[39].Str) != len(big) {
		t.Errorf("%d replies, %v", len(replies), err)
	}
}

func TestListen(t *testing.T) {
	server := oracle.Start(t)
	client := server.Dial(t)
	r := openRedis(t, "unix://"+server.Socket+"?db=2", false)
	for _, resp3 := range []bool{false, true} {
		listener := openRedis(t, "unix://"+server.Socket, resp3)
		ctx, cancel := context.WithCancelCause(context.Background())
		var got []string
		err := listener.Listen(ctx, byteWords([]string{"SUBSCRIBE", "news"}), func(v resp.Value) error {
			got = append(got, string(resp.AppendTyped(nil, v, true)))
			if len(got) == 1 {
				client.Do([]byte("PUBLISH"), []byte("news"), []byte("hello"))
			} else {
				cancel(io.ErrClosedPipe)
			}
			return nil
		})
		if err != io.ErrClosedPipe || len(got) != 2 || !strings.HasSuffix(got[1], `"hello"`) {
			t.Errorf("got %q, %v", got, err)
		}
		talk(t, listener, [][2]string{{"PING", "PONG"}})
	}
	err := r.Listen(context.Background(), byteWords([]string{"SUBSCRIBE"}), func(v resp.Value) error {
		if !v.IsError() {
			t.Errorf("got %v", v)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	err = r.Listen(context.Background(), byteWords([]string{"MONITOR"}), func(v resp.Value) error { return io.ErrShortWrite })
	if err != io.ErrShortWrite {
		t.Error(err)
	}
	talk(t, r, [][2]string{{"PING", "PONG"}})
	if r.DB() != 2 || r.Connections() != 1 {
		t.Errorf("database %d, %d connections", r.DB(), r.Connections())
	}
}

// TestReset runs a command on a server that replied before and is killed, so that its system resets the connection.
func TestReset(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		in := resp.NewReader(conn)
		for range 2 {
			in.ReadCommand()
			conn.Write([]byte(":1\r\n"))
		}
		in.ReadCommand()
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}()
	r, err := remote.OpenRedis(context.Background(), "redis://"+ln.Addr().String(), false, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 3 {
		_, err = r.Do(context.Background(), []byte("INCR"), []byte("a"))
	}
	if !remote.Lost(err) || !strings.Contains(err.Error(), "the server closed the connection") {
		t.Error(err)
	}
}
