package replicate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/store"
)

// ErrEmpty is returned for a place without a stream, or whose stream does not go back far enough.
var ErrEmpty = errors.New("nothing to restore: it has no stream")

// plan chooses the files that lead from transaction from, or from an empty file if it is 0, to the last
// transaction. It chooses few files and prefers small ones. It returns nil if nothing is newer.
func plan(all []*ltx.FileInfo, from ltx.TXID) (chosen []*ltx.FileInfo, err error) {
	last := from
	for _, f := range all {
		last = max(last, f.MaxTXID)
	}
	if from > 0 { // full snapshots are the last resort
		parts := slices.DeleteFunc(slices.Clone(all), func(f *ltx.FileInfo) bool { return f.MinTXID == 1 })
		if chosen, at := chain(parts, from); at == last {
			return chosen, nil
		}
	}
	chosen, at := chain(all, from)
	if at != last {
		return nil, fmt.Errorf("files are missing after transaction %d, before %d", at, last)
	}
	return chosen, nil
}

// chain starts at a transaction and repeatedly chooses the file that leads farthest.
func chain(all []*ltx.FileInfo, at ltx.TXID) (chosen []*ltx.FileInfo, end ltx.TXID) {
	rest := slices.SortedStableFunc(slices.Values(all), func(a, b *ltx.FileInfo) int { return cmp.Compare(a.MinTXID, b.MinTXID) })
	var best *ltx.FileInfo // of the files that begin at or before the next transaction
	for {
		for ; len(rest) > 0 && rest[0].MinTXID <= at+1; rest = rest[1:] {
			if f := rest[0]; best == nil || f.MaxTXID > best.MaxTXID || f.MaxTXID == best.MaxTXID && f.MinTXID > best.MinTXID {
				best = f
			}
		}
		if best == nil || best.MaxTXID <= at {
			return chosen, at
		}
		chosen, at = append(chosen, best), best.MaxTXID
	}
}

// planFor returns the plan for the whole file at a moment, or for its latest state if moment is zero. Files
// after the moment may be missing.
func (p *Place) planFor(ctx context.Context, moment time.Time) ([]*ltx.FileInfo, error) {
	all, err := p.all(ctx)
	if err != nil {
		return nil, err
	}
	if !moment.IsZero() {
		if err := p.date(ctx, all); err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(f *ltx.FileInfo) bool { return f.CreatedAt.After(moment) })
		chosen, _ := chain(all, 0)
		if chosen == nil {
			return nil, fmt.Errorf("restoring %s as of %s: %w that goes back so far", p, moment.Format(time.RFC3339), ErrEmpty)
		}
		return chosen, nil
	}
	chosen, err := plan(all, 0)
	if err == nil && chosen == nil {
		err = ErrEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("restoring %s: %w", p, err)
	}
	return chosen, nil
}

// date sets the time of each file to the time of its last transaction, read from its header. A file that is
// removed in the meantime keeps its time.
func (p *Place) date(ctx context.Context, all []*ltx.FileInfo) error {
	const atOnce = 16
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		first error
		slots = make(chan struct{}, atOnce)
	)
	for _, f := range all {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			var h ltx.Header
			err := store.Caught(func() (err error) {
				h, err = p.head(ctx, f)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				f.CreatedAt = time.UnixMilli(h.Timestamp)
			} else if first == nil && !errors.Is(err, fs.ErrNotExist) {
				first = err
			}
		})
	}
	wait.Wait()
	return first
}
