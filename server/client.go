package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// A pipeline that is run as one holds at most as many commands and, but for its
// last command, bytes. Its replies are sent in pieces: a client that does not read them
// makes the server hold one piece.
const (
	maxPipeline      = 1024
	maxPipelineBytes = 1 << 20
	replyPiece       = 1 << 20
	// What is written at a time, in the time that a client has to take it.
	writePiece = 256 << 10
)

// client is one RESP connection. All but mu, what it guards, and box belongs to the
// goroutine that carries out its commands: the connection's own, or whoever has it from the loop.
type client struct {
	person
	net     net.Conn
	id      int64
	since   time.Time
	in      *resp.Reader // nil until reader is called
	ahead   []byte       // was read, and comes before what in reads
	session *engine.Session
	calls   [][][]byte // the pipeline, reused
	out     []byte     // of its replies, reused
	box     *outbox
	inbox   inbox
	posting bool         // what is written is left to the outbox
	sink    func([]byte) // write
	broken  error        // of writing

	life   context.Context // ends when the server stops
	watch  *hangupWatch    // nil until it is needed
	left   bool            // while its session waited
	looped looped
	visit  visit

	resp3     bool
	authed    bool
	quiet     quiet
	wantsDump bool // REPLCONF rdb-only: nothing after the dump
	closed    bool // no command is read any more

	listens    bool // messages may come, or have come once
	subscribed int  // how many subscriptions it has
	monitors   bool

	class  atomic.Int32 // of client-output-buffer-limit
	hears  atomic.Bool  // subscribed is not 0
	tracks tracked
	inside bool // a reply is sent in pieces, and one of them is

	mu    sync.Mutex
	about about
}

// quiet says which replies are not sent.
type quiet byte

const (
	loud     quiet = iota
	skipNext       // CLIENT REPLY SKIP
	skipping       // the command after it runs
	silent         // CLIENT REPLY OFF
)

// about is what CLIENT LIST shows of a client to others.
type about struct {
	name, libName, libVersion string
	active                    time.Time
	db                        int
	queued                    int   // by MULTI, -1 outside
	watched                   int   // keys
	queuedBytes               int64 // of them
	ahead                     int   // bytes that have come after the last command
	noEvict, noTouch          bool
	command                   []byte // its name, as it was sent
	resp3                     bool
}

func newClient(s *Server, nc net.Conn) *client {
	c := &client{
		person: person{server: s}, net: nc, id: s.lastID.Add(1), since: time.Now(),
		authed: s.users.Open(),
	}
	c.client = c
	c.box, c.sink = newOutbox(c), c.writePiece
	c.inbox.client = c
	c.begin()
	c.about = about{active: c.since, queued: -1}
	return c
}

// begin gives the client a session on its server.
func (c *client) begin() {
	s := c.server
	c.user.Store(s.users.Default())
	c.session = s.config.Engine.SessionOn(c.own)
	c.session.SetClient(c.id)
	c.session.SetGuard(c.guard)
	c.session.SetWaiting(c.waiting)
	c.session.SetWho(c.who)
	c.session.Bound(s.budget(replyPiece))
}

// loop reads, runs and answers until the client leaves or ctx is done. What
// runs when ctx ends, ends well.
func (c *client) loop(ctx context.Context) {
	c.life = ctx
	for c.turn(ctx, c.read()) {
	}
}

// turn runs the pipeline that was read, up to err, and answers it. It reports whether the
// connection goes on.
func (c *client) turn(ctx context.Context, err error) (on bool) {
	defer c.server.contain(func() { on = false })
	c.run(context.WithoutCancel(ctx))
	var violation resp.ProtocolError
	if errors.As(err, &violation) {
		if errors.Is(err, resp.ErrTooBig) {
			c.server.counts.longQueries.Add(1)
		}
		c.out = resp.Append2(c.out, resp.MakeError("ERR "+violation.Error()))
	}
	c.write(c.out)
	c.out = c.out[:0]
	if violation != "" && c.broken == nil {
		c.linger()
	}
	return err == nil && c.goesOn(ctx)
}

func (c *client) goesOn(ctx context.Context) bool {
	return c.broken == nil && !c.closed && ctx.Err() == nil
}

// write sends b. A client that takes nothing for too long is given up.
func (c *client) write(b []byte) {
	switch {
	case len(b) == 0 || c.broken != nil:
	case c.posting:
		c.box.reply(b)
	default:
		c.broken = c.box.write(b)
	}
}

