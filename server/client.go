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

// maxPipeline and maxPipelineBytes limit the commands that run as one pipeline; its last command may exceed the bytes.
// Replies are sent in pieces of replyPiece bytes, so a client that does not read makes the server hold one piece.
const (
	maxPipeline      = 1024
	maxPipelineBytes = 1 << 20
	replyPiece       = 1 << 20
	// Each piece of this size, in bytes, has its own write deadline.
	writePiece = 256 << 10
)

// client is one RESP connection. All fields but box, mu and the fields that mu guards belong to the goroutine that
// runs the client's commands: the connection's own, or the one that the loop gave it to.
type client struct {
	transport
	replyOutput
	protocolState
	subscriptionState
	replicaOptions

	principal
	id      int64
	since   time.Time
	session *engine.Session
	box     *outbox
	inbox   inbox

	loopState loopState
	entry     tenantEntry

	tracks trackingState

	mu         sync.Mutex
	clientInfo clientInfo
}

// transport reads from the connection.
type transport struct {
	net   net.Conn
	in    *resp.Reader // nil until reader is called
	ahead []byte       // bytes read that precede the rest of in
	life  context.Context
	watch *hangupWatch // created on first use
	left  bool         // the client hung up while its session was blocked
}

// replyOutput is the current pipeline and its replies.
type replyOutput struct {
	calls          [][][]byte   // current pipeline; the slice is reused
	out            []byte       // replies of the pipeline; the slice is reused
	enqueueReplies bool         // write replies through box.reply
	sink           func([]byte) // writePiece
	broken         error        // first write error
	inPieces       bool         // some pieces of a reply have been sent
}

// protocolState is set by HELLO, AUTH, CLIENT REPLY and QUIT.
type protocolState struct {
	resp3     bool
	authed    bool
	replyMode replyMode
	wantsDump bool // REPLCONF rdb-only: send only the dump
	closed    bool // read no further command
}

// replicaOptions is set by REPLCONF, SYNC and PSYNC.
type replicaOptions struct {
	replicaIP      string
	replicaPort    int64
	replicaEOF     bool // accepts a dump of unknown length
	replicaPSYNC2  bool // accepts a new ID with +CONTINUE
	replicaModules bool // takes values of modules
	isReplica      atomic.Bool
}

// subscriptionState is set by SUBSCRIBE and MONITOR.
type subscriptionState struct {
	getsMessages bool // messages may come, or came before
	subscribed   int  // number of subscriptions
	monitors     bool
	class        atomic.Int32 // class of client-output-buffer-limit
	isSubscribed atomic.Bool
}

// replyMode selects the replies to suppress.
type replyMode byte

const (
	repliesOn  replyMode = iota
	skipNext             // CLIENT REPLY SKIP
	skipping             // the next command is running
	repliesOff           // CLIENT REPLY OFF
)

// clientInfo holds the fields of CLIENT LIST, for other goroutines.
type clientInfo struct {
	name, libName, libVersion string
	active                    time.Time
	db                        int
	queued                    int   // commands queued by MULTI, -1 outside
	watched                   int   // watched keys
	queuedBytes               int64 // size of the queued commands
	ahead                     int   // bytes received after the last command
	noEvict, noTouch          bool
	command                   []byte // last command as sent
	resp3                     bool
}

func newClient(s *Server, nc net.Conn) *client {
	c := &client{
		principal: principal{server: s}, transport: transport{net: nc}, id: s.lastID.Add(1), since: time.Now(),
		protocolState: protocolState{authed: s.users.Open()},
	}
	c.client = c
	c.box, c.sink = newOutbox(c), c.writePiece
	c.inbox.client = c
	c.begin()
	c.clientInfo = clientInfo{active: c.since, queued: -1}
	return c
}

// begin opens a session for the client on its server.
func (c *client) begin() {
	s := c.server
	c.user.Store(s.users.Default())
	c.session = s.config.Engine.SessionOn(c.own)
	c.session.SetClient(c.id)
	c.session.SetGuard(c.guard)
	c.session.SetWaiting(c.onBlock)
	c.session.SetWho(c.who)
	c.session.Bound(s.budget(replyPiece))
	c.session.PackReplies()
	c.session.SetRESP2(!c.resp3)
}

