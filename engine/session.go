package engine

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// Session is one client: its selected database, its transaction and its watched keys. Only one goroutine may
// use it at a time.
type Session struct {
	multiState
	blocking
	clientTracking
	pipelineLimits

	engine     *Engine
	conn       Connection
	guard      Guard
	step       func(int) // work.Step, for the guard
	who        func() (addr, name string)
	innerError []byte // the last error in a script that runs
	db         int

	fieldsets map[string][][]byte // of HIMPORT; replaced, never modified

	broken bool // a command panicked
	replyForm
}

// replyForm says which replies the client can receive.
type replyForm struct {
	packs bool // see PackReplies
	rules translator.Rules
	resp2 bool
}

// multiState holds the state of MULTI and WATCH.
type multiState struct {
	multi   bool
	dirty   bool // a command could not be queued: EXEC aborts
	queue   []call
	watched []translator.Version
	queued  *store.Budget // budget of the calls queued by MULTI; nil while none are
}

// blocking is how the session waits.
type blocking struct {
	neverWaits bool // never blocks
	onWait     Waiting
	waiter     atomic.Pointer[waiter] // set while the session sleeps
	paused     atomic.Bool            // true while a pause holds the session
	place      heldPlace              // set by JoinHeld, until it is used
	next       chan struct{}          // closed to release the client held next; nil without one
}

// clientTracking records the keys read for CLIENT TRACKING.
type clientTracking struct {
	client int64
	tracks bool
	reads  [][]byte // keys read, if the session tracks
}

// pipelineLimits bounds the current pipeline.
type pipelineLimits struct {
	work        store.Work                  // limits of a pipeline; a nil budget is unlimited
	workContext context.Context             // context of the current pipeline
	timeCheck   func(began time.Time) error // overdue, set on first use
	turn        store.WriteWait
}

// Connection runs the commands that belong to a client's connection or its server, not to the store: CLIENT,
// HELLO, INFO, … ok is false for a command that it does not know. RESET arrives after the session has been
// reset. MULTI does not queue RESET and QUIT.
type Connection func(ctx context.Context, cmd *commands.Command, args [][]byte) (reply resp.Value, ok bool)

// Session starts a session in database 0.
func (e *Engine) Session() *Session { return e.SessionOn(nil) }

// SessionOn starts a session in database 0 for a client with a connection.
func (e *Engine) SessionOn(conn Connection) *Session {
	s := &Session{engine: e, conn: conn}
	s.turn.Gate = &e.scripts.gate
	return s
}

// Bound sets the session's budget for the rows and replies of a pipeline. The calls queued by MULTI get another
// budget of the same size.
func (s *Session) Bound(b *store.Budget) { s.work.Budget = b }

// Release returns the memory counted by the session's budgets. The session must not be used afterwards.
func (s *Session) Release() {
	if w := s.waiter.Load(); w != nil { // its pipeline has panicked
		s.engine.feed.waits.finish(w, nilReply, nil)
	}
	s.work.Budget.Rewind(0)
	s.queued.Rewind(0)
}

// PackReplies allows resp.Value.Packed in replies.
func (s *Session) PackReplies() { s.packs = true }

// FollowUpstash makes the session's commands follow Upstash's rules where they differ from Redis's.
func (s *Session) FollowUpstash() { s.rules = translator.Upstash }

// SetRESP2 says whether the client cannot receive the types of RESP3. The zero Session's client can.
func (s *Session) SetRESP2(on bool) { s.resp2 = on }

// DB returns the selected database.
func (s *Session) DB() int { return s.db }

// Select selects database n, which must exist.
func (s *Session) Select(n int) { s.db = n }

// InMulti reports whether commands are being queued.
func (s *Session) InMulti() bool { return s.multi }

// Queued returns the number of calls queued by MULTI.
func (s *Session) Queued() int { return len(s.queue) }

// QueuedBytes returns the bytes of memory of the calls queued by MULTI.
func (s *Session) QueuedBytes() int64 { return s.queued.Used() }

// Reset selects database 0 and forgets the transaction, the watched keys and the fieldsets.
func (s *Session) Reset() {
	s.db, s.fieldsets = 0, nil
	s.endMulti()
}

// Do runs one command. A failed command is an error reply. An error means that the store failed; it is then
// unknown whether the command took effect.
func (s *Session) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	replies, err := s.run(ctx, [][][]byte{args}, 0, nil)
	if err != nil {
		return resp.Value{}, err
	}
	return replies[0], nil
}

