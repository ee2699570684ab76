package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Redis is a session on a server that speaks the Redis protocol. It reconnects if its connection was lost,
// unless a transaction or watched keys were lost with it. It is for one goroutine at a time.
type Redis struct {
	server  server
	resp3   bool
	replica bool // connections read from a replica of a cluster

	conn    net.Conn // nil while disconnected
	in      *bufio.Reader
	replies *resp.Reader
	used    time.Time
	made    int  // connections made so far
	heard   bool // a reply arrived over this connection
	onPush  func(resp.Value)

	authUntil time.Time // when the credentials of the connection expire; zero if that is unknown

	db       int
	multi    bool
	multiDB  int  // database after the queued SELECTs
	watching bool // keys are watched
}

var errClosed = errors.New("the server closed the connection")

// errClosedAtOnce is errClosed before any reply arrived, as with a server that expects TLS.
var errClosedAtOnce = fmt.Errorf("%w at once: does it want TLS? Then give rediss://", errClosed)

// errLost reports a connection that was lost together with its transaction.
var errLost = errors.New("the connection was lost, and the transaction with it")

// OpenRedis connects to the server at rawURL: redis://, rediss:// or unix://. With resp3, replies have RESP3
// types.
func OpenRedis(ctx context.Context, rawURL string, resp3 bool, o Options) (*Redis, error) {
	s, err := parseServer(rawURL, o)
	if err != nil {
		return nil, err
	}
	r := &Redis{server: s, resp3: resp3, db: s.db}
	return r, r.connect(ctx)
}

// DB returns the selected database.
func (r *Redis) DB() int { return r.db }

// InMulti reports whether commands are being queued.
func (r *Redis) InMulti() bool { return r.multi }

// Connections returns how many connections the session has made.
func (r *Redis) Connections() int { return r.made }

// Close closes the connection.
func (r *Redis) Close() error {
	if r.conn == nil {
		return nil
	}
	return r.drop()
}

func (r *Redis) attach(conn net.Conn) {
	r.conn, r.used, r.heard = conn, time.Now(), false
	r.in = bufio.NewReaderSize(conn, 64<<10)
	r.replies = resp.NewReader(r.in) // uses a reader of this size without wrapping it
}

func (r *Redis) drop() error {
	err := r.conn.Close()
	r.conn = nil
	return err
}

// Do runs one command.
func (r *Redis) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	replies, err := r.Pipeline(ctx, [][][]byte{args})
	if err != nil {
		return resp.Value{}, err
	}
	return replies[0], nil
}

// Pipeline runs commands in order and returns one reply for each. An error reply does not stop the commands
// after it.
func (r *Redis) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if !slices.ContainsFunc(calls, func(args [][]byte) bool { _, no := withheld(args); return no }) {
		return r.send(ctx, calls)
	}
	replies := make([]resp.Value, len(calls))
	var sent [][][]byte
	var at []int
	for i, args := range calls {
		if v, no := withheld(args); no {
			replies[i] = v
		} else {
			sent, at = append(sent, args), append(at, i)
		}
	}
	got, err := r.send(ctx, sent)
	if err != nil {
		return nil, err
	}
	for i, v := range got {
		replies[at[i]] = v
	}
	return replies, nil
}

// withheld returns the reply to a call that is not sent, and whether there is one.
func withheld(args [][]byte) (v resp.Value, no bool) {
	if len(args) == 0 {
		_, v = commands.Find(args)
		return v, true
	}
	return unavailable(args)
}

// PipelineUntilError runs commands in order, stops after the first reply that is or contains an error, and
// returns the replies up to that one. The protocol has no such mode, so every write waits for the reply before
// it.
func (r *Redis) PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	return UntilError(ctx, calls, r.Pipeline)
}

