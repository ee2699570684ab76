package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// The boundary enforces the limits of a command, on every path. Code that computes for a command charges a
// store.Work, which panics when a limit is reached. A defect panics, too. No such panic leaves the engine:
//
//  - Plans, decoders and steps recover their own panics. A memory limit becomes the reply of that command
//    alone, unless the command has already written in a transaction. So does a damaged file.
//  - The function of a transaction returns any other panic as an error, so that the store rolls back.
//  - A long computation ends with its time limit or its client, and leaves no trace. After the commit,
//    though, the replies to committed writes are always completed.
//  - Session.run and PlannedPipeline.Finish turn the error into replies, report it and mark the session
//    Broken: its connection must be closed.

var damaged = resp.MakeError("ERR the database is damaged: the rows of this key are inconsistent; run meowdis doctor")

// panicReply returns the reply to a command that panicked.
func panicReply(p *store.Panic) resp.Value {
	why := strings.NewReplacer("\r", " ", "\n", " ").Replace(fmt.Sprint(p.Value))
	return resp.MakeError("ERR internal error: " + why + "; the command was rolled back; report this at https://github.com/meowdis/meowdis/issues")
}

// SetReport sets the function that receives panics of commands and of the engine's own goroutines. Call it
// before the first session starts.
func (e *Engine) SetReport(report func(*store.Panic)) { e.report = report }

// reported reports err if it is a panic, and returns the panic.
func (e *Engine) reported(err error) *store.Panic {
	if err == nil {
		return nil // avoids the allocation of p
	}
	var p *store.Panic
	if errors.As(err, &p) && e.report != nil {
		e.report(p)
	}
	return p
}

// limited returns the reply to a command that has reached a limit of memory or time, if err is such a limit.
func limited(err error) (v resp.Value, is bool) {
	if err == nil {
		return v, false
	}
	var full *store.Exceeded
	if errors.As(err, &full) && full.Reply.IsError() {
		return full.Reply, true
	}
	return tooLong(err)
}

// catchLimit is deferred by functions that only compute. It recovers a panic: a memory limit as the reply v,
// anything else as err.
func catchLimit(v *resp.Value, err *error) {
	if fault := recover(); fault != nil {
		*v, *err = limitReply(store.Recovered(fault))
	}
}

// limitReply returns a memory limit as a reply, and any other error unchanged.
func limitReply(err error) (resp.Value, error) {
	if full, is := err.(*store.Exceeded); is && full.Reply.IsError() {
		return full.Reply, nil
	}
	return resp.Value{}, err
}

// decode builds the reply from a plan's rows. A memory limit is an error if the plan has written.
func (e *Engine) decode(p *translator.Plan, r *store.Result, work *store.Work) (v resp.Value, err error) {
	defer e.catchDamage(&v, &err, p.Batch.ReadOnly)
	if e.hook != nil {
		e.hook()
	}
	r.Work = work
	if p.Batch.ReadOnly {
		work.Grow(replyMemory(r))
	}
	return p.Decode(r), nil
}

// replyMemory estimates the bytes of a reply with a value for each cell of the rows. Its strings are the rows'.
func replyMemory(r *store.Result) (n int64) {
	for _, rows := range r.Rows {
		if len(rows) > 0 {
			n += int64(len(rows)*len(rows[0])) * store.ValueBytes
		}
	}
	return n
}

// nextPlan returns the plan after a step that has only read.
func (e *Engine) nextPlan(p *translator.Plan, r *store.Result, work *store.Work) (next translator.Plan, err error) {
	defer e.catchDamage(&next.Reply, &err, true)
	if e.hook != nil {
		e.hook()
	}
	r.Work = work
	made := p.Then(r)
	if made.Keys == nil {
		made.Keys = p.Keys
	}
	made.Batch.Origin = p.Batch.Origin
	return made, nil
}

// catchDamage does the same as catchLimit for a function over rows. If a missing row or cell can have caused
// the panic, the reply reports a damaged file.
func (e *Engine) catchDamage(v *resp.Value, err *error, onlyRead bool) {
	fault := recover()
	if fault == nil {
		return
	}
	*err = store.Recovered(fault)
	switch cause, is := fault.(runtime.Error); {
	case is && strings.Contains(cause.Error(), "out of range"):
		e.reported(*err)
		*v, *err = damaged, nil
	case onlyRead:
		*v, *err = limitReply(*err)
	}
}

// panicsAsErrors wraps fn so that its panics are errors, which roll its transaction back.
func panicsAsErrors(fn func(Run) error) func(Run) error {
	return func(run Run) (err error) {
		defer store.Catch(&err)
		return fn(run)
	}
}

// limitWork ends the session's work when ctx ends, or when a call exceeds the time limit.
func (s *Session) limitWork(ctx context.Context) {
	if s.timeCheck == nil {
		s.timeCheck = func(began time.Time) error { return s.engine.overdue(s.workContext, began, &s.turn) }
	}
	s.workContext = ctx
	s.work.Watch(s.timeCheck)
}

// overdue returns an error if ctx has ended, or if a call that began then exceeds the time limit.
func (e *Engine) overdue(ctx context.Context, began time.Time, turn *store.WriteWait) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if limit := time.Duration(e.timeLimit.Load()); limit > 0 && turn.HasTimeLimit() && time.Since(began) > limit {
		return &store.TooLong{Limit: limit}
	}
	return nil
}

// onLoop serves as Work.Check on the server's loop, where other clients wait. The steps between two checks take
// a fraction of a millisecond: a longer call moves to a goroutine.
func onLoop(time.Time) error { return store.ErrLong }

// Broken reports whether a command of the session has panicked. The caller must close its connection.
func (s *Session) Broken() bool { return s.broken }

// panicked reports err if it is a panic, marks the session, and returns the reply.
func (s *Session) panicked(err error) (v resp.Value, is bool) {
	p := s.engine.reported(err)
	if p == nil {
		return v, false
	}
	s.broken = true
	return panicReply(p), true
}

// catchPanics calls fn for a command that runs alone. If fn panics, the panic is the reply.
func (s *Session) catchPanics(fn func() (resp.Value, error)) (v resp.Value, err error) {
	v, err = func() (v resp.Value, err error) {
		defer store.Catch(&err)
		return fn()
	}()
	if reply, is := s.panicked(err); is {
		return reply, nil
	}
	return v, err
}
