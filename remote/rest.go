package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// REST is a session on an Upstash REST endpoint. It detects how much of the protocol the endpoint supports. It
// is for one goroutine at a time.
type REST struct {
	features
	queueState

	base        *url.URL
	token       string
	credentials CredentialsFunc // nil for a fixed token
	client      *http.Client

	db   int
	sync string // sync token of the last response

	waitBefore func(attempt int) time.Duration
}

// features are known of the endpoint.
type features struct {
	speaks    replyFormat
	base64    bool // the endpoint is known to encode strings on request
	ours      bool // the endpoint is a meowdis, by its headers
	probed    bool // base64 and multiExec are known
	multiExec bool // has /multi-exec
	stops     bool // can stop a pipeline at its first error
}

// queueState holds the state of MULTI.
type queueState struct {
	queue   []queued
	multi   bool
	dirty   bool // a command could not be queued, so EXEC aborts
	noMulti bool // MULTI was refused, so every command up to EXEC or DISCARD is
}

// replyFormat names the reply format that an endpoint is known to use.
type replyFormat byte

const (
	unknownFormat replyFormat = iota
	speaksRaw                 // RESP2, the only lossless format
	speaksJSON
)

// OpenREST returns a session on the endpoint at rawURL, http:// or https://. It sends nothing.
func OpenREST(rawURL, token string, o Options) (*REST, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("the URL cannot be read")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s://%s is not the URL of a REST endpoint", u.Scheme, u.Host)
	}
	client, err := o.client(u.Hostname())
	if err != nil {
		return nil, err
	}
	return &REST{base: u, token: token, credentials: o.Credentials, waitBefore: backoff, client: client}, nil
}

// DB returns the selected database.
func (r *REST) DB() int { return r.db }

// InMulti reports whether commands are being queued.
func (r *REST) InMulti() bool { return r.multi }

// Close closes idle connections.
func (r *REST) Close() error {
	r.client.CloseIdleConnections()
	return nil
}

// Do runs one command.
func (r *REST) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	replies, err := r.Pipeline(ctx, [][][]byte{args})
	if err != nil {
		return resp.Value{}, err
	}
	return replies[0], nil
}

// Pipeline runs commands in order and returns one reply for each. An error reply does not stop the commands
// after it.
func (r *REST) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	replies := make([]resp.Value, 0, len(calls))
	for len(calls) > 0 {
		n := r.remoteCalls(calls)
		var got []resp.Value
		var err error
		if n > 0 {
			got, err = r.send(ctx, calls[:n], false)
		} else {
			n, got = 1, make([]resp.Value, 1)
			got[0], err = r.runLocal(ctx, calls[0])
		}
		if err != nil {
			return nil, err
		}
		replies, calls = append(replies, got...), calls[n:]
	}
	return replies, nil
}

// PipelineUntilError runs commands in order, stops after the first reply that is or contains an error, and
// returns the replies up to that one.
//
// Most endpoints cannot stop at an error, so every write waits for the reply before it. An endpoint that sends
// the header Meowdis-Pipeline can.
func (r *REST) PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	var replies []resp.Value
	for len(calls) > 0 {
		var got []resp.Value
		var err error
		switch n := r.remoteCalls(calls); {
		case n == 0:
			got = make([]resp.Value, 1)
			got[0], err = r.runLocal(ctx, calls[0])
		case r.stops:
			got, err = r.send(ctx, calls[:n], true)
		default:
			// The first response shows whether the endpoint can stop at an error.
			got, err = UntilError(ctx, calls[:min(n, 64)], func(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
				return r.send(ctx, calls, true)
			})
		}
		if err != nil {
			return replies, err
		}
		replies, calls = append(replies, got...), calls[len(got):]
		if len(got) > 0 && got[len(got)-1].HasError() {
			break
		}
	}
	return replies, nil
}

// remoteCalls returns how many leading calls the endpoint itself runs.
func (r *REST) remoteCalls(calls [][][]byte) int {
	for i, args := range calls {
		if r.multi || len(args) == 0 || isLocal(args) {
			return i
		}
	}
	return len(calls)
}

func isLocal(args [][]byte) bool {
	switch commandName(args) {
	case "SELECT", "MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH":
		return true
	}
	return false
}

// runLocal runs a command that needs a session, which the protocol lacks.
func (r *REST) runLocal(ctx context.Context, args [][]byte) (resp.Value, error) {
	if _, bad := commands.Find(args); bad.IsError() {
		r.dirty = r.dirty || r.multi
		return bad, nil
	}
	name := commandName(args)
	switch {
	case name == "MULTI":
		return r.startMulti(ctx)
	case name == "EXEC":
		return r.exec(ctx)
	case name == "DISCARD":
		return r.discard(), nil
	case name == "WATCH" && r.multi:
		return resp.MakeError("ERR WATCH inside MULTI is not allowed"), nil
	case name == "WATCH":
		return resp.MakeError("ERR WATCH needs a connection of its own, and a REST endpoint has none"), nil
	case r.multi:
		return r.enqueue(args), nil
	case name == "UNWATCH":
		return resp.OK, nil
	}
	return r.selectDB(ctx, args[1])
}

// selectDB asks the endpoint whether it has database n. Only an endpoint that sends the header
// Meowdis-Database has more than one.
func (r *REST) selectDB(ctx context.Context, arg []byte) (resp.Value, error) {
	n, bad := commands.AnyDB(arg)
	if bad.IsError() {
		return bad, nil
	}
	before := r.db
	r.db = n
	if n == 0 || n == before {
		return resp.OK, nil
	}
	_, err := r.one(ctx, [][]byte{[]byte("PING")}, false)
	if err == nil {
		return resp.OK, nil
	}
	r.db = before
	switch {
	case errors.Is(err, errNoDatabase), errors.Is(err, errOneDatabase) && n >= commands.Databases:
		return resp.MakeError(errDBIndex), nil
	case errors.Is(err, errOneDatabase):
		return resp.MakeError("ERR this endpoint has one database"), nil
	}
	return resp.Value{}, err
}
