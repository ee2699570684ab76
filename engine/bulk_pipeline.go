package engine

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

const (
	bulkFrom         = 1024 // minimum number of calls of a bulk
	planChunk        = 64   // calls that are planned together
	maxPlannedChunks = 4    // planned stretches that wait to run
)

// maxBlockTime limits how long the calls of a bulk or a script block other writers. After it the remaining calls run
// in another transaction.
const maxBlockTime = time.Second

// bulk runs calls in order, each on its own, in one transaction. It plans the next calls while the earlier ones
// run, and only a few stretches ahead, to bound the memory for plans. If ctx ends, read-only calls end early.
// bulk returns the replies of all calls, or only the first replies if the calls take long or fill the budget.
// The error may be errLarge for the first call.
func (e *Engine) bulk(ctx context.Context, t transactor, calls []planned, work *store.Work) ([]resp.Value, error) {
	used := work.Budget.Used()
	for {
		replies, err := e.bulkTransaction(ctx, t, calls, work)
		late, is := limited(err)
		if !is {
			return replies, err
		}
		work.Budget.Rewind(used)
		if len(replies) == 0 {
			return []resp.Value{late}, nil
		}
		calls = calls[:len(replies)] // these succeeded, and run again without the call that failed
	}
}

// bulkTransaction runs the first calls in one transaction. With an error no call took effect, and the error belongs
// to the call after the last reply.
func (e *Engine) bulkTransaction(ctx context.Context, t transactor, calls []planned, work *store.Work) (replies []resp.Value, err error) {
	reads, used := readOnly(calls), work.Budget.Used()
	var b bulkRun
	err = t.Transact(ctx, reads, panicsAsErrors(func(run Run) error {
		b = bulkRun{engine: e, calls: calls, readOnly: reads, run: run, recorded: run, work: work}
		if !reads {
			b.recorded = e.feed.recordWrites(&e.feed.current, run)
		}
		b.replies = make([]resp.Value, 0, len(calls))
		work.Budget.Rewind(used)
		b.began = time.Now()
		stop := make(chan struct{})
		stretches := e.planAhead(ctx, calls, work, stop)
		defer func() {
			close(stop)
			for range stretches { // after the channel is closed, no goroutine reads the calls
			}
		}()
		for planned := range stretches {
			if err := ctx.Err(); reads && err != nil {
				return err
			}
			if full, err := b.runPlans(planned.plans); full || err != nil {
				return err
			}
			if planned.err != nil {
				return planned.err
			}
		}
		return nil
	}))
	return b.replies, err
}

// bulkRun is the state of the calls of a bulk in one transaction.
type bulkRun struct {
	engine   *Engine
	calls    []planned
	readOnly bool
	run      Run
	recorded Run // run, with the writes recorded for the change feed
	work     *store.Work
	began    time.Time
	ran      time.Duration // end of the last call
	replies  []resp.Value
}

// runPlans runs the next calls with their plans. full reports that the remaining calls need another transaction.
func (b *bulkRun) runPlans(plans []translator.Plan) (full bool, err error) {
	for _, p := range plans {
		if len(b.replies) > 0 && b.ran > maxBlockTime {
			return true, nil
		}
		c, feed := &b.calls[len(b.replies)], &b.engine.feed
		if err := b.engine.checkLarge(b.recorded, c); errors.Is(err, errLarge) && len(b.replies) > 0 {
			return true, nil // it runs first in the next transaction
		} else if err != nil {
			return false, err
		}
		v, err := b.engine.steps(b.recorded, p, b.work)
		if err == nil && !b.readOnly {
			err = feed.serve(&feed.current, inside{feed, &feed.current, b.run})
		}
		if err != nil {
			return false, err
		}
		now := time.Since(b.began)
		c.took, b.ran = now-b.ran, now
		if b.replies = append(b.replies, v); b.work.Budget.Full() {
			return true, nil
		}
	}
	return false, nil
}

// plannedCalls holds the plans of the next calls. err is the planning error of the call after them.
type plannedCalls struct {
	plans []translator.Plan
	err   error
}

// planAhead sends the plans of calls until one fails or stop is closed. It charges a budget of its own, because
// the caller uses work at the same time.
func (e *Engine) planAhead(ctx context.Context, calls []planned, work *store.Work, stop <-chan struct{}) <-chan plannedCalls {
	stretches := make(chan plannedCalls, maxPlannedChunks)
	own := &store.Work{Check: func(began time.Time) error { return e.overdue(ctx, began) }}
	if work.Budget != nil {
		own.Budget = work.Budget.Empty()
	}
	go func() {
		defer close(stretches)
		for len(calls) > 0 {
			next := plannedCalls{plans: make([]translator.Plan, 0, min(planChunk, len(calls)))}
			for _, c := range calls[:cap(next.plans)] {
				own.Begin()
				var p translator.Plan
				err := store.Caught(func() (err error) {
					p, err = c.plan(e.env(0, own), 0)
					return err
				})
				if next.err = err; err != nil {
					break
				}
				next.plans = append(next.plans, p)
			}
			own.Budget.Rewind(0)
			calls = calls[len(next.plans):]
			select {
			case stretches <- next:
			case <-stop:
				return
			}
			if next.err != nil {
				return
			}
		}
	}()
	return stretches
}
