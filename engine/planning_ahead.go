package engine

import (
	"context"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

const (
	bulkFrom         = 1024 // minimum number of calls of a bulk, which is planned ahead
	planChunk        = 256  // calls that are planned together
	maxPlannedChunks = 4    // chunks that wait to run, which bounds the memory for plans
)

// plans returns a function that returns the plan of the next call, and one that frees its resources. The plans
// of a bulk are made in another goroutine while the calls before them run.
func (a *attempt) plans(ctx context.Context) (next func(i int) (translator.Plan, error), end func()) {
	switch {
	case !a.options.has(apart):
		return func(i int) (translator.Plan, error) { return a.calls[i].plan(a.env, i) }, func() {}
	case len(a.calls) < bulkFrom:
		return func(i int) (translator.Plan, error) {
			a.work.Begin()
			return a.calls[i].plan(a.engine.env(0, a.work), 0)
		}, func() {}
	}
	stop := make(chan struct{})
	a.chunks = a.planAhead(ctx, stop)
	next = func(int) (translator.Plan, error) {
		a.work.Begin()
		if len(a.ahead()) == 0 {
			return translator.Plan{}, a.chunk.err
		}
		p := a.chunk.plans[0]
		a.chunk.plans = a.chunk.plans[1:]
		return p, nil
	}
	return next, func() {
		close(stop)
		for range a.chunks { // after the channel is closed, no goroutine reads the calls
		}
	}
}

// ahead returns the plans of the next calls of a bulk, at least one unless that call cannot be planned.
func (a *attempt) ahead() []translator.Plan {
	if len(a.chunk.plans) == 0 && a.chunk.err == nil && a.chunks != nil {
		a.chunk = <-a.chunks
	}
	return a.chunk.plans
}

// plannedCalls holds the plans of the next calls. err is the planning error of the call after them.
type plannedCalls struct {
	plans []translator.Plan
	err   error
}

// planAhead sends the plans of the calls until one fails or stop is closed. It charges a budget of its own,
// because the calls that run use work at the same time.
func (a *attempt) planAhead(ctx context.Context, stop <-chan struct{}) <-chan plannedCalls {
	e, calls := a.engine, a.calls
	chunks := make(chan plannedCalls, maxPlannedChunks)
	work := &store.Work{Check: func(began time.Time) error { return e.overdue(ctx, began, nil) }}
	if a.work.Budget != nil {
		work.Budget = a.work.Budget.Empty()
	}
	go func() {
		defer close(chunks)
		for len(calls) > 0 {
			next := plannedCalls{plans: make([]translator.Plan, 0, min(planChunk, len(calls)))}
			for _, c := range calls[:cap(next.plans)] {
				work.Begin()
				var p translator.Plan
				err := store.Caught(func() (err error) {
					p, err = c.plan(e.env(0, work), 0)
					return err
				})
				if next.err = err; err != nil {
					break
				}
				next.plans = append(next.plans, p)
			}
			work.Budget.Rewind(0)
			calls = calls[len(next.plans):]
			select {
			case chunks <- next:
			case <-stop:
				return
			}
			if next.err != nil {
				return
			}
		}
	}()
	return chunks
}
