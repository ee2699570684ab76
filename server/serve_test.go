package server_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

const token = "a token"

// served is a server under test on free local ports.
type served struct {
	server     *server.Server
	resp, rest string       // addresses
	store      *local.Store // nil if the test provides the engine
	clock      atomic.Int64
	stop       func() // like a signal; the test waits for the end itself
	done       chan struct{}
}

// goroutineEach makes new servers serve each connection with a goroutine, as on systems without a loop.
var goroutineEach bool

// secured is a listener whose connections are not plain sockets to the server, like TLS connections.
type secured struct{ net.Listener }

func (l secured) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return struct{ *net.TCPConn }{c.(*net.TCPConn)}, nil
}

// serve serves a store in memory until the test ends.
func serve(t *testing.T, c server.Config) *served {
	t.Helper()
	return serveFile(t, local.Memory, c)
}

// serveFile serves the file at path, unless the configuration has an engine.
func serveFile(t *testing.T, path string, c server.Config) *served {
	t.Helper()
	s := &served{done: make(chan struct{})}
	s.clock.Store(1_700_000_000_000)
	if c.Engine == nil {
		st, err := local.Open(path, local.Options{Now: s.clock.Load, SweepEvery: -1, RowCacheBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		storetest.CheckAtEnd(t, st)
		s.store = st
		seed := uint64(0)
		c.Engine = engine.New(st, storetest.Unhurried(), engine.WithClock(s.clock.Load), engine.WithSeed(func() uint64 { return atomic.AddUint64(&seed, 1) }))
	}
	if c.Token == "" {
		c.Token = token
	}
	if c.Sleep == nil {
		c.Sleep = func(<-chan struct{}, time.Duration) {}
	}
	overRESP, overREST := listen(t), listen(t)
	s.resp, s.rest = overRESP.Addr().String(), "http://"+overREST.Addr().String()
	if goroutineEach {
		overRESP = secured{overRESP}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	srv := server.New(c)
	s.server = srv
	ends := make(chan error, 2)
	go func() { ends <- srv.ServeRESP(ctx, overRESP) }()
	go func() { ends <- srv.ServeREST(ctx, overREST) }()
	go func() {
		defer close(s.done)
		for range 2 {
			if err := <-ends; err != nil {
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-s.done
	})
	return s
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// peer is a RESP client of a test.
type peer struct {
	net.Conn
	t *testing.T
	r *resp.Reader
}

func (s *served) dial(t *testing.T) *peer {
	t.Helper()
	return dial(t, "tcp", s.resp)
}

func dial(t *testing.T, network, addr string) *peer {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &peer{c, t, resp.NewReader(c)}
}

func (p *peer) send(raw string) {
	p.t.Helper()
	if _, err := p.Write([]byte(raw)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) reply() resp.Value {
	p.t.Helper()
	p.SetReadDeadline(time.Now().Add(time.Minute))
	v, err := p.r.ReadReply()
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p *peer) do(args ...string) resp.Value {
	p.t.Helper()
	p.send(string(resp.AppendCommand(nil, words(args...)...)))
	return p.reply()
}

// wantClosed fails the test unless the server closes the connection.
func (p *peer) wantClosed() {
	p.t.Helper()
	p.SetReadDeadline(time.Now().Add(time.Minute))
	if v, err := p.r.ReadReply(); err == nil {
		p.t.Fatalf("the connection is open, and got %s", show(v))
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		p.t.Fatal("the connection is still open")
	}
}

func words(args ...string) [][]byte {
	out := make([][]byte, len(args))
	for i, arg := range args {
		out[i] = []byte(arg)
	}
	return out
}

func show(v resp.Value) string { return string(resp.AppendTyped(nil, v, false)) }
