package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

	"github.com/meowdis/meowdis/acl"
	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// DatabaseHeader is ours: it selects the database of a request, 0 without it,
// and the response repeats it.
const DatabaseHeader = "Meowdis-Database"

// PipelineHeader is ours too: with UntilError a pipeline stops after its first
// error, and has no replies for what did not run. The response repeats it.
const (
	PipelineHeader = "Meowdis-Pipeline"
	UntilError     = "until-error"
)

// ServeREST serves Upstash's REST protocol on ln until ctx is done, and closes
// it. Requests that are running then are finished, if they take no longer than a
// grace.
func (s *Server) ServeREST(ctx context.Context, ln net.Listener) error {
	web := &http.Server{
		Handler:           s.compressed(s.REST()),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withGuest,
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
			s.config.Logger.Warn("requests that took too long were cut off at the end")
			err = nil
		}
		stopped <- errors.Join(err, web.Close())
	})()
	web.Protocols = new(http.Protocols)
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetHTTP2(true)
	web.Protocols.SetUnencryptedHTTP2(true)
	door, run := guarded{ln, s.overREST, refuseREST}, web.Serve
	if over, ok := ln.(secure); ok {
		web.TLSConfig = over.tls.forProtocols("h2", "http/1.1")
		door.refuse = func(net.Conn) {}
		run = func(ln net.Listener) error { return web.ServeTLS(ln, "", "") }
	}
	if err := run(door); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving REST: %w", err)
	}
	return <-stopped
}

// compressFrom is the length of a reply from which on it is compressed.
const compressFrom = 1024

// compressed compresses replies for clients that accept it, where that is configured.
func (s *Server) compressed(h http.Handler) http.Handler {
	if !s.config.Gzip {
		return h
	}
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.CompressionLevel(gzip.BestSpeed),
		gzhttp.ContentTypes([]string{"application/json", "application/octet-stream"})) // and no stream of events
	if err != nil {
		panic(err) // the options are wrong
	}
	return wrap(h)
}

// maxHeader is what a request may have before its body, its path with it: it is read
// before the token is known.
const maxHeader = 16 << 10

// guestKey is that of the connection in a request's context.
type guestKey struct{}

func withGuest(ctx context.Context, nc net.Conn) context.Context {
	if conn, ok := nc.(*tls.Conn); ok {
		nc = conn.NetConn()
	}
	return context.WithValue(ctx, guestKey{}, nc)
}

// refuseREST answers a connection that is not let in.
func refuseREST(nc net.Conn) {
	const body = `{"error":"` + fullText + `"}`
	nc.SetWriteDeadline(time.Now().Add(time.Second))
	fmt.Fprintf(nc, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
}

// REST is the handler of Upstash's REST protocol.
func (s *Server) REST() http.Handler { return http.HandlerFunc(s.rest) }

// request is one REST request on its way.
type request struct {
	person
	http    *http.Request
	ctx     context.Context // of its commands
	session *engine.Session
	form    form
	held    *store.Budget // of what the request itself takes

	untilError bool // stop after the first error
}

func (s *Server) rest(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		s.Health(w, r)
		return
	}
	if s.crossOrigin(w, r) {
		return
	}
	n := s.requests.Add(1)
	w.Header().Set("Upstash-Sync-Token", s.runID+strconv.FormatUint(n, 10))
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut:
	default:
		w.Header().Set("Allow", "GET, HEAD, POST, PUT")
		s.send(w, form{}, one(http.StatusMethodNotAllowed, resp.MakeError("ERR method not allowed")))
		return
	}
	q := &request{person: person{server: s, addr: r.RemoteAddr}, http: r, held: s.budget(0)}
	given := givenToken(r)
	user := s.holder(given)
	if user == nil {
		if given != "" {
			q.wrongToken(given)
		}
		s.send(w, form{}, one(http.StatusUnauthorized, resp.MakeError("WRONGPASS invalid or missing auth token")))
		return
	}
	if g, ok := r.Context().Value(guestKey{}).(*guest); ok {
		g.known()
	}
	q.user.Store(user)
	defer q.held.Back(0)
	if q.events(w) {
		return
	}
	q.session = s.config.Engine.SessionOn(func(ctx context.Context, cmd *commands.Command, args [][]byte) (resp.Value, bool) {
		return s.own(ctx, &q.person, cmd, args)
	})
	q.session.SetGuard(q.guard)
	q.session.NeverWait()
	q.session.SetWho(func() (addr, name string) { return q.addr, "" })
	q.session.Bound(s.budget(0))
	defer q.session.Release() // when all is sent
	ctx, leave := untilGone(r.Context())
	defer leave()
	q.ctx = ctx
	if r.URL.Path == "/metrics" {
		q.metrics(w)
		return
	}
	a := q.answer(w.Header())
	s.send(w, q.form, a)
}