// writePiece sends a piece of a reply, which messages must not come between.
func (c *client) writePiece(b []byte) {
	if !c.inside {
		c.inside = true
		c.inbox.hold()
	}
	c.write(b)
}

// whole is after replies of which a piece was sent.
func (c *client) whole() {
	if !c.inside {
		return
	}
	c.write(c.out)
	c.out, c.inside = c.out[:0], false
	if !c.listens {
		c.inbox.release()
	}
}

// timeWrite sets until when the client must take the next piece.
func (c *client) timeWrite() {
	c.net.SetWriteDeadline(time.Now().Add(c.server.config.WriteTimeout))
	select {
	case <-c.life.Done(): // which gives it less time
		c.net.SetWriteDeadline(time.Now().Add(c.server.config.Grace))
	default:
	}
}

// linger takes what the peer of a broken conversation is still sending: closing
// a connection with unread bytes would reset it, and lose the error on its way.
func (c *client) linger() {
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.net.SetReadDeadline(time.Now().Add(time.Second))
	io.CopyN(io.Discard, c.net, maxPipelineBytes)
}

// read collects a pipeline: the next command, and what has arrived after it. A
// command that may change how replies are sent ends it.
func (c *client) read() error {
	clear(c.calls)
	c.calls = c.calls[:0]
	in := c.reader()
	in.Unauthenticated(!c.known())
	in.Limit(c.server.live.maxBulk.Load(), c.server.live.maxQuery.Load())
	args, err := in.ReadCommand()
	if err != nil {
		return err
	}
	size := 0
	for args != nil {
		c.calls = append(c.calls, args)
		for _, arg := range args {
			size += len(arg)
		}
		if len(c.calls) >= maxPipeline || size >= maxPipelineBytes || isOwn(args[0]) {
			return nil
		}
		args = in.Next()
	}
	return nil
}

// reader reads what comes from the client.
func (c *client) reader() *resp.Reader {
	if c.in != nil {
		return c.in
	}
	from := io.Reader(c.net)
	if len(c.ahead) > 0 {
		from = io.MultiReader(bytes.NewReader(c.ahead), c.net)
		c.ahead = nil
	}
	if c.known() {
		c.in = resp.NewReader(from)
	} else {
		c.in = resp.NewUnauthenticatedReader(from)
	}
	return c.in
}

// ownNames are the commands after which replies may be sent in another way, and
// the signs of an HTTP client.
var ownNames = [][]byte{
	[]byte("AUTH"), []byte("CLIENT"), []byte("HELLO"), []byte("QUIT"), []byte("RESET"), []byte("POST"), []byte("HOST:"),
	[]byte("PSYNC"), []byte("SYNC"),
}

var replConf = []byte("REPLCONF")

func isOwn(name []byte) bool {
	if len(name) < 4 || len(name) > 6 {
		return listens(name) || bytes.EqualFold(name, replConf)
	}
	return slices.ContainsFunc(ownNames, func(own []byte) bool { return bytes.EqualFold(name, own) })
}

// run carries the pipeline out, and sends replies or leaves them in c.out.
func (c *client) run(ctx context.Context) {
	calls := c.calls
	last := len(calls) - 1
	switch {
	case last < 0:
		return
	case c.listens || begins(calls[last]):
		c.listens = true
		c.runOneByOne(ctx, calls)
	case !isOwn(calls[last][0]):
		c.pipeline(ctx, calls)
	case isHTTP(calls[last][0]):
		// A web page that makes a browser talk to a port on its machine
		// must not reach the commands in its body.
		c.server.config.Logger.Warn("possible cross-protocol attack: closed a connection that speaks HTTP", "peer", c.net.RemoteAddr())
		c.closed = true
	default:
		if last > 0 {
			c.pipeline(ctx, calls[:last])
		}
		c.pipeline(ctx, calls[last:])
	}
	c.move()
	c.note(calls[last])
}

func isHTTP(name []byte) bool {
	return strings.EqualFold(string(name), "POST") || strings.EqualFold(string(name), "HOST:")
}

func (c *client) pipeline(ctx context.Context, calls [][][]byte) {
	if c.quiet == skipNext {
		c.quiet = skipping
	}
	c.answer(ctx, calls)
}

