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

// shared is a store that applies what several clients ask in one visit, which costs less
// than one for each.
type shared interface {
	// ApplyGroup applies the parts, which all only read, or none of them, and calls took
	// for each by its index when it is done; for writes that take long, from other goroutines and
	// later. Parts that read and take long are store.ErrLong. It returns how many it has begun,
	// at least one: the others are to be handed in again.
	ApplyGroup(parts []*store.Part, took func(int)) (began int)
}

// PlannedPipeline is a pipeline of one session, planned, whose batches are applied together with
// those of others. It may be used again after Finish.
type PlannedPipeline struct {
	group group
	part  store.Part
	write bool
	waits bool         // it is one call that may have to wait
	used  int64        // of the session's budget, by the replies that are there already
	got   []resp.Value // once they are made; nil before
	begun time.Time

	answered []counted // calls that need no store, in the order of calls
	at       []int     // their places

	// Reused.
	replies []resp.Value
	plans   []translator.Plan
	places  []int
	counts  []counted
}

// CanShare reports whether the engine's store takes rounds.
func (e *Engine) CanShare() bool {
	_, can := e.store.(shared)
	return can
}

// Plan makes a round of calls, as Stream would run them. It reports whether that can be:
// calls that fail before they are planned or need more than a batch each, those in a transaction that
// is open, and a bulk are for Stream, and nothing of them has happened yet.
func (s *Session) Plan(calls [][][]byte, r *PlannedPipeline) bool {
	if s.multi || len(calls) >= bulkFrom || s.engine.hub.Watched() {
		return false
	}
	r.begin(s, len(calls))
	s.work.Watch(onLoop)
	defer s.work.Watch(nil)
	for i, args := range calls {
		if r.group.at = i; !s.share(args, r) || s.work.Budget.Full() {
			s.work.Budget.Back(0)
			r.end()
			return false
		}
	}
	r.group.at = len(calls)
	r.plans, r.places, r.counts = r.group.plans, r.group.places, r.group.counts
	r.used = s.work.Budget.Used()
	r.spread(time.Since(r.begun) / time.Duration(max(len(calls), 1)))
	return true
}

// stepsPerArg is what it takes to plan a call, for each of its arguments.
const stepsPerArg = 16

