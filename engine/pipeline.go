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

// group is a pipeline in progress. It collects single-batch plans; in a bulk, it collects unplanned calls.
type group struct {
	session *Session
	options options
	bulk    transactor // nil unless calls share transactions

	calls    []planned
	plans    []translator.Plan
	places   []int     // indexes of the pending calls among the replies
	counts   []counted // parallel to plans
	answered []counted // calls answered without the store

	replies []resp.Value // of all calls; zero again after they were sent
	at      int          // the current call: earlier ones are pending or have their reply
	send    func([]resp.Value) error
	sent    int
}

var (
	errStopped    = errors.New("an error reply ended the pipeline")
	errLeavesLoop = errors.New("the loop cannot run the pipeline")
	errNothing    = errors.New("the store applied nothing")
)

// run runs calls: it checks each (Session.check), plans it (planned.plan), applies the plans together
// (group.flush) and decodes their replies (group.settle). With untilError it returns the replies so far, also
// with an error.
func (s *Session) run(ctx context.Context, calls [][][]byte, o options, send func([]resp.Value) error) ([]resp.Value, error) {
	g := &group{session: s, options: o, replies: make([]resp.Value, len(calls)), send: send}
	if o.has(untilError) || len(calls) >= bulkFrom {
		g.bulk, _ = s.engine.store.(transactor)
		g.calls, g.places = make([]planned, 0, len(calls)), make([]int, 0, len(calls))
	}
	defer s.releaseNext()
	s.limitWork(ctx)
	defer s.work.Watch(nil)
	err := s.each(store.WithWriteWait(ctx, &s.turn), calls, g)
	ready := g.ready()
	if v, is := s.panicked(err); is {
		g.abandon(v)
		ready, err = ready+1, nil
	}
	switch {
	case o.has(untilError) && err == errStopped:
		return g.replies[:ready], nil
	case o.has(untilError):
		return g.replies[:min(ready, len(calls))], err
	case err != nil:
		return nil, err
	}
	return g.replies, g.sendReplies(len(calls))
}

// each runs the calls of a group. A panic is returned as an error.
func (s *Session) each(ctx context.Context, calls [][][]byte, g *group) (err error) {
	defer store.Catch(&err)
	for i, args := range calls {
		g.at = i
		s.work.Begin()
		if err := s.one(ctx, args, g); err != nil {
			return err
		}
		g.at = i + 1
		switch full := s.work.Budget.Full(); {
		case full && g.options.has(planOnly):
			return errLeavesLoop
		case full, g.bulk == nil && g.options.has(untilError):
			if err := g.flush(ctx); err != nil {
				return err
			}
		}
		if g.options.has(untilError) && len(g.places) == 0 && g.replies[i].HasError() {
			return errStopped
		}
	}
	if g.options.has(planOnly) {
		return nil
	}
	return g.flush(ctx)
}

// one runs a call, queues it for EXEC, or adds it to the group.
func (s *Session) one(ctx context.Context, args [][]byte, g *group) error {
	c, bad := s.check(ctx, args, g.options)
	switch {
	case g.options.has(planOnly):
		if c.cmd == nil || !s.fitsLoop(c, g) {
			return errLeavesLoop
		}
		return s.data(ctx, c, g)
	case c.cmd == nil && g.options.has(untilError):
		if err := g.flush(ctx); err != nil {
			return err
		}
		fallthrough
	case c.cmd == nil:
		g.answer(s.reject(args, bad))
		return nil
	}
	if err := s.readFlags(ctx, c); err != nil {
		return err
	}
	if s.held(c) != nil {
		if err := g.flushReplies(ctx); err != nil {
			return err
		}
		if err := s.waitForPause(ctx, c); err != nil {
			return err
		}
	}
	if !translator.Translates(c.cmd) {
		if own := ownCommand(c.cmd.Name); !s.multi || own.inMulti {
			return s.oneOwn(ctx, own, c, g)
		}
	}
	if s.multi {
		g.answer(s.enqueue(c))
		return nil
	}
	s.show(c, s.db)
	if wait, waits := s.waits(c); waits {
		return s.oneBlocking(ctx, c, wait, g)
	}
	return s.data(ctx, c, g)
}

// oneOwn runs a call that acts on the session, after the calls in the group.
func (s *Session) oneOwn(ctx context.Context, own sessionCommand, c call, g *group) error {
	if err := g.flush(ctx); err != nil {
		return err
	}
	used, began := s.work.Budget.Used(), time.Now()
	v, err := s.runOwn(ctx, own, c)
	if late, is := limited(err); is {
		v, err = late, nil
	}
	s.work.Budget.Rewind(used)
	g.answer(v)
	if err == nil {
		s.ran(c, time.Since(began), &v)
	}
	return err
}

