package server

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/resp"
)

// loop serves many connections with a few goroutines:
//
//	sockets ──▶ lead: reads all ready sockets, plans their commands
//	              │ reads                │ writes                  │ anything else
//	              ▼                      ▼                         ▼
//	          one snapshot          one transaction         handOff: a goroutine per client, as
//	              │                      │                  for a connection without a loop
//	              │                      │                  │
//	              ▼                      ▼                  ▼
//	          replies, then release returns the client to the loop
//
// One goroutine owns a client at a time; an idle client has no owner. The loop never waits for a client or for slow
// work: a pipeline that takes more than a few ms is abandoned and runs again on a goroutine.
type loop struct {
	server  *Server
	ctx     context.Context // ends when the server stops
	poll    *poller
	running sync.WaitGroup // the clients

	mu      sync.Mutex
	clients map[int]*client // by file descriptor
	pending []*client       // clients to read again
	asleep  bool            // waiting for sockets
	ended   bool

	// Only the lead goroutine uses these.
	in      []byte // read buffer
	claimed []*client
	parser  resp.CommandParser
	reads   []*clientPlan
	writes  []*clientPlan
}

// loopState holds a client's state in the loop.
type loopState struct {
	loop  *loop
	sock  *sock
	fd    int          // valid until sock is closed
	state atomic.Int32 // idle, busy or more

	partial    bool // the input ends within a command
	peerClosed bool // the peer has shut down its side
	slow       bool // its last reads took too long for the loop

	closed atomic.Bool
}

const (
	idle int32 = iota // not owned by a goroutine
	busy
	more // busy, and its socket has more to read
)

// clientPlan holds a client's planned pipeline.
type clientPlan struct {
	client   *client
	calls    [][][]byte
	pipeline engine.PlannedPipeline
}

var clientPlans = sync.Pool{New: func() any { return &clientPlan{} }}

// replyBuffers pools reply buffers.
var replyBuffers = sync.Pool{New: func() any { return &[]byte{} }}

const maxRead = 64 << 10 // bytes read from a socket at once

// newLoop starts a loop that ends with ctx. It returns nil if the engine's store cannot share transactions or the
// system has no poller.
func (s *Server) newLoop(ctx context.Context) *loop {
	if s.config.Engine == nil || !s.config.Engine.CanShare() {
		return nil
	}
	poll, err := newPoller()
	if err != nil {
		s.config.Logger.Warn("falling back to a goroutine per connection", "error", err)
		return nil
	}
	l := &loop{server: s, ctx: ctx, poll: poll, clients: map[int]*client{}, in: make([]byte, maxRead)}
	go l.lead()
	context.AfterFunc(ctx, l.stop)
	return l
}

// attach moves c to the loop and reports whether its connection allows that.
func (l *loop) attach(c *client) bool {
	g, ok := c.net.(*limitedConn)
	if !ok {
		return false
	}
	switch g.Conn.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return false
	}
	s, err := adopt(g.Conn)
	if err != nil {
		return false // the connection keeps its goroutine
	}
	c.loopState.loop, c.loopState.sock, c.loopState.fd = l, s, s.fd
	c.loopState.state.Store(busy) // until setup is complete
	c.life = l.ctx
	c.box.direct = s
	s.onClose = func() { l.kick(c) }
	g.replaceConn(s)
	l.running.Add(1)
	l.server.add(c)
	l.mu.Lock()
	l.clients[c.loopState.fd] = c
	l.mu.Unlock()
	if err := l.poll.add(c.loopState.fd); err != nil {
		l.server.config.Logger.Warn("watching a connection", "error", err)
		c.net.Close()
	}
	if l.ctx.Err() != nil {
		l.kick(c)
	}
	l.release(c)
	return true
}

// stop gives running commands the grace period and closes idle clients.
func (l *loop) stop() {
	l.mu.Lock()
	all := make([]*client, 0, len(l.clients))
	for _, c := range l.clients {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		c.net.SetReadDeadline(time.Unix(1, 0))
		c.net.SetWriteDeadline(time.Now().Add(l.server.config.Grace))
		l.kick(c)
	}
}

// wait blocks until all clients have left, then ends the loop.
func (l *loop) wait() {
	l.running.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.poll.wake()
}

// lead reads from the sockets. It is the loop's only reader.
func (l *loop) lead() {
	defer l.poll.close()
	for {
		l.mu.Lock()
		if l.ended {
			l.mu.Unlock()
			return
		}
		l.asleep = len(l.pending)+len(l.writes) == 0
		asleep := l.asleep
		l.mu.Unlock()
		if err := l.poll.wait(asleep, l.changed); err != nil {
			l.server.config.Logger.Error("waiting for connections", "error", err)
			time.Sleep(time.Second) // do not spin on a persistent error
		}
		l.mu.Lock()
		l.asleep = false
		l.claimed, l.pending = append(l.claimed, l.pending...), l.pending[:0]
		l.mu.Unlock()
		for _, c := range l.claimed {
			l.readFrom(c)
		}
		clear(l.claimed)
		l.claimed = l.claimed[:0]
		l.reads = l.applyGroup(l.reads)
		l.writes = l.applyGroup(l.writes)
	}
}

