package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
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
	used    int64        // bytes of the session's budget used by the replies so far
	decoded []resp.Value // decoded replies; nil before Decode
	begun   time.Time

	answered   []counted // calls answered without the store, in call order
	answeredAt []int     // their indexes among the calls

	// Reused.
	replies []resp.Value
	plans   []translator.Plan
	places  []int
	counts  []counted
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
	for i, args := range calls {
		if r.group.at = i; !s.planShared(args, r) || s.work.Budget.Full() {
			s.work.Budget.Rewind(0)
			r.end()
			return false
		}
	}
	r.group.at = len(calls)
	r.plans, r.places, r.counts = r.group.plans, r.group.places, r.group.counts
	r.used = s.work.Budget.Used()
	r.spreadPlanTime(time.Since(r.begun) / time.Duration(max(len(calls), 1)))
	return true
}

// stepsPerArg sets the steps charged to plan a call, per argument.
const stepsPerArg = 16

// planShared adds the plan of one call.
func (s *Session) planShared(args [][]byte, r *PlannedPipeline) (can bool) {
	defer func() {
		can = recover() == nil && can // Stream will panic, too
	}()
	g := &r.group
	s.work.Step(stepsPerArg * len(args))
	cmd, _ := commands.Find(args)
	switch {
	case cmd == nil || !translator.Translates(cmd) || cmd.WantsFacts || cmd.Name == "FUNCTION LOAD" || cmd.Name == "FUNCTION RESTORE":
		return false
	case s.engine.readOnly != "" && cmd.Flags&commands.Write != 0, !s.engine.skipsQuota(call{cmd, args}):
		return false
	}
	if _, refused := s.Refused(cmd, args, Asking); refused {
		return false // Stream checks again and records the refusal once
	}
	if s.held(call{cmd, args}) != nil {
		return false
	}
	if s.engine.mayStage(cmd, args, len(g.replies)) { // Stream stages it if it takes long
		if len(g.replies) > 1 {
			return false
		}
		r.part.FailIfSlow = true
	}
	if wait, waits := s.waits(call{cmd, args}); waits {
		if len(g.replies) > 1 || len(wait.Keys) == 0 || wait.ReadsFromEnd() {
			return false
		}
		r.waits = true
	}
	plan, err := s.planned(call{cmd, args}).plan(s.engine.env(0, &s.work), 0)
	switch {
	case err != nil:
		return false // Stream will return the same error
	case len(plan.Batch.Stmts) == 0:
		g.answer(plan.Reply)
		r.answered, r.answeredAt = append(r.answered, counted{call: call{cmd, args}}), append(r.answeredAt, g.at)
	case plan.Then != nil:
		return false
	default:
		r.write = r.write || !plan.Batch.ReadOnly
		g.plans, g.places = append(g.plans, plan), append(g.places, g.at)
		g.counts = append(g.counts, counted{call: call{cmd, args}})
		r.part.Batches = append(r.part.Batches, batchOf(&plan, s.work.Budget))
	}
	return true
}

func (r *PlannedPipeline) begin(s *Session, calls int) {
	if cap(r.replies) < calls {
		r.replies = make([]resp.Value, calls)
	}
	r.group = group{
		session: s, work: &s.work,
		replies: r.replies[:calls], plans: r.plans[:0], places: r.places[:0], counts: r.counts[:0],
	}
	r.begun = time.Now()
	r.part = store.Part{Batches: r.part.Batches[:0], Wait: &s.turn}
	r.write, r.waits = false, false
}

// spreadPlanTime sets the planning time of each call to an average: reading the clock for every call would cost too
// much.
func (r *PlannedPipeline) spreadPlanTime(each time.Duration) {
	for i := range r.counts {
		r.counts[i].took = each
	}
	for i := range r.answered {
		r.answered[i].took = each
	}
}

// end resets r, and keeps its slices for reuse.
func (r *PlannedPipeline) end() {
	clear(r.replies)
	clear(r.plans)
	clear(r.counts)
	clear(r.answered)
	r.answered, r.answeredAt = r.answered[:0], r.answeredAt[:0]
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

// Waits reports whether the pipeline is a blocking call that has found nothing. The caller runs it with Stream.
func (r *PlannedPipeline) Waits() bool {
	if !r.waits || !r.Whole() {
		return false
	}
	r.group.work.Watch(onLoop)
	defer r.group.work.Watch(nil)
	v, err := r.group.session.engine.reply(&r.group.plans[0], &r.part.Results[0], r.group.work)
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
func (r *PlannedPipeline) Large() bool { return r.group.work.Budget.Used() > largeReplyBytes }

// Drop resets a pipeline that the caller runs with Stream, instead of Finish.
func (r *PlannedPipeline) Drop() {
	r.group.work.Budget.Rewind(0)
	r.end()
}

// Decode decodes the replies of a whole pipeline. If that takes longer than other clients should wait, it
// returns false and has no effect; Finish then decodes them.
func (r *PlannedPipeline) Decode() bool {
	g := &r.group
	used := g.work.Budget.Used()
	g.work.Watch(onLoop)
	defer g.work.Watch(nil)
	if r.decode(true) == nil {
		return true
	}
	g.work.Budget.Rewind(used)
	r.decoded = nil
	return false
}

func (r *PlannedPipeline) decode(again bool) (err error) {
	defer store.Catch(&err)
	g := &r.group
	r.decoded = make([]resp.Value, len(r.part.Results))
	return g.session.engine.decodeAll(r.decoded, g.plans, r.part.Results, g.work, r.used, again)
}

// Finish runs the remaining batches and passes the replies to send, as Stream does.
func (r *PlannedPipeline) Finish(ctx context.Context, send func([]resp.Value) error) error {
	g := &r.group
	defer r.end()
	defer g.work.Budget.Rewind(0)
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
		defer g.work.Watch(nil)
	}
	if late, is := limited(r.part.Err); is {
		r.decoded, r.part.Results = slices.Repeat([]resp.Value{late}, len(g.plans)), make([]store.Result, len(g.plans))
	} else if r.part.Err != nil {
		return r.part.Err
	} else if r.decoded == nil {
		if err := r.decode(false); err != nil {
			return err
		}
	}
	if len(r.decoded) == 0 && len(g.plans) > 0 {
		return errNothing
	}
	for i, c := range r.answered {
		g.session.ran(c.call, c.took, &g.replies[r.answeredAt[i]])
	}
	g.settle(r.decoded, r.part.Results)
	if err := g.sendIfFull(); err != nil {
		return err
	}
	if err := g.flush(ctx); err != nil {
		return err
	}
	return g.sendReplies(len(g.replies))
}