// send takes the next replies of a pipeline.
func (c *client) send(replies ...resp.Value) error {
	if c.listens {
		c.inbox.hold() // what comes now comes after the reply
		c.land()
	}
	switch c.quiet {
	case skipping:
		c.quiet = loud
		if !isPushed(replies[0]) {
			replies = replies[1:]
		}
	case skipNext, silent:
		if !isPushed(replies[0]) {
			return nil
		}
	}
	for _, v := range replies {
		c.out = resp.Stream(c.out, v, c.resp3, c.sink)
	}
	c.whole()
	if len(c.out) >= resp.Piece {
		c.write(c.out)
		c.out = c.out[:0]
	}
	return c.broken
}

var (
	noAuth     = resp.MakeError("NOAUTH Authentication required.")
	noAuthExec = resp.MakeError("EXECABORT Transaction discarded because of: NOAUTH Authentication required.")
)

// known reports whether the client may run commands: it has given a password, or came
// when the default user needed none, or that one needs none now.
func (c *client) known() bool { return c.authed || c.server.users.Open() }

// met says that the client is no stranger.
func (c *client) met() {
	if g, ok := c.net.(*limitedConn); ok {
		g.known()
	}
}

// answer runs calls. Before the client has authenticated each is checked
// alone.
func (c *client) answer(ctx context.Context, calls [][][]byte) {
	for i, args := range calls {
		if c.known() {
			c.do(ctx, calls[i:])
			return
		}
		cmd, _ := commands.Find(args)
		if cmd == nil || cmd.Flags&commands.NoAuth != 0 {
			c.do(ctx, calls[i:i+1])
			continue
		}
		why := noAuth
		if cmd.Name == "EXEC" {
			why = noAuthExec
		}
		c.server.tally.Rejected(cmd, &why)
		c.send(why)
	}
}

// do runs calls on the session.
func (c *client) do(ctx context.Context, calls [][][]byte) {
	ctx, leave := c.until(ctx, calls)
	defer leave()
	c.deliver(ctx, calls, c.session.Stream)
}

// until returns the context of calls: one that ends with the client when they only read, and ctx otherwise. leave is
// for after them.
func (c *client) until(ctx context.Context, calls [][][]byte) (until context.Context, leave func()) {
	if !c.onlyRead(calls) {
		return ctx, func() {}
	}
	if c.watch == nil {
		c.watch = newHangupWatch(c)
	}
	c.watch.begin(longEnough)
	return c.watch.here, c.watch.end
}

// deliver sends the replies that run hands over. When the store fails it is unknown which of
// the calls without a reply took effect: all are answered with the failure, and the client must
// begin anew when the session is no longer as it was.
func (c *client) deliver(ctx context.Context, calls [][][]byte, run func(context.Context, [][][]byte, func([]resp.Value) error) error) {
	db, multi := c.session.DB(), c.session.InMulti()
	sent := 0
	err := run(ctx, calls, func(replies []resp.Value) error {
		sent += len(replies)
		return c.send(replies...)
	})
	c.closed = c.closed || c.session.Broken()
	if err == nil || c.broken != nil {
		return
	}
	if c.left {
		c.closed = true
		return
	}
	why := hungUp
	if ctx.Err() == nil {
		why = c.server.failure(err)
		c.server.logFailure(err, string(calls[0][0]), len(calls))
	}
	for range calls[sent:] {
		c.send(why)
	}
	c.closed = c.closed || c.session.DB() != db || c.session.InMulti() != multi
}

// failure is the reply of a command when the store failed. The error itself, which may
// have SQL and paths, is for the log.
func (s *Server) failure(err error) resp.Value {
	why := ""
	if s.config.PublicMessage != nil {
		why = s.config.PublicMessage(err)
	}
	return resp.MakeError("ERR the database failed: " + cmp.Or(why, "the server's log says more"))
}

// note leaves for CLIENT LIST what the last command of a pipeline changed.
func (c *client) note(args [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.about.active = time.Now()
	c.about.db = c.session.DB()
	c.about.queued = -1
	if c.session.InMulti() {
		c.about.queued = c.session.Queued()
	}
	c.about.watched, c.about.queuedBytes = c.session.Watched(), c.session.QueuedBytes()
	c.about.ahead = len(c.ahead)
	if c.in != nil {
		c.about.ahead += c.in.Buffered()
	}
	c.about.resp3 = c.resp3
	if !isOwn(args[0]) {
		c.about.command = args[0]
	}
}