// changed claims the client of a ready socket unless another goroutine owns it.
func (l *loop) changed(r ready) {
	l.mu.Lock()
	c := l.clients[r.fd]
	l.mu.Unlock()
	if c == nil {
		return
	}
	c.loopState.sock.event(r.readable, r.writable)
	if !r.readable {
		return
	}
	c.loopState.peerClosed = c.loopState.peerClosed || r.ended
	if c.claim() {
		l.claimed = append(l.claimed, c)
	}
}

// claim takes ownership of an idle client and reports whether it succeeded. Otherwise the owner's release reads from
// the client again.
func (c *client) claim() bool {
	for {
		switch {
		case c.loopState.state.CompareAndSwap(idle, busy):
			return true
		case c.loopState.state.CompareAndSwap(busy, more) || c.loopState.state.Load() == more:
			return false
		}
		// Its owner has released it: try again.
	}
}

// kick makes the loop visit a client.
func (l *loop) kick(c *client) {
	if c.claim() {
		l.queue(c)
	}
}

// queue passes a client that the caller owns to the loop.
func (l *loop) queue(c *client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, c)
	if l.asleep {
		l.asleep = false
		l.poll.wake()
	}
}

// release makes a client idle, or queues it if there is more to read.
func (l *loop) release(c *client) {
	if c.loopState.partial || len(c.ahead) == 0 {
		if c.loopState.state.CompareAndSwap(busy, idle) {
			return
		}
		c.loopState.state.Store(busy)
	}
	l.queue(c)
}

// end closes and removes a client that the caller owns.
func (l *loop) end(c *client) {
	if c.loopState.closed.Swap(true) {
		return // an earlier call panicked
	}
	defer l.running.Done()
	c.net.Close()
	l.mu.Lock()
	if l.clients[c.loopState.fd] == c { // a newer socket may have the same number
		delete(l.clients, c.loopState.fd)
	}
	l.mu.Unlock()
	c.end()
}

// readFrom reads from a client and starts its commands.
func (l *loop) readFrom(c *client) {
	defer l.server.contain(func() { l.end(c) })
	if l.ctx.Err() != nil {
		l.end(c)
		return
	}
	n := copy(l.in, c.ahead)
	if n == 0 || c.loopState.partial {
		got, some, err := c.loopState.sock.readNow(l.in[n:])
		if err != nil {
			l.end(c) // the command was truncated
			return
		}
		if some && (c.loopState.peerClosed || n+got == len(l.in)) {
			c.loopState.state.Store(more)
		}
		c.server.traffic.read(got)
		n += got
	}
	if n == 0 {
		l.release(c)
		return
	}
	calls, whole := l.cut(c, l.in[:n])
	switch {
	case len(calls) > 0:
		l.run(c, calls)
	case whole || n == len(l.in):
		l.handOff(c, nil)
	default:
		l.release(c)
	}
}

// cut splits buf into the commands of one pipeline and keeps the rest in c.ahead. If calls is empty, whole reports
// whether buf needs a full reader.
func (l *loop) cut(c *client, buf []byte) (calls [][][]byte, whole bool) {
	c.loopState.partial = false
	at := 0
	for c.mayRun() && at < len(buf) && len(calls) < maxPipeline {
		args, n, short := l.parser.Parse(buf[at:])
		if args == nil {
			c.loopState.partial = short
			break
		}
		calls = append(calls, args)
		if at += n; changesReplies(args[0]) {
			break
		}
	}
	if c.ahead = append(c.ahead[:0], buf[at:]...); len(c.ahead) == 0 {
		c.ahead = nil
	}
	return calls, !c.loopState.partial
}

// run plans calls and queues them with the reads or the writes. It hands off calls that the loop cannot run.
func (l *loop) run(c *client, calls [][][]byte) {
	if c.replyMode != repliesOn || c.loopState.slow || c.getsMessages || c.server != l.server || changesReplies(calls[len(calls)-1][0]) {
		l.handOff(c, calls)
		return
	}
	t := clientPlans.Get().(*clientPlan)
	t.client, t.calls = c, calls
	switch {
	case !c.session.Plan(calls, &t.pipeline):
		t.free()
		l.handOff(c, calls)
	case t.pipeline.Empty():
		l.sendReplies(t)
	case t.pipeline.Writes():
		l.writes = append(l.writes, t)
	default:
		l.reads = append(l.reads, t)
	}
}