// Pipeline runs commands in order and returns a reply for each. It applies consecutive commands to the store
// together. The commands are independent: if one fails, the others still run.
func (s *Session) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	return s.run(ctx, calls, 0, nil)
}

// PipelineUntilError runs commands in order and stops after the first reply that is or contains an error. It
// returns the replies up to that one. If ctx ends or the store fails, it returns the error and the replies of
// the commands that ran.
//
// On a store that can hold a transaction open, consecutive commands share one transaction, so a file of
// commands runs as fast as a pipeline. On any other store they run one by one.
func (s *Session) PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	return s.run(ctx, calls, untilError, nil)
}

// Stream does the same as Pipeline, but passes the replies to send in parts, in order, whenever the session's
// budget is full and at the end. The replies are valid until send returns. If send returns an error, the
// remaining commands do not run.
func (s *Session) Stream(ctx context.Context, calls [][][]byte, send func([]resp.Value) error) error {
	defer s.work.Budget.Rewind(0)
	_, err := s.run(ctx, calls, 0, send)
	return err
}

// enqueue queues a call for EXEC.
func (s *Session) enqueue(c call) resp.Value {
	if s.work.Budget != nil {
		if s.queued == nil {
			s.queued = s.work.Budget.Empty()
		}
		size := int64(store.RowBytes)
		for _, arg := range c.args {
			size += store.CellBytes + int64(len(arg))
		}
		if !s.queued.Take(size) {
			return s.reject(c.args, s.queued.Refusal())
		}
	}
	s.queue = append(s.queue, c)
	return resp.Queued
}

// reject answers a call that can be neither run nor queued. It makes an open transaction abort; a misspelt EXEC
// ends it.
func (s *Session) reject(args [][]byte, bad resp.Value) resp.Value {
	if len(args) > 0 && strings.EqualFold(string(args[0]), "EXEC") {
		s.endMulti()
		bad = execAborted(bad)
		s.rejected(args, &bad)
		return bad
	}
	s.rejected(args, &bad)
	s.dirty = s.dirty || s.multi
	return bad
}

// execAborted returns the reply to a refused EXEC.
func execAborted(bad resp.Value) resp.Value {
	return resp.MakeError("EXECABORT Transaction discarded because of: " + strings.TrimPrefix(string(bad.Str), "ERR "))
}

// sessionCommand is a command that acts on the session. An open transaction queues it unless it is inMulti.
type sessionCommand struct {
	run     func(s *Session, ctx context.Context, c call) (resp.Value, error)
	inMulti bool
}

// ownCommands lists the commands without a translation that the session runs. The connection runs the others.
var ownCommands map[string]sessionCommand

func init() { // exec reads the table
	ownCommands = map[string]sessionCommand{
		"SELECT":               {run: (*Session).selectDB},
		"HIMPORT PREPARE":      {run: (*Session).prepareFieldset},
		"HIMPORT DISCARD":      {run: (*Session).discardFieldset},
		"HIMPORT DISCARDALL":   {run: (*Session).discardFieldsets},
		"EVAL":                 {run: (*Session).eval},
		"EVAL_RO":              {run: (*Session).eval},
		"EVALSHA":              {run: (*Session).eval},
		"EVALSHA_RO":           {run: (*Session).eval},
		"FCALL":                {run: (*Session).eval},
		"FCALL_RO":             {run: (*Session).eval},
		"SCRIPT LOAD":          {run: (*Session).scriptLoad},
		"SCRIPT EXISTS":        {run: (*Session).scriptExists},
		"SCRIPT FLUSH":         {run: (*Session).scriptFlush},
		"SCRIPT KILL":          {run: (*Session).scriptKill},
		"FUNCTION KILL":        {run: (*Session).functionKill},
		"PUBLISH":              {run: (*Session).publish},
		"SPUBLISH":             {run: (*Session).publishShard},
		"PUBSUB CHANNELS":      {run: (*Session).listeners},
		"PUBSUB NUMPAT":        {run: (*Session).listeners},
		"PUBSUB NUMSUB":        {run: (*Session).listeners},
		"PUBSUB SHARDCHANNELS": {run: (*Session).listeners},
		"PUBSUB SHARDNUMSUB":   {run: (*Session).listeners},
		"MULTI":                {run: (*Session).startMulti, inMulti: true},
		"EXEC":                 {run: (*Session).exec, inMulti: true},
		"DISCARD":              {run: (*Session).discard, inMulti: true},
		"WATCH":                {run: (*Session).watch, inMulti: true},
		"UNWATCH":              {run: (*Session).unwatch},
		"RESET":                {run: (*Session).reset, inMulti: true},
		"QUIT":                 {run: (*Session).onConnection, inMulti: true},
	}
}

