package change

import (
	"context"
	"errors"
	"slices"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/transfer"
)

// Source yields the keys of s, for package transfer.
func (c *Maker) Source(ctx context.Context, db int, s Selection) transfer.Source {
	return func(yield func(transfer.Part, error) bool) {
		var done, many int64
		if c.Index != nil || len(s.Folders) == 0 {
			many, _ = c.countKeys(ctx, Scope{db, s}) // for the progress only
		}
		err := c.walk(ctx, db, s, func(names []string) error {
			for some := range slices.Chunk(names, KeysAtOnce) {
				for p, err := range transfer.FromKeys(ctx, c.In(db), client.Names(some)...) {
					if !yield(p, err) || err != nil {
						return errStopWalk
					}
				}
				done += int64(len(some))
				job.CostOf(ctx).Progress(done, many)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopWalk) {
			yield(transfer.Part{}, err)
		}
	}
}
