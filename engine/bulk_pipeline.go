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
	bulkFrom = 1024 // calls in a pipeline that is a bulk
	stretch  = 64   // calls that are planned at a time
	ahead    = 4    // stretches that are planned and have not run yet
)

// piece is how long the calls of a bulk or a script keep others from writing: then the
// rest of them goes on in another transaction.
const piece = time.Second

// bulk runs calls in order, each on its own, in one transaction. They are planned
// while those before them run, and only so far ahead that the plans of few are in
// memory. Calls that only read end early when ctx does. It returns the replies of all,
// or of the first ones, when those take long or the budget is full with them. The first one of all may
// be errLarge.
func (e *Engine) bulk(ctx context.Context, t transactor, calls []planned, work *store.Work) ([]resp.Value, error) {
	used := work.Budget.Used()
	for {
		replies, err := e.bulkPiece(ctx, t, calls, work)
		late, is := limited(err)
		if !is {
			return replies, err
		}
		work.Budget.Back(used)
		if len(replies) == 0 {
			return []resp.Value{late}, nil
		}
		calls = calls[:len(replies)] // which are not at fault, and run again without the one that is
	}
}

// bulkPiece runs the first of the calls in one transaction. With an error none took
// effect, and it is that of the one after those with a reply.
func (e *Engine) bulkPiece(ctx context.Context, t transactor, calls []planned, work *store.Work) (replies []resp.Value, err error) {
	reads, used := readOnly(calls), work.Budget.Used()
	err = t.Transact(ctx, reads, guarded(func(run Run) error {
		each := run
		if !reads {
			run = e.feed.spied(&e.feed.current, run)
		}
		replies = make([]resp.Value, 0, len(calls))
		work.Budget.Back(used)
		began, ran := time.Now(), time.Duration(0) // ran is when the last call was done
		stop := make(chan struct{})
		stretches := e.planAhead(ctx, calls, work, stop)
		defer func() {
			close(stop)
			for range stretches { // the calls are not read any more when it is closed
			}
		}()
		for planned := range stretches {
			if err := ctx.Err(); reads && err != nil {
				return err
			}
			for _, p := range planned.plans {
				if len(replies) > 0 && ran > piece {
					return nil
				}
				if err := e.notLarge(run, &calls[len(replies)]); errors.Is(err, errLarge) && len(replies) > 0 {
					return nil // it is the first one the next time
				} else if err != nil {
					return err
				}
				v, err := e.steps(run, p, work)
				if err == nil && !reads {
					err = e.feed.serve(&e.feed.current, inside{&e.feed, &e.feed.current, each})
				}
				if err != nil {
					return err
				}
				now := time.Since(began)
				calls[len(replies)].took, ran = now-ran, now
				if replies = append(replies, v); work.Budget.Full() {
					return nil
				}
			}
			if planned.err != nil {
				return planned.err
			}
		}
		return nil
	}))
	return replies, err
}

// plannedCalls are the plans of the next calls, up to the one that could not be planned.
type plannedCalls struct {
	plans []translator.Plan
	err   error
}

// planAhead sends the plans of calls, until one fails or stop is closed. It charges a budget of its own,
// since work is the caller's meanwhile.
func (e *Engine) planAhead(ctx context.Context, calls []planned, work *store.Work, stop <-chan struct{}) <-chan plannedCalls {
	stretches := make(chan plannedCalls, ahead)
	own := &store.Work{Check: func(began time.Time) error { return e.overdue(ctx, began) }}
	if work.Budget != nil {
		own.Budget = work.Budget.Another()
	}
	go func() {
		defer close(stretches)
		for len(calls) > 0 {
			next := plannedCalls{plans: make([]translator.Plan, 0, min(stretch, len(calls)))}
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
			own.Budget.Back(0)
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
