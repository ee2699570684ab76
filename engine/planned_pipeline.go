package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// groupStore is a store that applies the calls of several clients together, at a lower cost than one by one.
type groupStore interface {
	// ApplyGroup applies the parts, which are either all read-only or all writes. It calls took with the index
	// of each finished part; for long writes it does so from other goroutines, possibly after it has returned. A
	// read-only part that takes long fails with store.ErrLong. ApplyGroup returns the number of parts it has
	// begun, at least one; the caller passes the remaining parts again.
	ApplyGroup(parts []*store.Part, took func(int)) (began int)
}

// PlannedPipeline is a planned pipeline of one session, whose batches are applied together with the batches of
// other sessions. It can be reused after Finish.
type PlannedPipeline struct {
	group   group
	part    store.Part
	write   bool
	waits   bool         // a single call that may block
	tried   bool         // enterIfNull has seen its reply
	waiter  *waiter      // set if it has found nothing, in its transaction
	used    int64        // bytes of the session's budget used by the replies so far
	decoded []resp.Value // decoded replies; nil before Decode
	begun   time.Time

	// Reused.
	replies  []resp.Value
	plans    []translator.Plan
	places   []int
	counts   []counted
	answered []counted
}

// CanShare reports whether the engine's store applies groups.
func (e *Engine) CanShare() bool {
	_, can := e.store.(groupStore)
	return can
}

// Plan plans calls into r, as Stream would run them, and reports whether it can. A bulk, an open transaction, a
// call that fails before its planning, and a call of several batches need Stream; then Plan has had no effect.
func (s *Session) Plan(calls [][][]byte, r *PlannedPipeline) bool {
	if s.multi || len(calls) >= bulkFrom || s.engine.hub.Watched() {
		return false
	}
	r.begin(s, len(calls))
	s.work.Watch(onLoop)
	defer s.work.Watch(nil)
	if s.each(context.Background(), calls, &r.group) != nil { // Stream will return the same error
		s.work.Budget.Rewind(0)
		r.end()
		return false
	}
	g := &r.group
	g.options = 0
	r.plans, r.places, r.counts, r.answered = g.plans, g.places, g.counts, g.answered
	for i := range g.plans {
		r.write = r.write || !g.plans[i].Batch.ReadOnly
		r.part.Batches = append(r.part.Batches, batchOf(&g.plans[i], s.work.Budget))
	}
	if len(calls) == 1 && len(g.counts) == 1 {
		c := g.counts[0].call
		r.part.FailIfSlow = s.engine.canStage(c.cmd, c.args, 1) // Stream stages it if it takes long
		var wait translator.Wait
		if wait, r.waits = s.waits(c); r.waits && r.write {
			r.part.Ran = func(res *store.Result) { r.enterIfNull(c, wait, res) }
		}
	}
	r.used = s.work.Budget.Used()
	r.spreadPlanTime(time.Since(r.begun) / time.Duration(max(len(calls), 1)))
	return true
}

// stepsPerArg sets the steps charged to plan a call on the loop, per argument.
const stepsPerArg = 16

// fitsLoop reports whether the loop can run a call: it needs only the store, and waits at most for its reply.
func (s *Session) fitsLoop(c call, g *group) bool {
	if !translator.Translates(c.cmd) || c.cmd.WantsFacts || c.cmd.Name == "FUNCTION LOAD" || c.cmd.Name == "FUNCTION RESTORE" {
		return false
	}
	if s.held(c) != nil || len(g.replies) > 1 && s.engine.canStage(c.cmd, c.args, len(g.replies)) {
		return false
	}
	wait, waits := s.waits(c)
	return !waits || len(g.replies) == 1 && len(wait.Keys) > 0 && !wait.ReadsFromEnd()
}

func (r *PlannedPipeline) begin(s *Session, calls int) {
	if cap(r.replies) < calls {
		r.replies = make([]resp.Value, calls)
	}
	r.group = group{
		session: s, options: planOnly,
		replies: r.replies[:calls], plans: r.plans[:0], places: r.places[:0], counts: r.counts[:0], answered: r.answered[:0],
	}
	r.begun = time.Now()
	r.part = store.Part{Batches: r.part.Batches[:0], Wait: &s.turn}
	r.write, r.waits, r.tried = false, false, false
}

// enterIfNull makes the client wait for its keys if its call has found nothing. It runs inside the transaction of
// the call, so no change can come between.
func (r *PlannedPipeline) enterIfNull(c call, wait translator.Wait, res *store.Result) {
	s, f := r.group.session, &r.group.session.engine.feed
	used := s.work.Budget.Used()
	v, err := s.engine.reply(&r.group.plans[0], res, &s.work)
	s.work.Budget.Rewind(used)
	if r.tried, r.waiter = err == nil, nil; err == nil && v.IsNull() {
		r.waiter = f.waits.enter(s, s.planned(c), wait, idle)
		f.current.entered = append(f.current.entered, r.waiter)
		s.waiter.Store(r.waiter)
	}
}

// spreadPlanTime sets the planning time of each call to an average: reading the clock for every call would cost too
// much.
func (r *PlannedPipeline) spreadPlanTime(each time.Duration) {
	for i := range r.counts {
		r.counts[i].took = each
	}
	for i := range r.group.answered {
		r.group.answered[i].took = each
	}
}