// oneBlocking runs a call that may block, after the replies to the calls in the group are sent.
func (s *Session) oneBlocking(ctx context.Context, c call, wait translator.Wait, g *group) error {
	if err := g.flushReplies(ctx); err != nil {
		return err
	}
	v, err := s.await(ctx, c, wait)
	if late, is := limited(err); is {
		v, err = late, nil
	}
	if err == nil {
		g.answer(v)
	}
	return err
}

// data runs a call that needs the store, or adds it to the group.
func (s *Session) data(ctx context.Context, c call, g *group) error {
	next, only := s.planned(c), g.options.has(planOnly)
	if !g.options.has(untilError) && s.engine.canStage(c.cmd, c.args, len(g.replies)) {
		next.options = mayStage
	}
	if s.packs {
		next.options |= packs
	}
	writes := c.cmd.Flags&commands.Write != 0
	if g.bulk != nil && !g.options.has(untilError) && len(g.replies) < bulkFrom && !writes {
		// A read-only call does not block writers.
		if err := g.flush(ctx); err != nil {
			return err
		}
		g.bulk = nil
	}
	if g.bulk != nil {
		g.calls, g.places = append(g.calls, next), append(g.places, g.at)
		return nil
	}
	var began time.Time
	if !only {
		began = time.Now()
		next.noteRead()
	}
	plan, err := next.plan(s.engine.env(0, &s.work), 0)
	if late, is := limited(err); is {
		plan, err = translator.Plan{Reply: late}, nil
	}
	if err != nil {
		return err
	}
	if plan.Expensive {
		made := plan
		next.made = &made
	}
	count := counted{call: c, at: g.at}
	if !only {
		count.took = time.Since(began)
	}
	switch {
	case len(plan.Batch.Stmts) == 0:
		g.answer(plan.Reply)
		g.answered = append(g.answered, count)
	case plan.Then == nil && (only || !next.options.has(mayStage)):
		g.plans, g.places, g.counts = append(g.plans, plan), append(g.places, g.at), append(g.counts, count)
	case only:
		return errLeavesLoop
	default:
		if err := g.flush(ctx); err != nil {
			return err
		}
		if t, can := s.engine.store.(transactor); can && writes && g.at < len(g.replies)-1 {
			// Share one transaction with the writes after it: separate ones would cost a commit each.
			g.bulk, g.calls, g.places = t, append(g.calls, next), append(g.places, g.at)
			return nil
		}
		return s.runAlone(ctx, next, g, began)
	}
	return nil
}

// runAlone runs a call of several steps, or a large one, in transactions of its own. began is when its planning
// began.
func (s *Session) runAlone(ctx context.Context, next planned, g *group, began time.Time) error {
	used := s.work.Budget.Used()
	one := []planned{next}
	v, _, err := s.engine.transaction(ctx, nil, one, &s.work)
	if errors.Is(err, errLarge) {
		s.work.Budget.Rewind(used)
		v = make([]resp.Value, 1)
		v[0], one[0].took, err = s.engine.runStaged(ctx, next, &s.work)
	}
	if late, is := limited(err); is {
		one[0].took = time.Since(began)
		v, err = []resp.Value{late}, nil
	}
	if err != nil {
		return err
	}
	s.work.Budget.Rewind(used)
	g.answer(v[0])
	s.ranAll(one, v)
	return nil
}

// answer sets the reply of the current call.
func (g *group) answer(v resp.Value) {
	g.replies[g.at] = v
	if budget := g.session.work.Budget; budget != nil {
		budget.Charge(store.Weight(&v))
	}
}

// ready returns the number of first calls that have their reply.
func (g *group) ready() int {
	if len(g.places) > 0 {
		return g.places[0]
	}
	return g.at
}

// abandon sets v as the reply of every call without one.
func (g *group) abandon(v resp.Value) {
	for _, at := range g.places {
		g.replies[at] = v
	}
	for at := g.at; at < len(g.replies); at++ {
		g.replies[at] = v
	}
	g.clear()
}

func (g *group) clear() {
	g.calls, g.plans, g.places, g.counts = g.calls[:0], g.plans[:0], g.places[:0], g.counts[:0]
}

