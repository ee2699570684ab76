package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server/rest"
	"github.com/meowdis/meowdis/store"
)

// ServeREST serves Upstash's REST protocol on ln until ctx is done, and closes ln. Running requests get the grace
// period to finish.
func (s *Server) ServeREST(ctx context.Context, ln net.Listener) error {
	return s.serveWeb(ctx, ln, s.compressed(s.REST()))
}

// serveWeb is like ServeREST, with another handler.
func (s *Server) serveWeb(ctx context.Context, ln net.Listener, handler http.Handler) error {
	web := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withConn,
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.Background(), servingKey{}, ctx)
		},
		ErrorLog: slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelWarn),
	}
	stopped := make(chan error, 1)
	defer context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Grace)
		defer cancel()
		err := web.Shutdown(last)
		if errors.Is(err, context.DeadlineExceeded) {
			s.config.Logger.Warn("cut off requests that ran beyond the grace period")
			err = nil
		}
		stopped <- errors.Join(err, web.Close())
	})()
	web.Protocols = new(http.Protocols)
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetHTTP2(true)
	web.Protocols.SetUnencryptedHTTP2(true)
	limited, run := limitedListener{ln, s.restConns, refuseREST}, web.Serve
	if over, ok := ln.(tlsListener); ok {
		web.TLSConfig = over.tls.forProtocols("h2", "http/1.1")
		limited.refuse = func(net.Conn) {}
		run = func(ln net.Listener) error { return web.ServeTLS(ln, "", "") }
	}
	if err := run(limited); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP: %w", err)
	}
	return <-stopped
}

// compressFrom is the smallest reply to compress, in bytes.
const compressFrom = 1024

// compressed wraps h to compress replies for clients that accept it, if Config.Gzip is set.
func (s *Server) compressed(h http.Handler) http.Handler {
	if !s.config.Gzip {
		return h
	}
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.CompressionLevel(gzip.BestSpeed),
		gzhttp.ContentTypes([]string{"application/json", "application/octet-stream"})) // not text/event-stream
	if err != nil {
		panic(err) // the options are wrong
	}
	return wrap(h)
}

// maxHeader limits the headers and path of a request, in bytes. They are read before the token is known.
const maxHeader = 16 << 10

// connKey finds the connection in a request's context.
type connKey struct{}

func withConn(ctx context.Context, nc net.Conn) context.Context {
	if conn, ok := nc.(*tls.Conn); ok {
		nc = conn.NetConn()
	}
	return context.WithValue(ctx, connKey{}, nc)
}

// refuseREST replies to a connection over the limit.
func refuseREST(nc net.Conn) {
	const body = `{"error":"` + fullText + `"}`
	nc.SetWriteDeadline(time.Now().Add(time.Second))
	fmt.Fprintf(nc, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
}

// REST returns the handler of Upstash's REST protocol.
func (s *Server) REST() http.Handler { return http.HandlerFunc(s.rest) }

// request holds a running REST request.
type request struct {
	principal
	http    *http.Request
	ctx     context.Context // context of its commands
	session *engine.Session
	held    *store.Budget // budget of the request itself
}

func (s *Server) rest(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		s.Health(w, r)
		return
	}
	if s.crossOrigin(w, r) {
		return
	}
	given := givenToken(r)
	if enter := s.config.Enter; enter != nil && given != "" {
		to, leave, bad := enter(r.Context(), acl.Default, given)
		switch {
		case bad.IsError():
			s.send(w, rest.Single(http.StatusServiceUnavailable, bad))
			return
		case to != nil:
			defer leave()
			s.requests.Add(1)
			to.serveREST(w, r, given, to.users.Default())
			return
		}
	}
	s.serveREST(w, r, given, s.userByToken(given))
}

// serveREST handles a request of a user. user is nil if the token belongs to no user.
func (s *Server) serveREST(w http.ResponseWriter, r *http.Request, given string, user *acl.User) {
	n := s.requests.Add(1)
	w.Header().Set("Upstash-Sync-Token", s.runID+strconv.FormatUint(n, 10))
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut:
	default:
		w.Header().Set("Allow", "GET, HEAD, POST, PUT")
		s.send(w, rest.Single(http.StatusMethodNotAllowed, resp.MakeError("ERR method not allowed")))
		return
	}
	q := &request{principal: principal{server: s, addr: r.RemoteAddr}, http: r, held: s.budget(0)}
	if user == nil {
		if given != "" {
			q.wrongToken(given)
		}
		s.send(w, rest.Single(http.StatusUnauthorized, resp.MakeError("WRONGPASS invalid or missing auth token")))
		return
	}
	if g, ok := r.Context().Value(connKey{}).(*limitedConn); ok {
		g.markAuthenticated()
	}
	q.user.Store(user)
	defer q.held.Rewind(0)
	if q.events(w) {
		return
	}
	q.session = s.config.Engine.SessionOn(func(ctx context.Context, cmd *commands.Command, args [][]byte) (resp.Value, bool) {
		return s.own(ctx, &q.principal, cmd, args)
	})
	q.session.SetGuard(q.guard)
	q.session.NeverWait()
	q.session.SetRESP2(true)
	q.session.SetWho(func() (addr, name string) { return q.addr, "" })
	q.session.Bound(s.budget(0))
	q.session.PackReplies()
	defer q.session.Release() // when all is sent
	ctx, leave := hangupContext(r.Context())
	defer leave()
	q.ctx = ctx
	if r.URL.Path == "/metrics" {
		q.metrics(w)
		return
	}
	s.send(w, q.call().Answer(w.Header().Set))
}