// ownCommand returns how the session runs a command without a translation.
func ownCommand(name string) sessionCommand {
	if own, is := ownCommands[name]; is {
		return own
	}
	return sessionCommand{run: (*Session).onConnection}
}

// onConnection passes the command to the client's connection.
func (s *Session) onConnection(ctx context.Context, c call) (resp.Value, error) {
	if s.conn != nil {
		if v, ok := s.conn(ctx, c.cmd, c.args); ok {
			return v, nil
		}
	}
	if v, ok := acl.Standalone(c.cmd, c.args, s.engine.now()); ok {
		return v, nil
	}
	if v, ok := saveWithoutServer(ctx, c, s.engine.now()); ok {
		return v, nil
	}
	return resp.MakeError("ERR " + c.cmd.Name + " needs a connection of its own and is not available here"), nil
}

func (s *Session) reset(ctx context.Context, c call) (resp.Value, error) {
	s.Reset()
	if s.conn == nil {
		return resp.MakeStatus("RESET"), nil
	}
	return s.onConnection(ctx, c)
}

func (s *Session) selectDB(_ context.Context, c call) (resp.Value, error) {
	db, bad := commands.DBIndex(c.args[1])
	if bad.IsError() {
		return bad, nil
	}
	s.db = db
	return resp.OK, nil
}

func (s *Session) startMulti(context.Context, call) (resp.Value, error) {
	if s.multi {
		return resp.MakeError("ERR MULTI calls can not be nested"), nil
	}
	s.multi = true
	return resp.OK, nil
}

func (s *Session) discard(context.Context, call) (resp.Value, error) {
	if !s.multi {
		return resp.MakeError("ERR DISCARD without MULTI"), nil
	}
	s.endMulti()
	return resp.OK, nil
}

func (s *Session) endMulti() {
	s.multi, s.dirty, s.queue, s.watched = false, false, nil, nil
	s.queued.Rewind(0)
}

// exec runs the queue as one transaction. Commands without a translation (SELECT, UNWATCH, CLIENT, …) run here
// while the queue is planned, since they only touch the session.
func (s *Session) exec(ctx context.Context, _ call) (resp.Value, error) {
	if !s.multi {
		return resp.MakeError("ERR EXEC without MULTI"), nil
	}
	queue, watched, dirty := s.queue, s.watched, s.dirty
	s.endMulti()
	if dirty {
		return resp.MakeError("EXECABORT Transaction discarded because of previous errors."), nil
	}
	defer s.limitAgain()
	calls := make([]planned, len(queue))
	var after []int // calls whose effects other clients may see only after the commit
	db, fieldsets := s.db, s.fieldsets
	for i, q := range queue {
		if v, refused := s.Refused(q.cmd, q.args, Exec); refused {
			calls[i], queue[i].cmd = planned{answer: v}, nil // not shown to MONITOR
			s.rejected(q.args, &v)
			continue
		}
		if q.cmd.Flags&commands.PubSub != 0 || q.cmd.Name == "PING" && len(after) > 0 {
			after = append(after, i)
		}
		switch {
		case translator.Translates(q.cmd):
			calls[i] = s.planned(q)
			continue
		case runsScripts(q.cmd):
			e, bad := s.evaluate(ctx, q)
			calls[i] = planned{answer: bad, eval: e, db: s.db}
			s.liftTimeLimit()
			continue
		case q.cmd.Flags&commands.PubSub != 0:
			continue
		}
		began := time.Now()
		v, err := ownCommand(q.cmd.Name).run(s, context.WithValue(ctx, inExec{}, true), q)
		if err != nil {
			return resp.Value{}, err
		}
		calls[i] = planned{answer: v}
		s.ran(q, time.Since(began), &v)
	}
	replies, ok, err := s.engine.transaction(ctx, watched, calls, &s.work)
	if err != nil || !ok {
		s.db, s.fieldsets = db, fieldsets
		if late, is := limited(err); is {
			if isBusy(late) {
				late = execAborted(late)
			}
			return late, nil
		}
		return resp.NilArray, err
	}
	s.ranAll(calls, replies)
	return resp.MakeArray(replies...), s.publishAll(ctx, queue, calls, after, replies)
}