// flush runs the pending calls, and sends the replies when the budget is full.
func (g *group) flush(ctx context.Context) error {
	g.countAnswered()
	for e := g.session.engine; len(g.places) > 0; {
		var got []resp.Value
		var err error
		var results []store.Result
		if g.bulk != nil {
			if got, err = e.inTurn(ctx, g.bulk, g.options, g.calls, &g.session.work); errors.Is(err, errLarge) {
				got = make([]resp.Value, 1)
				got[0], g.calls[0].took, err = e.runStaged(ctx, g.calls[0], &g.session.work)
			}
		} else {
			got, results, err = e.apply(ctx, g.plans, &g.session.work)
		}
		switch {
		case err != nil:
			return err
		case len(got) == 0:
			return errNothing
		}
		g.settle(got, results)
		if g.options.has(untilError) && got[len(got)-1].HasError() {
			return errStopped
		}
		if err := g.sendIfFull(); err != nil {
			return err
		}
	}
	g.clear()
	return g.sendIfFull()
}

// apply runs single-batch plans in order and returns their replies, or only the first replies once they fill
// the budget.
func (e *Engine) apply(ctx context.Context, plans []translator.Plan, work *store.Work) ([]resp.Value, []store.Result, error) {
	batches := make([]store.Batch, len(plans))
	for i := range plans {
		batches[i] = batchOf(&plans[i], work.Budget)
	}
	used := work.Budget.Used()
	release := e.lockKeys(plans)
	results, err := e.store.Apply(ctx, batches)
	release()
	if v, is := limited(err); is {
		return slices.Repeat([]resp.Value{v}, len(plans)), make([]store.Result, len(plans)), nil
	}
	if err != nil {
		return nil, nil, err
	}
	e.feed.afterApply(ctx, func(t *transaction) {
		for i := range results {
			if !batches[i].ReadOnly && results[i].Refused == nil {
				e.feed.note(t, &batches[i], &results[i])
			}
		}
	})
	replies := make([]resp.Value, len(results))
	return replies, results, e.decodeAll(replies, plans, results, work, used, false)
}

// lockKeys locks the keys of the writing plans, on a store without transactions.
func (e *Engine) lockKeys(plans []translator.Plan) (release func()) {
	if _, can := e.store.(transactor); can {
		return func() {}
	}
	var keys []string
	for i := range plans {
		if p := &plans[i]; !p.Batch.ReadOnly {
			for _, key := range p.Keys {
				keys = append(keys, queueName(key))
			}
		}
	}
	return e.queues.lock(keys, false)
}

// decodeAll decodes the results into the replies of the first plans. used is the budget's count before the rows
// were read; decodeAll replaces the rows with the replies in that count. A time limit is an error if the calls
// may run again. Otherwise decodeAll finishes the replies to committed writes, however long that takes.
func (e *Engine) decodeAll(replies []resp.Value, plans []translator.Plan, results []store.Result, work *store.Work, used int64, again bool) (err error) {
	weight, budget, check := int64(0), work.Budget, work.Check
	defer func() { work.Check = check }()
	for i := range results {
		work.Begin()
		if work.Check = check; !again && !plans[i].Batch.ReadOnly {
			work.Check = nil
		}
		if replies[i], err = e.reply(&plans[i], &results[i], work); err != nil {
			late, is := limited(err)
			if !is {
				return err
			}
			replies[i] = late
		}
		if budget != nil {
			weight += store.Weight(&replies[i])
		}
	}
	budget.Rewind(used)
	budget.Charge(weight)
	return nil
}

// countAnswered counts the calls answered without the store.
func (g *group) countAnswered() {
	for i := range g.answered {
		c := &g.answered[i]
		g.session.ran(c.call, c.took, &g.replies[c.at])
	}
	clear(g.answered)
	g.answered = g.answered[:0]
}

// settle stores the replies of the first pending calls, and counts those calls.
func (g *group) settle(got []resp.Value, results []store.Result) {
	for i, v := range got {
		g.replies[g.places[i]] = v
	}
	g.places = g.places[len(got):]
	if g.bulk != nil {
		g.session.ranAll(g.calls, got)
		g.calls = g.calls[len(got):]
		return
	}
	g.session.ranTogether(g.counts, results, got)
	g.plans, g.counts = g.plans[len(got):], g.counts[len(got):]
}

// sendIfFull sends the finished replies if the budget is full.
func (g *group) sendIfFull() error {
	if !g.session.work.Budget.Full() {
		return nil
	}
	return g.sendReplies(g.ready())
}

// flushReplies runs the calls in the group and sends their replies.
func (g *group) flushReplies(ctx context.Context) error {
	if err := g.flush(ctx); err != nil {
		return err
	}
	return g.sendReplies(g.at)
}

// sendReplies sends the replies before ready.
func (g *group) sendReplies(ready int) error {
	if g.send == nil || ready == g.sent {
		return nil
	}
	replies := g.replies[g.sent:ready]
	err := g.send(replies)
	clear(replies)
	g.sent = ready
	g.session.work.Budget.Rewind(0)
	return err
}