// metrics shows them to who may run INFO.
func (q *request) metrics(w http.ResponseWriter) {
	if v, refused := q.guard(commands.Lookup("INFO"), [][]byte{[]byte("INFO")}, engine.Calling); refused {
		q.server.send(w, form{}, one(http.StatusBadRequest, v))
		return
	}
	q.server.metrics.ServeHTTP(w, q.http)
}

// untilGone is a context that ends after ctx, once it has been there for longEnough: net/http takes
// a client that has only closed its own side for one that is gone.
func untilGone(ctx context.Context) (context.Context, func()) {
	until, leave := context.WithCancel(context.WithoutCancel(ctx))
	began := time.Now()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(longEnough-time.Since(began), leave) })
	return until, func() {
		stop()
		leave()
	}
}

// wrongToken is before the answer to a wrong token.
func (q *request) wrongToken(given string) {
	name, _, _ := acl.Unwrap(given)
	if q.server.users.Find(name) == nil {
		name = acl.Default
	}
	q.user.Store(q.server.users.Default())
	q.log(acl.ByPassword, contexts[engine.Calling], "REST", name)
	q.server.waitWrong(q.http.Context().Done())
}

// givenToken is the token of the header, or else of the query.
func givenToken(r *http.Request) string {
	if scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(credentials)
	}
	return r.URL.Query().Get("_token")
}

// answer carries the request out.
func (q *request) answer(header http.Header) answer {
	var err error
	if q.form, err = formOf(q.http.Header); err != nil {
		return q.bad(err)
	}
	if name := q.http.Header.Get(DatabaseHeader); name != "" {
		db, bad := commands.DBIndex([]byte(name))
		if bad.IsError() {
			return q.bad(errors.New(string(bad.Str)))
		}
		q.session.Select(db)
	}
	header.Set(DatabaseHeader, strconv.Itoa(q.session.DB()))
	if q.untilError = q.http.Header.Get(PipelineHeader) == UntilError; q.untilError {
		header.Set(PipelineHeader, UntilError)
	}
	body, err := q.body()
	if err != nil {
		return q.bad(err)
	}
	switch path := strings.Trim(q.http.URL.Path, "/"); {
	case path == "pipeline":
		return q.pipeline(body)
	case path == "multi-exec":
		return q.transaction(body)
	case path == "" && (q.http.Method == http.MethodPost || q.http.Method == http.MethodPut):
		args, err := parseCommand(body)
		if err != nil {
			return q.bad(err)
		}
		return q.command(args)
	}
	args, err := pathCommand(q.http.URL, body)
	if err != nil {
		return q.bad(errNotCommand)
	}
	return q.command(args)
}

func (q *request) bad(err error) answer {
	return one(http.StatusBadRequest, resp.MakeError(err.Error()))
}

// command runs a single one.
func (q *request) command(args [][]byte) answer {
	if len(args) == 0 {
		return q.bad(errors.New("ERR empty command"))
	}
	replies, err := q.run([][][]byte{args})
	switch {
	case err != nil:
		return one(http.StatusInternalServerError, q.failure(err))
	case replies[0].IsError():
		return one(http.StatusBadRequest, replies[0])
	}
	return one(http.StatusOK, replies[0])
}

