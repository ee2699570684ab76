package tenants_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/capture"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/server/tenants"
)

// house is a server with tenants under test on free local ports.
type house struct {
	*tenants.Manager
	t     *testing.T
	dir   string
	book  *tenants.Registry // opened like in another process
	resp  string
	rest  string
	clock atomic.Int64
	token map[string]string // tokens by tenant name
	log   capture.Buffer
	stop  func() // stops the server, and waits for its end
}

// goroutineEach makes servers serve each connection with a goroutine, as on systems without a loop.
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

const (
	adminToken = "the token of the administrator"
	adminPass  = "the password of the administrator"
)

// open serves the named tenants with at most most open files until the test ends.
func open(t *testing.T, most int, names ...string) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir() + "/all", token: map[string]string{}}
	h.clock.Store(1_700_000_000_000)
	var err error
	if h.book, err = tenants.OpenRegistry(h.dir, true, local.Options{SingleConn: true, SweepEvery: -1}); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		h.add(name, tenants.Limits{})
	}
	now := func(<-chan struct{}, time.Duration) {}
	h.Manager, err = tenants.Open(h.dir, tenants.Config{
		Server: server.Config{Sleep: now, Logger: slog.New(slog.NewTextHandler(&h.log, nil)), MaxRequestMemory: 64 << 20, MaxMemory: 64 << 20}, Open: most, Now: h.clock.Load,
	})
	if err != nil {
		t.Fatal(err)
	}
	front := server.New(server.Config{
		Engine: h.Engine(), Enter: h.Enter, Tenants: h.Figures, Writable: h.RegistryStore().Moved,
		Token: adminToken, RequirePass: adminPass, Sleep: now,
	})
	h.Serve(front)
	overRESP, overREST := listen(t), listen(t)
	h.resp, h.rest = overRESP.Addr().String(), "http://"+overREST.Addr().String()
	if goroutineEach {
		overRESP = secured{overRESP}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ends := make(chan error, 2)
	go func() { ends <- front.ServeRESP(ctx, overRESP) }()
	go func() { ends <- front.ServeREST(ctx, overREST) }()
	stopped := false
	h.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		for range 2 {
			if err := <-ends; err != nil {
				t.Error(err)
			}
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if err := h.book.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { h.stop() })
	return h
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func (h *house) add(name string, l tenants.Limits) {
	h.t.Helper()
	token, err := h.book.Add(h.t.Context(), name, l)
	if err != nil {
		h.t.Fatal(err)
	}
	h.token[name] = token
}

// path returns the file of a tenant.
func (h *house) path(name string) string {
	h.t.Helper()
	all, err := h.book.List(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, t := range all {
		if t.Name == name {
			return h.book.Path(t)
		}
	}
	h.t.Fatalf("there is no %s", name)
	return ""
}

// eventually polls until is returns true.
func (h *house) eventually(what string, is func() bool) {
	h.t.Helper()
	for late := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			h.t.Fatalf("it is not so that %s", what)
		}
	}
}

// peer is a RESP client.
type peer struct {
	net.Conn
	t *testing.T
	r *resp.Reader
}

// stranger returns an unauthenticated client.
func (h *house) stranger() *peer {
	h.t.Helper()
	c, err := net.Dial("tcp", h.resp)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	return &peer{c, h.t, resp.NewReader(c)}
}

// of returns a client of a tenant.
func (h *house) of(name string) *peer {
	h.t.Helper()
	p := h.stranger()
	p.want("OK", "AUTH", h.token[name])
	return p
}

func (p *peer) send(args ...string) {
	p.t.Helper()
	words := make([][]byte, len(args))
	for i, arg := range args {
		words[i] = []byte(arg)
	}
	if _, err := p.Write(resp.AppendCommand(nil, words...)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) reply() string {
	p.t.Helper()
	p.SetReadDeadline(time.Now().Add(time.Minute))
	v, err := p.r.ReadReply()
	if err != nil {
		p.t.Fatal(err)
	}
	return show(v)
}

func show(v resp.Value) string { return string(resp.AppendTyped(nil, v, false)) }

func (p *peer) do(args ...string) string {
	p.t.Helper()
	p.send(args...)
	return p.reply()
}

// want fails the test unless the reply is that.
func (p *peer) want(reply string, args ...string) {
	p.t.Helper()
	if got := p.do(args...); got != reply {
		p.t.Errorf("%v\ngot:  %s\nwant: %s", args, got, reply)
	}
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

// get sends a REST request.
func (h *house) get(token, path string) (status int, body string) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.rest+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(text))
}

func (h *house) wantREST(status int, body, token, path string) {
	h.t.Helper()
	if gotStatus, got := h.get(token, path); gotStatus != status || !strings.HasPrefix(got, body) {
		h.t.Errorf("%s\ngot:  %d %s\nwant: %d %s", path, gotStatus, got, status, body)
	}
}

// TestOneServer refuses a second server for a directory until the first has stopped.
func TestOneServer(t *testing.T) {
	h := open(t, 1, "tom")
	if second, err := tenants.Open(h.dir, tenants.Config{}); err == nil || !strings.Contains(err.Error(), "another server is serving the tenants of "+h.dir) {
		t.Errorf("a second server: %v, %v", second, err)
	}
	h.stop()
	next, err := tenants.Open(h.dir, tenants.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}