// end resets r, and keeps its slices for reuse.
func (r *PlannedPipeline) end() {
	r.part.Ran = nil
	if r.waiter != nil {
		r.group.session.engine.feed.waits.finish(r.waiter, nilReply, nil)
		r.group.session.waiter.Store(nil)
		r.waiter = nil
	}
	clear(r.replies)
	clear(r.plans)
	clear(r.counts)
	clear(r.answered)
	clear(r.part.Batches)
	r.part.Results, r.group, r.decoded = nil, group{}, nil
}

// Empty reports whether no call needs the store.
func (r *PlannedPipeline) Empty() bool { return len(r.part.Batches) == 0 }

// Writes reports whether any call writes.
func (r *PlannedPipeline) Writes() bool { return r.write }

// ApplyGroup applies non-empty pipelines that are either all read-only or all writes. It calls took with the
// index of each pipeline that is ready for Finish; for long writes it does so from other goroutines, possibly
// after it has returned. It returns the number of pipelines it has begun, at least one; the caller passes the
// remaining ones again.
func (e *Engine) ApplyGroup(rounds []*PlannedPipeline, took func(int)) (began int) {
	parts := make([]*store.Part, len(rounds))
	for i, r := range rounds {
		parts[i] = &r.part
	}
	return e.store.(groupStore).ApplyGroup(parts, took)
}

// Long reports whether the pipeline takes too long for a group: it reads, or may be staged. The caller runs it
// with Stream.
func (r *PlannedPipeline) Long() bool { return errors.Is(r.part.Err, store.ErrLong) }

// Waits reports whether the pipeline is a blocking call that has found nothing and does not wait yet, because it
// only reads. The caller runs it with Stream.
func (r *PlannedPipeline) Waits() bool {
	if !r.waits || r.tried || !r.Whole() {
		return false
	}
	s := r.group.session
	s.work.Watch(onLoop)
	defer s.work.Watch(nil)
	v, err := s.engine.reply(&r.group.plans[0], &r.part.Results[0], &s.work)
	return err == nil && v.IsNull()
}

// Whole reports whether every batch has run, so that Finish does not wait.
func (r *PlannedPipeline) Whole() bool {
	return r.part.Err == nil && len(r.part.Results) == len(r.part.Batches)
}

// largeReplyBytes sets the bytes of rows that make replies large.
const largeReplyBytes = 1 << 20

// Large reports whether the replies are so large that the caller should wait for the client while it sends
// them.
func (r *PlannedPipeline) Large() bool { return r.group.session.work.Budget.Used() > largeReplyBytes }

// Drop resets a pipeline that the caller runs with Stream, instead of Finish.
func (r *PlannedPipeline) Drop() {
	r.group.session.work.Budget.Rewind(0)
	r.end()
}

// Decode decodes the replies of a whole pipeline. If that takes longer than other clients should wait, or if a
// call has blocked, it returns false and has no effect; Finish then decodes them.
func (r *PlannedPipeline) Decode() bool {
	if r.waiter != nil {
		return false
	}
	g := &r.group
	used := g.session.work.Budget.Used()
	g.session.work.Watch(onLoop)
	defer g.session.work.Watch(nil)
	if r.decode(true) == nil {
		return true
	}
	g.session.work.Budget.Rewind(used)
	r.decoded = nil
	return false
}

func (r *PlannedPipeline) decode(again bool) (err error) {
	defer store.Catch(&err)
	g := &r.group
	r.decoded = make([]resp.Value, len(r.part.Results))
	return g.session.engine.decodeAll(r.decoded, g.plans, r.part.Results, &g.session.work, r.used, again)
}

// Finish runs the remaining batches and passes the replies to send, as Stream does.
func (r *PlannedPipeline) Finish(ctx context.Context, send func([]resp.Value) error) error {
	g := &r.group
	defer r.end()
	defer g.session.work.Budget.Rewind(0)
	err := r.finish(ctx, send)
	if v, is := g.session.panicked(err); is {
		g.abandon(v)
		return g.sendReplies(len(g.replies))
	}
	return err
}

func (r *PlannedPipeline) finish(ctx context.Context, send func([]resp.Value) error) (err error) {
	defer store.Catch(&err)
	g := &r.group
	g.send = send
	if r.decoded == nil {
		g.session.limitWork(ctx)
		defer g.session.work.Watch(nil)
	}
	if late, is := limited(r.part.Err); is {
		r.decoded, r.part.Results = slices.Repeat([]resp.Value{late}, len(g.plans)), make([]store.Result, len(g.plans))
	} else if r.part.Err != nil {
		return r.part.Err
	} else if r.waiter != nil {
		return r.finishWaiting(ctx)
	} else if r.decoded == nil {
		if err := r.decode(false); err != nil {
			return err
		}
	}
	if len(r.decoded) == 0 && len(g.plans) > 0 {
		return errNothing
	}
	g.countAnswered()
	g.settle(r.decoded, r.part.Results)
	if err := g.sendIfFull(); err != nil {
		return err
	}
	if err := g.flush(ctx); err != nil {
		return err
	}
	return g.sendReplies(len(g.replies))
}

// finishWaiting waits for the reply of a blocked call, and passes it to send.
func (r *PlannedPipeline) finishWaiting(ctx context.Context) error {
	g, w, c := &r.group, r.waiter, r.group.counts[0]
	g.session.engine.feed.waits.watch(w)
	v, err := g.session.sleepUntilReply(ctx, w)
	if err != nil {
		return err
	}
	g.replies[0], g.places = v, g.places[:0]
	g.session.waited(c.call, w, c.took+r.part.Results[0].Took+w.took, &v)
	return g.sendReplies(1)
}
