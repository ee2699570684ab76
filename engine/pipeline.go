package engine

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// group is a pipeline on its way. It collects plans of one batch each; in a bulk, calls
// that are not planned yet.
type group struct {
	session *Session
	work    *store.Work // the session's
	bulk    transactor  // nil unless this is one

	calls  []planned
	plans  []translator.Plan
	places []int     // of what waits, among the replies
	counts []counted // of plans

	replies []resp.Value // of all calls, those that were handed over zero again
	at      int          // the call at hand: those before it wait or have their reply
	send    func([]resp.Value) error
	sent    int
}

// answer is the reply of the call at hand.
func (g *group) answer(v resp.Value) {
	g.replies[g.at] = v
	if g.work.Budget != nil {
		g.work.Budget.Keep(store.Weight(&v))
	}
}

// abandon makes v the reply of every call that has none.
func (g *group) abandon(v resp.Value) {
	for _, at := range g.places {
		g.replies[at] = v
	}
	for at := g.at; at < len(g.replies); at++ {
		g.replies[at] = v
	}
	g.calls, g.plans, g.places, g.counts = g.calls[:0], g.plans[:0], g.places[:0], g.counts[:0]
}

// flush runs what waits, and hands the replies over when the budget is full.
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
		if err := g.handFull(); err != nil {
			return err
		}
	}
	g.calls, g.plans, g.places, g.counts = g.calls[:0], g.plans[:0], g.places[:0], g.counts[:0]
	return g.handFull()
}

var errNothing = errors.New("the store applied nothing")

// settle takes the replies of the first that wait, and counts those calls.
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

// handFull hands over what there is when that is enough.
func (g *group) handFull() error {
	if !g.work.Budget.Full() {
		return nil
	}
	ready := g.at
	if len(g.places) > 0 {
		ready = g.places[0]
	}
	return g.hand(ready)
}

// hand hands over the replies before ready.
func (g *group) hand(ready int) error {
	if g.send == nil || ready == g.sent {
		return nil
	}
	replies := g.replies[g.sent:ready]
	err := g.send(replies)
	clear(replies)
	g.sent = ready
	g.work.Budget.Back(0)
	return err
}
