package engine

import (
	"context"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

var (
	nilReply       = resp.NilArray
	unblockedReply = resp.MakeError("UNBLOCKED client unblocked via CLIENT UNBLOCK")
)

// Waiting is called when a session begins to wait at a command. The wait ends with ctx; then end is called. The
// replies to the earlier commands have been sent by then.
type Waiting func(cmd *commands.Command) (ctx context.Context, end func())

// SetWaiting sets the function that the session calls around each wait.
func (s *Session) SetWaiting(w Waiting) { s.onWait = w }

// NeverWait makes blocking commands return at once, as in a transaction.
func (s *Session) NeverWait() { s.neverWaits = true }

// Blocked reports whether the session waits for a key, for replicas, or for the end of a pause. Any goroutine
// may call it.
func (s *Session) Blocked() bool {
	w := s.waiter.Load()
	if w == nil {
		return s.paused.Load() && s.engine.paused.Load() != nil
	}
	ws := &s.engine.feed.waits
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return w.state != over
}

// Unblock ends the session's wait, as a timeout or, with fail, with an error. It returns false if the session
// does not wait. Any goroutine may call it.
func (s *Session) Unblock(fail bool) bool {
	w := s.waiter.Load()
	if w == nil {
		return false
	}
	reply := w.wait.TimeoutReply
	if fail {
		reply = unblockedReply
	}
	return s.engine.feed.waits.finish(w, reply, nil)
}

// Blocked returns the number of blocked sessions, the number of keys that they wait for, and the number of
// those keys that a client also wants to be missing.
func (e *Engine) Blocked() (sessions, keys, missing int) {
	ws := &e.feed.waits
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, all := range ws.lines {
		keys += len(all)
		for _, l := range all {
			missing += min(l.gone, 1)
		}
	}
	if e.paused.Load() != nil {
		sessions = int(e.held.Load())
	}
	return sessions + ws.sleeping, keys, missing
}

// waits returns how a call blocks. ok is false for a call that cannot block.
func (s *Session) waits(c call) (w translator.Wait, ok bool) {
	if c.cmd.Flags&commands.Blocking == 0 || s.multi || s.neverWaits || s.engine.feed.off {
		return w, false
	}
	return translator.BlockingWait(c.cmd, c.args, s.engine.env(s.db, &s.work))
}

// await runs a call that blocks if it finds nothing.
func (s *Session) await(ctx context.Context, c call, wait translator.Wait) (v resp.Value, err error) {
	e, ws := s.engine, &s.engine.feed.waits
	var w *waiter
	took := time.Duration(0) // excludes the wait
	defer func() {
		if err == nil {
			s.waited(c, w, took, &v)
		}
	}()
	if wait.ReadsFromEnd() {
		args, err := s.resolveStreamEnds(ctx, c, &wait)
		if err != nil {
			return resp.Value{}, err
		}
		c.args = args
	}
	p := s.planned(c)
	p.wait = &wait
	if c.cmd.Flags&commands.ReadOnly != 0 && len(wait.Keys) > 0 { // usually answers without the writer
		if v, took, err = e.runOnce(ctx, p, &s.work); err != nil || !v.IsNull() {
			return v, err
		}
	}
	w = ws.enter(s, p, wait, own)
	defer ws.endOwn(w)
	if len(wait.Keys) > 0 {
		p.waiter = w
		if v, took, err = e.untilIdle(ctx, p, &s.work); err != nil || !v.IsNull() {
			return v, err
		}
	} else {
		ws.markIdle(w)
		if e.awaitReplicas != nil {
			return s.sleepUntilAcknowledged(ctx, w)
		}
	}
	v, err = s.sleepUntilReply(ctx, w)
	took += w.took
	if err == nil && w.timedOut && wait.TimeoutCall != nil {
		p.args, p.waiter = wait.TimeoutCall, nil
		return s.lastTry(ctx, p, &took)
	}
	return v, err
}

// lastTry runs the call of a waiter after its timeout, and adds its time to took.
func (s *Session) lastTry(ctx context.Context, p planned, took *time.Duration) (resp.Value, error) {
	v, once, err := s.engine.runOnce(ctx, p, &s.work)
	*took += once
	return v, err
}

// AwaitReplicas calls enough once n replicas have acknowledged all writes until now, with aof on their disks. It may
// call it at once. count returns how many have. The caller calls stop at the end.
type AwaitReplicas func(n int64, aof bool, enough func()) (count func() int64, stop func())

// SetAwaitReplicas sets the functions for WAIT and WAITAOF: acknowledged counts without waiting. Call it before the first
// session starts.
func (e *Engine) SetAwaitReplicas(await AwaitReplicas, acknowledged func(aof bool) int64) {
	e.awaitReplicas, e.acknowledged = await, acknowledged
}

// sleepUntilAcknowledged waits for the replicas of WAIT or WAITAOF.
func (s *Session) sleepUntilAcknowledged(ctx context.Context, w *waiter) (resp.Value, error) {
	aof := w.call.cmd.Name == "WAITAOF"
	number := w.call.args[1]
	if aof {
		number = w.call.args[2]
	}
	n, _ := commands.ParseInt(number)
	count, stop := s.engine.awaitReplicas(n, aof, func() { s.engine.feed.waits.finish(w, w.wait.TimeoutReply, nil) })
	defer stop()
	v, err := s.sleepUntilReply(ctx, w)
	switch {
	case err != nil || v.IsError():
		return v, err
	case aof:
		return resp.MakeArray(resp.Zero, resp.MakeInt(count())), nil
	}
	return resp.MakeInt(count()), nil
}

// waited counts a call that may have blocked; w is nil if it has not.
func (s *Session) waited(c call, w *waiter, took time.Duration, v *resp.Value) {
	if w != nil && w.refused {
		s.Refused(c.cmd, c.args, Calling) // records the refusal
		s.rejected(c.args, v)
	} else {
		s.ran(c, took, v)
	}
}

// resolveStreamEnds returns the args of a call that reads streams from their ends, with the current IDs.
func (s *Session) resolveStreamEnds(ctx context.Context, c call, wait *translator.Wait) ([][]byte, error) {
	stmts, made := wait.ResolveEnds(c.args, s.engine.env(s.db, &s.work))
	results, err := s.engine.store.Apply(ctx, []store.Batch{{ReadOnly: true, Stmts: stmts}})
	if err != nil {
		return nil, err
	}
	return made(results[0].Rows), nil
}

// runOnce runs one call.
func (e *Engine) runOnce(ctx context.Context, p planned, work *store.Work) (v resp.Value, took time.Duration, err error) {
	used := work.Budget.Used()
	one := []planned{p}
	replies, _, err := e.transaction(ctx, nil, one, work)
	work.Budget.Rewind(used)
	if late, is := limited(err); is {
		return late, time.Duration(e.timeLimit.Load()), nil
	}
	if err != nil {
		return v, 0, err
	}
	return replies[0], one[0].took, nil
}

// untilIdle tries the call of a waiter. With a null reply the waiter is idle, or over.
func (e *Engine) untilIdle(ctx context.Context, p planned, work *store.Work) (v resp.Value, took time.Duration, err error) {
	ws := &e.feed.waits
	for {
		v, once, err := e.runOnce(ctx, p, work)
		took += once
		switch {
		case err == nil && !v.IsNull():
			return v, took, nil
		case err != nil && ws.finish(p.waiter, nilReply, err):
			return v, took, err
		case err != nil || ws.settleIdle(p.waiter):
			return nilReply, took, nil
		}
	}
}

// sleepUntilReply waits for the reply of a waiter.
func (s *Session) sleepUntilReply(ctx context.Context, w *waiter) (resp.Value, error) {
	ws := &s.engine.feed.waits
	s.waiter.Store(w)
	defer s.waiter.Store(nil)
	defer w.work.Budget.Rewind(0)
	ws.sleep(w)
	s.releaseNext()
	w.call.noteRead()
	if s.onWait != nil {
		here, end := s.onWait(w.call.cmd)
		defer end()
		ctx = here
	}
	late, stop := s.engine.timer(w.wait.Timeout)
	defer stop()
	select {
	case <-w.done:
	case <-late:
		w.timedOut = ws.finish(w, w.wait.TimeoutReply, nil)
	case <-ctx.Done():
		ws.finish(w, nilReply, ctx.Err())
	}
	<-w.done
	if v, is := limited(w.err); is {
		return v, nil
	}
	return w.reply, w.err
}

// timer returns a channel that receives after ms milliseconds, and a function that stops it; 0 means never.
func (e *Engine) timer(ms int64) (<-chan time.Time, func()) {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	if ms == 0 || ms > most {
		return nil, func() {}
	}
	return e.alarm(time.Duration(ms) * time.Millisecond)
}

func after(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
