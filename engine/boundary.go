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

// The boundary is where a command meets its limits, wherever it runs. Code that computes for a command
// charges a store.Work, which panics when a limit is reached. Code that has a defect panics, too. No such
// panic leaves the engine:
//
//   - A plan, a decoder and a step recover their own. A memory limit is the reply of that command
//     alone, unless it has written inside a transaction. A damaged file is, too.
//   - The function of a transaction returns any other panic as an error, so that the store rolls back.
//   - Whatever computes for long ends with its time or its client, and leaves no trace. Until it has committed,
//     that is: replies to what has been written are made to their end.
//   - Session.run and Round.Finish turn the error into replies, report it and mark the session Broken:
//     its connection is to be closed.

var damaged = resp.MakeError("ERR the database is damaged: what it holds of this key does not fit together; meowdis doctor says more")

// panicReply is the reply to a command that panicked.
func panicReply(p *store.Panic) resp.Value {
	why := strings.NewReplacer("\r", " ", "\n", " ").Replace(fmt.Sprint(p.Value))
	return resp.MakeError("ERR internal error: " + why + "; the command was rolled back; report this at https://github.com/meowdis/meowdis/issues")
}

// SetReport sets what receives panics: of commands, and of the engine's own goroutines. It is for the time
// before the first session.
func (e *Engine) SetReport(report func(*store.Panic)) { e.report = report }

// reported reports err if it is a panic, and returns the panic.
func (e *Engine) reported(err error) *store.Panic {
	if err == nil {
		return nil // without the allocation of p
	}
	var p *store.Panic
	if errors.As(err, &p) && e.report != nil {
		e.report(p)
	}
	return p
}

// limited returns the reply to a command that has reached a limit of memory or time, if err is that of one.
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

// catchLimit is for a function to defer that does nothing but compute. It recovers a panic: a memory limit
// as the reply v, and anything else as err.
func catchLimit(v *resp.Value, err *error) {
	if fault := recover(); fault != nil {
		*v, *err = settle(store.Recovered(fault))
	}
}

// settle is a memory limit as a reply, and anything else as the error that it is.
func settle(err error) (resp.Value, error) {
	if full, is := err.(*store.Exceeded); is && full.Reply.IsError() {
		return full.Reply, nil
	}
	return resp.Value{}, err
}

// decode shapes the reply of a plan's rows. A limit of memory is an error once the plan has written.
func (e *Engine) decode(p *translator.Plan, r *store.Result, work *store.Work) (v resp.Value, err error) {
	defer e.catchDamage(&v, &err, p.Batch.ReadOnly)
	if e.hook != nil {
		e.hook()
	}
	r.Work = work
	return p.Decode(r), nil
}

// following is the plan after a step, which has only read.
func (e *Engine) following(p *translator.Plan, r *store.Result, work *store.Work) (next translator.Plan, err error) {
	defer e.catchDamage(&next.Reply, &err, true)
	if e.hook != nil {
		e.hook()
	}
	r.Work = work
	made := p.Then(r)
	made.Keys, made.Batch.Of = p.Keys, p.Batch.Of
	return made, nil
}

// catchDamage is catchLimit for a function over rows: for a panic that a missing row or cell can cause, the
// reply says that the file is damaged.
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
		*v, *err = settle(*err)
	}
}

// guarded is fn, whose panics are errors, so that a transaction of it is rolled back.
func guarded(fn func(Run) error) func(Run) error {
	return func(run Run) (err error) {
		defer store.Catch(&err)
		return fn(run)
	}
}

// until has the session's work end when ctx does, or when a call takes longer than one may.
func (s *Session) until(ctx context.Context) {
	if s.check == nil {
		s.check = func(began time.Time) error { return s.engine.overdue(s.during, began) }
	}
	s.during = ctx
	s.work.Watch(s.check)
}

// overdue returns an error when ctx has ended, or a call that began then has taken longer than one may.
func (e *Engine) overdue(ctx context.Context, began time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if limit := time.Duration(e.timeLimit.Load()); limit > 0 && time.Since(began) > limit {
		return &store.TooLong{Limit: limit}
	}
	return nil
}

// onLoop is the check of what other clients wait for. As many steps as are between two checks take a part of
// a millisecond: what takes more is for a goroutine.
func onLoop(time.Time) error { return store.ErrLong }

// Broken reports whether a command of the session has panicked: its connection is to be closed.
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

// contained calls fn for a command that runs alone, and makes a panic its reply.
func (s *Session) contained(fn func() (resp.Value, error)) (v resp.Value, err error) {
	v, err = func() (v resp.Value, err error) {
		defer store.Catch(&err)
		return fn()
	}()
	if reply, is := s.panicked(err); is {
		return reply, nil
	}
	return v, err
}
