package engine

import (
	"context"
	"time"

	"github.com/meowdis/meowdis/resp"
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

// bulk runs calls in order, each on its own, in one transaction or, when they take long,
// a few. They are planned while those before them run, and only so far ahead that the
// plans of few are in memory. Calls that only read end early when ctx does.
func (e *Engine) bulk(ctx context.Context, t transactor, calls []planned, replies []*resp.Value) error {
	most := len(calls)
	for len(calls) > 0 {
		n, err := e.bulkPiece(ctx, t, calls[:most], replies)
		switch late, is := tooLong(err); {
		case is && n > 0:
			most = n // those before it are not at fault, and run again without it
			continue
		case is:
			*replies[0], n, err = late, 1, nil
		}
		if err != nil {
			return err
		}
		calls, replies = calls[n:], replies[n:]
		most = len(calls)
	}
	return nil
}

// bulkPiece runs the first of the calls in one transaction and returns how many. With an
// error none took effect, and it is that of the one after them.
func (e *Engine) bulkPiece(ctx context.Context, t transactor, calls []planned, replies []*resp.Value) (n int, err error) {
	reads := readOnly(calls)
	err = t.Transact(ctx, reads, func(run Run) error {
		stop := make(chan struct{})
		stretches := e.planAhead(calls, stop)
		defer func() {
			close(stop)
			for range stretches { // nothing looks at the calls any more when it is closed
			}
		}()
		n = 0
		began := time.Now()
		for plans := range stretches {
			if err := ctx.Err(); reads && err != nil {
				return err
			}
			for _, p := range plans {
				if n > 0 && time.Since(began) > piece {
					return nil
				}
				var err error
				if *replies[n], err = steps(run, p); err != nil {
					return err
				}
				n++
			}
		}
		return nil
	})
	return n, err
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