// metrics serves the metrics page to users who may run INFO.
func (q *request) metrics(w http.ResponseWriter) {
	if q.server.metrics == nil {
		q.server.send(w, rest.Single(http.StatusNotFound, resp.MakeError("ERR tenants have no metrics: use the server's own token")))
		return
	}
	if v, refused := q.guard(commands.Lookup("INFO"), [][]byte{[]byte("INFO")}, engine.Calling, nil); refused {
		q.server.send(w, rest.Single(http.StatusBadRequest, v))
		return
	}
	q.server.metrics.ServeHTTP(w, q.http)
}

// hangupContext returns a context that ends after ctx, but not before it is hangupCheckAfter old: net/http does not
// distinguish a client that has closed its sending side from one that has gone.
func hangupContext(ctx context.Context) (context.Context, func()) {
	until, leave := context.WithCancel(context.WithoutCancel(ctx))
	began := time.Now()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(hangupCheckAfter-time.Since(began), leave) })
	return until, func() {
		stop()
		leave()
	}
}

// wrongToken logs and delays the reply to a wrong token.
func (q *request) wrongToken(given string) {
	name, _, _ := acl.Unwrap(given)
	if q.server.users.Find(name) == nil {
		name = acl.Default
	}
	q.user.Store(q.server.users.Default())
	q.log(acl.ByPassword, contexts[engine.Calling], "REST", name)
	q.server.delayRefusal(q.http.Context().Done())
}

// givenToken returns the token of the Authorization header, or else of the query.
func givenToken(r *http.Request) string {
	if scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(credentials)
	}
	return r.URL.Query().Get("_token")
}

// call returns the request in the form of package rest.
func (q *request) call() *rest.Call {
	return &rest.Call{
		Method: q.http.Method, Path: q.http.URL.EscapedPath(), Query: q.http.URL.RawQuery,
		Header: q.http.Header.Get, Body: q.body,
		Context: q.ctx, Session: q.session, Failed: q.failed,
	}
}

// failed returns the reply for a failed store, or for a client that hung up.
func (q *request) failed(err error, commands int) resp.Value {
	if q.ctx.Err() != nil {
		return hungUp
	}
	q.server.logFailure(err, "over REST", commands)
	return q.server.failure(err)
}

// body reads the request's body up to the limit.
func (q *request) body() ([]byte, error) {
	limit := q.server.config.MaxRequest
	if actual := q.http.ContentLength; actual > limit {
		return nil, fmt.Errorf("ERR max request size exceeded. Limit: %d bytes, Actual: %d bytes", limit, actual)
	}
	body, err := io.ReadAll(budgetReader{http.MaxBytesReader(nil, q.http.Body, limit), q.held})
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, errNoMemory):
		return nil, errors.New(string(q.held.Refusal().Str))
	case errors.As(err, &tooLarge):
		return nil, fmt.Errorf("ERR max request size exceeded. Limit: %d bytes", limit)
	case err != nil:
		return nil, errors.New("ERR failed to read the request")
	}
	return body, nil
}

// budgetReader reads within a budget. Each byte counts twice, since parsing copies it.
type budgetReader struct {
	io.Reader
	budget *store.Budget
}

var errNoMemory = errors.New("not enough memory for the request")

func (c budgetReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if !c.budget.Take(2 * int64(n)) {
		return 0, errNoMemory
	}
	return n, err
}

// send writes the reply of a request. Each piece has its own write deadline.
func (s *Server) send(w http.ResponseWriter, a rest.Answer) {
	w.Header().Set("Content-Type", a.ContentType())
	begun := false
	write := s.deadlineWriter(w)
	last := a.Body(func(piece []byte) {
		if !begun {
			w.WriteHeader(a.Status)
			begun = true
		}
		write(piece)
	})
	if !begun {
		w.Header().Set("Content-Length", strconv.Itoa(len(last)))
		w.WriteHeader(a.Status)
	}
	write(last)
}

// deadlineWriter returns a func that writes to a client until a piece takes longer than the write timeout.
func (s *Server) deadlineWriter(w http.ResponseWriter) func([]byte) {
	wire := http.NewResponseController(w)
	var broken error
	return func(piece []byte) {
		for len(piece) > 0 && broken == nil {
			n := min(len(piece), writePiece)
			// Test recorders have no deadlines.
			_ = wire.SetWriteDeadline(time.Now().Add(s.config.WriteTimeout))
			_, broken = w.Write(piece[:n])
			piece = piece[n:]
		}
	}
}