// send runs calls. If the connection was lost, it tries once more on a new connection, provided that repeating
// the calls is safe.
func (r *Redis) send(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	if r.conn != nil && (r.authExpired() || !r.alive()) {
		r.drop()
	}
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	before := *r
	replies, err := r.exchange(ctx, calls)
	if err == nil && r.server.options.Credentials != nil && !before.multi && !before.watching && wantsAuth(replies) {
		r.drop()
		if err := r.identify(ctx, r.password()); err != nil {
			return nil, err
		}
		if err := r.ready(ctx); err != nil {
			return nil, err
		}
		return r.exchange(ctx, calls)
	}
	if err == nil {
		return replies, nil
	}
	r.drop()
	if slices.ContainsFunc(calls, endsTransaction) {
		r.multi, r.watching = false, false // err reports the end, and the next command may run
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if before.multi || before.watching || !Repeatable(calls) || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	return r.exchange(ctx, calls)
}

func endsTransaction(args [][]byte) bool {
	name := commandName(args)
	return name == "EXEC" || name == "DISCARD"
}

// ready connects if it is not connected.
func (r *Redis) ready(ctx context.Context) error {
	if r.conn != nil {
		return nil
	}
	if r.multi || r.watching {
		r.multi, r.watching = false, false
		return errLost
	}
	return r.connect(ctx)
}

// alive reports whether an idle connection is still open. It does not wait, because a server sends nothing
// unprompted.
func (r *Redis) alive() bool {
	if time.Since(r.used) < time.Second {
		return true
	}
	r.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := r.in.Peek(1)
	r.conn.SetReadDeadline(time.Time{})
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// exchange writes calls and reads their replies at the same time, because a server may stop reading while its
// replies are not read.
func (r *Redis) exchange(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	conn := r.conn
	if mayBlock(calls) {
		conn.SetDeadline(time.Time{})
	} else {
		conn.SetDeadline(time.Now().Add(r.server.options.timeout()))
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	written := make(chan error, 1)
	go func() { written <- store.Caught(func() error { return resp.WriteCommands(conn, calls) }) }()
	replies := make([]resp.Value, 0, len(calls))
	for _, args := range calls {
		v, err := r.reply()
		if err != nil {
			// Unblock the writer; its result is not needed.
			conn.SetDeadline(time.Unix(1, 0))
			<-written
			return replies, fmt.Errorf("talking to %s: %w", r.server.address, explain(r.closed(err)))
		}
		r.heard = true
		r.track(args, v)
		replies = append(replies, v)
	}
	r.used = time.Now()
	return replies, <-written
}

// closed returns err, or an error that says that the server closed the connection.
func (r *Redis) closed(err error) error {
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	switch {
	case ended && !r.heard && r.server.tls == nil:
		return errClosedAtOnce
	case ended, r.heard && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)):
		return errClosed
	}
	return err
}

// reply reads the next reply. Push messages go to their receiver.
func (r *Redis) reply() (resp.Value, error) {
	for {
		v, err := r.replies.ReadReply()
		if err != nil || v.Kind != resp.Push {
			return v, err
		}
		if r.onPush != nil {
			r.onPush(v)
		}
	}
}

// OnPush sets the receiver of push messages, which are discarded without one. They are read with the next reply.
func (r *Redis) OnPush(receive func(resp.Value)) { r.onPush = receive }

// mayBlock reports whether one of calls may take unlimited time: a blocking command, or one missing from the
// table.
func mayBlock(calls [][][]byte) bool {
	for _, args := range calls {
		cmd, _ := commands.Find(args)
		if cmd == nil || cmd.Flags&commands.Blocking != 0 {
			return true
		}
	}
	return false
}

// track updates the session's state after a command.
func (r *Redis) track(args [][]byte, v resp.Value) {
	name := commandName(args)
	switch {
	case name == "EXEC" && r.multi:
		if v.Kind == resp.Array {
			r.db = r.multiDB
		}
		r.multi, r.watching = false, false
	case v.IsError():
	case name == "SELECT" && len(args) == 2:
		n, err := strconv.Atoi(string(args[1]))
		if err != nil {
			return
		}
		if r.multiDB = n; !r.multi {
			r.db = n
		}
	case name == "MULTI":
		r.multi, r.multiDB = true, r.db
	case name == "DISCARD":
		r.multi, r.watching = false, false
	case name == "WATCH":
		r.watching = true
	case name == "UNWATCH" && !r.multi:
		r.watching = false
	case name == "RESET":
		r.db, r.multi, r.watching, r.resp3 = 0, false, false, false
	case name == "AUTH" && !r.multi:
		r.server.auth = args[1:]
	case name == "HELLO" && len(args) > 1:
		r.hello(args)
	}
}

// hello records the changes of a HELLO for the next connection.
func (r *Redis) hello(args [][]byte) {
	r.resp3 = string(args[1]) == "3"
	for i := 2; i+2 < len(args); i++ {
		if strings.EqualFold(string(args[i]), "auth") {
			r.server.auth = args[i+1 : i+3]
		}
	}
}
