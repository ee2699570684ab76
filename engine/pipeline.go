package engine

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// group is a pipeline in progress. It collects single-batch plans; in a bulk, it collects unplanned calls.
type group struct {
	session *Session
	work    *store.Work // the session's
	bulk    transactor  // nil unless this is a bulk

	calls  []planned
	plans  []translator.Plan
	places []int     // indexes of the pending calls among the replies
	counts []counted // parallel to plans

	replies []resp.Value // of all calls; zero again after they were sent
	at      int          // the current call: earlier ones are pending or have their reply
	send    func([]resp.Value) error
	sent    int
}

// answer sets the reply of the current call.
func (g *group) answer(v resp.Value) {
	g.replies[g.at] = v
	if g.work.Budget != nil {
		g.work.Budget.Charge(store.Weight(&v))
	}
}

// abandon sets v as the reply of every call without one.
func (g *group) abandon(v resp.Value) {
	for _, at := range g.places {
		g.replies[at] = v
	}
	for at := g.at; at < len(g.replies); at++ {
		g.replies[at] = v
	}
	g.calls, g.plans, g.places, g.counts = g.calls[:0], g.plans[:0], g.places[:0], g.counts[:0]
}

// flush runs the pending calls, and sends the replies when the budget is full.
func (g *group) flush(ctx context.Context) error {
	for len(g.places) > 0 {
		var got []resp.Value
		var err error
		var results []store.Result
		if g.bulk != nil {
			if got, err = g.session.engine.bulk(ctx, g.bulk, g.calls, g.work); errors.Is(err, errLarge) {
				got = make([]resp.Value, 1)
				got[0], g.calls[0].took, err = g.session.engine.runStaged(ctx, g.calls[0], g.work)
			}
		} else {
			got, results, err = g.session.engine.apply(ctx, g.plans, g.work)
		}
		switch {
		case err != nil:
			return err
		case len(got) == 0:
			return errNothing
		}
		g.settle(got, results)
		if err := g.sendIfFull(); err != nil {
			return err
		}
	}
	g.calls, g.plans, g.places, g.counts = g.calls[:0], g.plans[:0], g.places[:0], g.counts[:0]
	return g.sendIfFull()
}

var errNothing = errors.New("the store applied nothing")

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
	if !g.work.Budget.Full() {
		return nil
	}
	ready := g.at
	if len(g.places) > 0 {
		ready = g.places[0]
	}
	return g.sendReplies(ready)
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
	g.work.Budget.Rewind(0)
	return err
}