// loop reads and runs commands and replies to them until the client leaves or ctx is done. A command that is running
// when ctx ends runs to completion.
func (c *client) loop(ctx context.Context) {
	c.life = ctx
	for c.serveOnce(ctx, c.read()) {
	}
}

// serveOnce runs the pipeline just read, where err ended reading, and replies. It reports whether the connection
// continues.
func (c *client) serveOnce(ctx context.Context, err error) (on bool) {
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
	return err == nil && c.isOpen(ctx)
}

func (c *client) isOpen(ctx context.Context) bool {
	return c.broken == nil && !c.closed && ctx.Err() == nil
}

// write sends b. It gives up on a client that reads nothing for too long.
func (c *client) write(b []byte) {
	switch {
	case len(b) == 0 || c.broken != nil:
	case c.enqueueReplies:
		c.box.reply(b)
	default:
		c.broken = c.box.write(b)
	}
}

// writePiece sends a piece of a reply. Messages wait until the reply is complete.
func (c *client) writePiece(b []byte) {
	if !c.inPieces {
		c.inPieces = true
		c.inbox.hold()
	}
	c.write(b)
}

// endPieces ends a reply that was sent in pieces.
func (c *client) endPieces() {
	if !c.inPieces {
		return
	}
	c.write(c.out)
	c.out, c.inPieces = c.out[:0], false
	if !c.getsMessages {
		c.inbox.release()
	}
}

// timeWrite sets the write deadline of the next piece.
func (c *client) timeWrite() {
	c.net.SetWriteDeadline(time.Now().Add(c.server.config.WriteTimeout))
	select {
	case <-c.life.Done(): // a stopping server allows less time
		c.net.SetWriteDeadline(time.Now().Add(c.server.config.Grace))
	default:
	}
}

// linger drains a connection after a protocol error. Closing it with unread bytes would reset it and lose the error on
// its way.
func (c *client) linger() {
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.net.SetReadDeadline(time.Now().Add(time.Second))
	io.CopyN(io.Discard, c.net, maxPipelineBytes)
}

// read collects a pipeline: the next command and the commands that have arrived after it. A command that may change
// how replies are sent ends the pipeline.
func (c *client) read() error {
	clear(c.calls)
	c.calls = c.calls[:0]
	in := c.reader()
	in.Unauthenticated(!c.mayRun())
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
		if len(c.calls) >= maxPipeline || size >= maxPipelineBytes || changesReplies(args[0]) {
			return nil
		}
		args = in.Next()
	}
	return nil
}

// reader returns the reader of the connection, creating it if needed.
func (c *client) reader() *resp.Reader {
	if c.in != nil {
		return c.in
	}
	from := io.Reader(c.net)
	if len(c.ahead) > 0 {
		from = io.MultiReader(bytes.NewReader(c.ahead), c.net)
		c.ahead = nil
	}
	if c.mayRun() {
		c.in = resp.NewReader(from)
	} else {
		c.in = resp.NewUnauthenticatedReader(from)
	}
	return c.in
}

// replyCommands lists the commands that may change how replies are sent, and the first words of an HTTP request.
var replyCommands = [][]byte{
	[]byte("AUTH"), []byte("CLIENT"), []byte("HELLO"), []byte("QUIT"), []byte("RESET"), []byte("POST"), []byte("HOST:"),
	[]byte("PSYNC"), []byte("SYNC"),
}

var replConf = []byte("REPLCONF")

func changesReplies(name []byte) bool {
	if len(name) < 4 || len(name) > 6 {
		return isListenCommand(name) || bytes.EqualFold(name, replConf)
	}
	return slices.ContainsFunc(replyCommands, func(own []byte) bool { return bytes.EqualFold(name, own) })
}

// run runs the pipeline. It sends the replies or leaves them in c.out.
func (c *client) run(ctx context.Context) {
	calls := c.calls
	last := len(calls) - 1
	switch {
	case last < 0:
		return
	case c.getsMessages || startsMessages(calls[last]):
		c.getsMessages = true
		c.runOneByOne(ctx, calls)
	case !changesReplies(calls[last][0]):
		c.pipeline(ctx, calls)
	case isHTTP(calls[last][0]):
		// A web page can make a browser connect to a local port. The commands in its body must not run.
		c.server.config.Logger.Warn("possible cross-protocol attack: closed a connection that speaks HTTP", "peer", c.net.RemoteAddr())
		c.closed = true
	default:
		if last > 0 {
			c.pipeline(ctx, calls[:last])
		}
		c.pipeline(ctx, calls[last:])
	}
	c.moveToTenant()
	c.updateInfo(calls[last])
}

