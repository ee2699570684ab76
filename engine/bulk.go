package engine

import (
	"context"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

const (
	bulkFrom = 1024 // calls in a pipeline that is a bulk
	stretch  = 64   // calls that are planned at a time
	ahead    = 4    // stretches that are planned and have not run yet
)

// bulk runs calls in order, each on its own, in one transaction. They are planned
// while those before them run, and only so far ahead that the plans of few are in
// memory. Calls that only read end early when ctx does.
func (e *Engine) bulk(ctx context.Context, t transactor, calls []planned, replies []*resp.Value) error {
	reads := readOnly(calls)
	return t.Transact(ctx, reads, func(run Run) error {
		stop := make(chan struct{})
		stretches := e.planAhead(calls, stop)
		defer func() {
			close(stop)
			for range stretches { // nothing looks at the calls any more when it is closed
			}
		}()
		i := 0
		for plans := range stretches {
			if err := ctx.Err(); reads && err != nil {
				return err
			}
			for _, p := range plans {
				var err error
				if *replies[i], err = steps(run, p); err != nil {
					return err
				}
				i++
			}
		}
		return nil
	})
}

// planAhead sends the plans of calls, until stop is closed.
func (e *Engine) planAhead(calls []planned, stop <-chan struct{}) <-chan []translator.Plan {
	stretches := make(chan []translator.Plan, ahead)
	go func() {
		defer close(stretches)
		for len(calls) > 0 {
			plans := make([]translator.Plan, min(stretch, len(calls)))
			for i := range plans {
				plans[i] = calls[i].plan(e.env(0), 0)
			}
			calls = calls[len(plans):]
			select {
			case stretches <- plans:
			case <-stop:
				return
			}
		}
	}()
	return stretches
}