func (t *clientPlan) free() {
	t.client, t.calls = nil, nil
	clientPlans.Put(t)
}

// applyGroup runs plans that all only read, or that all write. It returns the plans left for the next round.
func (l *loop) applyGroup(plans []*clientPlan) (left []*clientPlan) {
	if len(plans) == 0 {
		return plans
	}
	all := slices.Clone(plans) // onApplied frees plans
	pipelines := make([]*engine.PlannedPipeline, len(plans))
	for i, t := range plans {
		pipelines[i] = &t.pipeline
	}
	taken := make([]atomic.Bool, len(all))
	defer l.server.contain(func() {
		for i, t := range all {
			if !taken[i].Swap(true) {
				l.end(t.client)
			}
		}
		left = nil
	})
	began := l.server.config.Engine.ApplyGroup(pipelines, func(i int) {
		if !taken[i].Swap(true) {
			l.onApplied(all[i])
		}
	})
	return slices.Delete(plans, 0, began)
}

// onApplied replies to a plan that the engine has run. It hands off a plan that must run on its own goroutine.
func (l *loop) onApplied(t *clientPlan) {
	defer l.server.contain(func() { l.end(t.client) })
	switch {
	case t.pipeline.Long(), t.pipeline.Waits():
		c, calls := t.client, t.calls
		c.loopState.slow = t.pipeline.Long()
		t.pipeline.Drop()
		t.free()
		l.handOff(c, calls)
	case t.pipeline.Whole() && !t.pipeline.Large() && t.pipeline.Decode():
		l.sendReplies(t)
	default:
		go func() {
			c := t.client
			defer l.server.contain(func() { l.end(c) })
			ctx, leave := c.callContext(context.WithoutCancel(l.ctx), t.calls)
			c.deliverPlan(ctx, t)
			leave()
			c.updatePlanInfo(t) // the watch of callContext reads ahead until then
			c.write(c.out)
			c.out = c.out[:0]
			t.free()
			l.serveRest(c, c.isOpen(l.ctx))
		}()
	}
}

// sendReplies sends the replies of a finished plan.
func (l *loop) sendReplies(t *clientPlan) {
	c := t.client
	out := replyBuffers.Get().(*[]byte)
	c.out, c.enqueueReplies = (*out)[:0], true
	c.deliverPlan(context.WithoutCancel(l.ctx), t)
	c.updatePlanInfo(t)
	sent := c.box.reply(c.out)
	if cap(c.out) <= 4*resp.Piece {
		*out = c.out
	}
	replyBuffers.Put(out)
	c.out, c.enqueueReplies = nil, false
	if sent {
		l.settle(t)
		return
	}
	go func() {
		defer l.server.contain(func() { l.end(c) })
		c.broken = c.box.drain()
		l.settle(t)
	}()
}

// deliverPlan encodes the replies of a plan and leaves the unsent part in c.out.
func (c *client) deliverPlan(ctx context.Context, t *clientPlan) {
	c.deliver(ctx, t.calls,
		func(ctx context.Context, _ [][][]byte, send func([]resp.Value) error) error {
			return t.pipeline.Finish(ctx, send)
		})
}

func (c *client) updatePlanInfo(t *clientPlan) { c.updateInfo(t.calls[len(t.calls)-1]) }

// settle frees a plan and releases its client, or ends the client if its connection is over.
func (l *loop) settle(t *clientPlan) {
	c := t.client
	t.free()
	if c.isOpen(l.ctx) {
		l.release(c)
	} else {
		l.end(c)
	}
}

// handOff runs calls, or reads and runs c.ahead if calls is nil, on a goroutine that may wait for the store and the
// client.
func (l *loop) handOff(c *client, calls [][][]byte) {
	c.session.JoinHeld(calls)
	go func() {
		defer l.server.contain(func() { l.end(c) })
		began := time.Now()
		on := l.serveAhead(c, calls)
		c.loopState.slow = c.loopState.slow && time.Since(began) > time.Millisecond
		l.serveRest(c, on)
	}()
}

func (l *loop) serveAhead(c *client, calls [][][]byte) (on bool) {
	defer c.session.LeaveHeld()
	if c.calls = calls; calls != nil {
		return c.serveOnce(l.ctx, nil)
	}
	return c.serveOnce(l.ctx, c.read())
}

// serveRest serves the commands that were read while the last ones ran, and returns the client to the loop. It ends
// the client unless the connection is on.
func (l *loop) serveRest(c *client, on bool) {
	for on && c.in != nil && c.in.Buffered() > 0 {
		on = c.serveOnce(l.ctx, c.read())
	}
	if !on {
		l.end(c)
		return
	}
	c.in, c.calls, c.out = nil, nil, nil
	l.release(c)
}