func isHTTP(name []byte) bool {
	return strings.EqualFold(string(name), "POST") || strings.EqualFold(string(name), "HOST:")
}

func (c *client) pipeline(ctx context.Context, calls [][][]byte) {
	if c.replyMode == skipNext {
		c.replyMode = skipping
	}
	c.runChecked(ctx, calls)
}

// send sends the next replies of a pipeline.
func (c *client) send(replies ...resp.Value) error {
	if c.getsMessages {
		c.inbox.hold() // later messages follow the reply
		c.recordReads()
	}
	switch c.replyMode {
	case skipping:
		c.replyMode = repliesOn
		if !isPushed(replies[0]) {
			replies = replies[1:]
		}
	case skipNext, repliesOff:
		if !isPushed(replies[0]) {
			return nil
		}
	}
	for _, v := range replies {
		c.out = resp.Stream(c.out, v, c.resp3, c.sink)
	}
	c.endPieces()
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

// mayRun reports whether the client may run commands: it has authenticated, connected while the default user needed no
// password, or that user needs none now.
func (c *client) mayRun() bool { return c.authed || c.server.users.Open() }

// markAuthenticated marks the connection as authenticated.
func (c *client) markAuthenticated() {
	if g, ok := c.net.(*limitedConn); ok {
		g.markAuthenticated()
	}
}

// runChecked runs calls. Before the client has authenticated, it checks each call by itself.
func (c *client) runChecked(ctx context.Context, calls [][][]byte) {
	for i, args := range calls {
		if c.mayRun() {
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
	ctx, leave := c.callContext(ctx, calls)
	defer leave()
	c.deliver(ctx, calls, c.session.Stream)
}

// callContext returns the context for calls. If they only read, it ends when the client hangs up; otherwise it is ctx.
// The caller calls leave afterwards.
func (c *client) callContext(ctx context.Context, calls [][][]byte) (until context.Context, leave func()) {
	if !c.onlyRead(calls) {
		return ctx, func() {}
	}
	if c.watch == nil {
		c.watch = newHangupWatch(c)
	}
	c.watch.begin(hangupCheckAfter)
	return c.watch.ctx, c.watch.end
}

// deliver sends the replies that run passes on. If the store fails, some calls without a reply may have taken effect:
// deliver replies to each with the error and closes the connection if the session state changed.
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
	switch {
	case ctx.Err() != nil && c.life.Err() != nil:
		why = stopping
	case ctx.Err() == nil:
		why = c.server.failure(err)
		c.server.logFailure(err, string(calls[0][0]), len(calls))
	}
	for range calls[sent:] {
		c.send(why)
	}
	c.closed = c.closed || c.session.DB() != db || c.session.InMulti() != multi
}

// failure returns the reply for a failed store. The error itself, which may have SQL and paths, is only logged.
func (s *Server) failure(err error) resp.Value {
	why := ""
	if s.config.PublicMessage != nil {
		why = s.config.PublicMessage(err)
	}
	return resp.MakeError("ERR the database failed: " + cmp.Or(why, "see the server's log"))
}

// updateInfo records the client's state after a pipeline, for CLIENT LIST.
func (c *client) updateInfo(args [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clientInfo.active = time.Now()
	c.clientInfo.db = c.session.DB()
	c.clientInfo.queued = -1
	if c.session.InMulti() {
		c.clientInfo.queued = c.session.Queued()
	}
	c.clientInfo.watched, c.clientInfo.queuedBytes = c.session.Watched(), c.session.QueuedBytes()
	c.clientInfo.ahead = len(c.ahead)
	if c.in != nil {
		c.clientInfo.ahead += c.in.Buffered()
	}
	c.clientInfo.resp3 = c.resp3
	if !changesReplies(args[0]) {
		c.clientInfo.command = args[0]
	}
}