// run runs commands one after the other; those that REST does not allow are
// answered without being run.
func (q *request) run(calls [][][]byte) ([]resp.Value, error) {
	if q.untilError {
		return q.runUntilError(calls)
	}
	replies := make([]resp.Value, len(calls))
	var places []int // of the replies of allowed
	var allowed [][][]byte
	for i, args := range calls {
		if v, no := refused(args); no {
			replies[i] = v
		} else {
			places, allowed = append(places, i), append(allowed, args)
		}
	}
	answers, err := q.session.Pipeline(q.ctx, allowed)
	if err != nil {
		return nil, q.failed(err, len(calls))
	}
	for i, place := range places {
		replies[place] = answers[i]
	}
	return replies, nil
}

// runUntilError is run for a request that stops after its first error.
func (q *request) runUntilError(calls [][][]byte) ([]resp.Value, error) {
	for i, args := range calls {
		v, no := refused(args)
		if !no {
			continue
		}
		replies, err := q.session.PipelineUntilError(q.ctx, calls[:i])
		if err != nil {
			return nil, q.failed(err, i)
		}
		if i == 0 || len(replies) == i && !replies[i-1].HasError() {
			replies = append(replies, v)
		}
		return replies, nil
	}
	replies, err := q.session.PipelineUntilError(q.ctx, calls)
	if err != nil {
		return nil, q.failed(err, len(calls))
	}
	return replies, nil
}

// failure is the reply when the store failed, or gave up since the client hung up.
func (q *request) failure(err error) resp.Value {
	if q.ctx.Err() != nil {
		return hungUp
	}
	return q.server.failure(err)
}

func (q *request) failed(err error, commands int) error {
	if q.ctx.Err() == nil { // whose end is that of its client
		q.server.complain(err, "over REST", commands)
	}
	return err
}

// refused is the reply to a command that is not run, if args are one.
func refused(args [][]byte) (v resp.Value, no bool) {
	switch {
	case len(args) == 0:
		return resp.MakeError("ERR empty pipeline command"), true
	case !allowedInREST(args):
		return notInREST(args[0]), true
	}
	return resp.Value{}, false
}

// allowedInREST reports whether a request may be the command: it has no connection
// to act on, or to wait at. XREAD and others that may block wait no time, as inside MULTI.
func allowedInREST(args [][]byte) bool { return !commands.Known(args).Has(commands.NeedsConnection) }

func notInREST(name []byte) resp.Value {
	return resp.MakeError(`ERR Command "` + strings.ToUpper(string(name)) + `" is not allowed in REST or it has a special context path`)
}

// pipeline is POST /pipeline.
func (q *request) pipeline(body []byte) answer {
	calls, err := parsePipeline(body)
	if err != nil {
		return q.bad(err)
	}
	replies, err := q.run(calls)
	if err != nil {
		return one(http.StatusInternalServerError, q.failure(err))
	}
	return answer{http.StatusOK, replies, true}
}

// transaction is POST /multi-exec: an error of a command's form refuses all, one
// of its execution is its own. The reply is always JSON.
func (q *request) transaction(body []byte) answer {
	q.form.resp2 = false
	calls, err := parsePipeline(body)
	if err != nil {
		return q.bad(err)
	}
	for _, args := range calls {
		switch {
		case len(args) == 0:
			return q.bad(errors.New("ERR empty pipeline command"))
		case !allowedInREST(args):
			return one(http.StatusBadRequest, notInREST(args[0]))
		}
		cmd, bad := commands.Find(args)
		if cmd == nil {
			return one(http.StatusBadRequest, bad)
		}
		if v, refused := q.session.Refused(cmd, args, engine.Queueing); refused {
			return one(http.StatusBadRequest, v)
		}
	}
	calls = append(append([][][]byte{{[]byte("MULTI")}}, calls...), [][]byte{[]byte("EXEC")})
	replies, err := q.session.Pipeline(q.ctx, calls)
	if err != nil {
		q.failed(err, len(calls))
		return one(http.StatusInternalServerError, q.failure(err))
	}
	executed := replies[len(replies)-1]
	if executed.IsError() {
		return one(http.StatusBadRequest, executed)
	}
	return answer{http.StatusOK, executed.Elems, true}
}