// share plans one call of a round.
func (s *Session) share(args [][]byte, r *PlannedPipeline) (can bool) {
	defer func() {
		can = recover() == nil && can // Stream meets the same panic
	}()
	g := &r.group
	s.work.Step(stepsPerArg * len(args))
	cmd, _ := commands.Find(args)
	switch {
	case cmd == nil || !translator.Translates(cmd) || cmd.WantsFacts || cmd.Name == "FUNCTION LOAD" || cmd.Name == "FUNCTION RESTORE":
		return false
	case s.engine.readOnly != "" && cmd.Flags&commands.Write != 0, !s.engine.sureOfRoom(call{cmd, args}):
		return false
	}
	if _, refused := s.Refused(cmd, args, Asking); refused {
		return false // Stream asks again, and the refusal is recorded once
	}
	if s.held(call{cmd, args}) != nil {
		return false
	}
	if s.engine.mayStage(cmd, args, len(g.replies)) { // Stream carries it out aside when it takes long
		if len(g.replies) > 1 {
			return false
		}
		r.part.Brief = true
	}
	if wait, waits := s.waits(call{cmd, args}); waits {
		if len(g.replies) > 1 || len(wait.Keys) == 0 || wait.Ends() {
			return false
		}
		r.waits = true
	}
	plan, err := s.planned(call{cmd, args}).plan(s.engine.env(0, &s.work), 0)
	switch {
	case err != nil:
		return false // Stream meets the same error
	case len(plan.Batch.Stmts) == 0:
		g.answer(plan.Reply)
		r.answered, r.at = append(r.answered, counted{call: call{cmd, args}}), append(r.at, g.at)
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
	r.part = store.Part{Batches: r.part.Batches[:0], Turn: &s.turn}
	r.write, r.waits = false, false
}

// spread says how long each call took to plan: a reading of the clock for each would be too much.
func (r *PlannedPipeline) spread(each time.Duration) {
	for i := range r.counts {
		r.counts[i].took = each
	}
	for i := range r.answered {
		r.answered[i].took = each
	}
}

// end forgets what the round was about, and keeps the room for it.
func (r *PlannedPipeline) end() {
	clear(r.replies)
	clear(r.plans)
	clear(r.counts)
	clear(r.answered)
	r.answered, r.at = r.answered[:0], r.at[:0]
	clear(r.part.Batches)
	r.part.Results, r.group, r.got = nil, group{}, nil
}

// Empty reports whether the round needs no store.
func (r *PlannedPipeline) Empty() bool { return len(r.part.Batches) == 0 }

// Writes reports whether any of its calls writes.
func (r *PlannedPipeline) Writes() bool { return r.write }

// ApplyGroup applies rounds that all only read, or none of them, and that are not empty. It calls
// took with the index of each that is ready to be finished; for writes that take long, from other
// goroutines and after it has returned. It returns how many it has begun, at least one: the others
// are to be handed in again.
func (e *Engine) ApplyGroup(rounds []*PlannedPipeline, took func(int)) (began int) {
	parts := make([]*store.Part, len(rounds))
	for i, r := range rounds {
		parts[i] = &r.part
	}
	return e.store.(shared).ApplyGroup(parts, took)
}

// Long reports whether the round reads, or may be carried out aside, and takes long: it is to be run by Stream.
func (r *PlannedPipeline) Long() bool { return errors.Is(r.part.Err, store.ErrLong) }

// Waits reports whether the round is a call that has found nothing: it is to be run by Stream.
func (r *PlannedPipeline) Waits() bool {
	if !r.waits || !r.Whole() {
		return false
	}
	r.group.work.Watch(onLoop)
	defer r.group.work.Watch(nil)
	v, err := r.group.session.engine.reply(&r.group.plans[0], &r.part.Results[0], r.group.work)
	return err == nil && v.IsNull()
}

// Whole reports whether all of the round has run, so that Finish does not wait.
func (r *PlannedPipeline) Whole() bool {
	return r.part.Err == nil && len(r.part.Results) == len(r.part.Batches)
}

// largeRound is the size of rows whose replies are made and sent while no other client waits.
const largeRound = 1 << 20

// Large reports whether the replies are so large that the client should be waited for while they are sent.
func (r *PlannedPipeline) Large() bool { return r.group.work.Budget.Used() > largeRound }

// Drop is in place of Finish, for what is to be run otherwise.
func (r *PlannedPipeline) Drop() {
	r.group.work.Budget.Back(0)
	r.end()
}

// Decode makes the replies of a whole round. It reports false, and has done nothing, when that takes longer than
// other clients should wait: Finish makes them, too.
func (r *PlannedPipeline) Decode() bool {
	g := &r.group
	used := g.work.Budget.Used()
	g.work.Watch(onLoop)
	defer g.work.Watch(nil)
	if r.decode(true) == nil {
		return true
	}
	g.work.Budget.Back(used)
	r.got = nil
	return false
}

func (r *PlannedPipeline) decode(again bool) (err error) {
	defer store.Catch(&err)
	g := &r.group
	r.got = make([]resp.Value, len(r.part.Results))
	return g.session.engine.decodeAll(r.got, g.plans, r.part.Results, g.work, r.used, again)
}

// Finish hands the replies over as Stream does, after it has run what is left.
func (r *PlannedPipeline) Finish(ctx context.Context, send func([]resp.Value) error) error {
	g := &r.group
	defer r.end()
	defer g.work.Budget.Back(0)
	err := r.finish(ctx, send)
	if v, is := g.session.panicked(err); is {
		g.abandon(v)
		return g.hand(len(g.replies))
	}
	return err
}

func (r *PlannedPipeline) finish(ctx context.Context, send func([]resp.Value) error) (err error) {
	defer store.Catch(&err)
	g := &r.group
	g.send = send
	if r.got == nil {
		g.session.until(ctx)
		defer g.work.Watch(nil)
	}
	if late, is := limited(r.part.Err); is {
		r.got, r.part.Results = slices.Repeat([]resp.Value{late}, len(g.plans)), make([]store.Result, len(g.plans))
	} else if r.part.Err != nil {
		return r.part.Err
	} else if r.got == nil {
		if err := r.decode(false); err != nil {
			return err
		}
	}
	if len(r.got) == 0 && len(g.plans) > 0 {
		return errNothing
	}
	for i, c := range r.answered {
		g.session.ran(c.call, c.took, &g.replies[r.at[i]])
	}
	g.settle(r.got, r.part.Results)
	if err := g.handFull(); err != nil {
		return err
	}
	if err := g.flush(ctx); err != nil {
		return err
	}
	return g.hand(len(g.replies))
}
