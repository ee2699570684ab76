package rqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
)

// Rows per sweep, and the pause when nothing has expired: see package local.
const (
	sweepSlice = 100
	sweepPause = time.Second
)

// StartSweep deletes expired rows in the background until the store closes, and passes errors to report. Every
// process that serves the cluster may run it: if two find the same rows, one deletes them.
func (s *Store) StartSweep(report func(error)) {
	s.sweeping.Go(func() {
		last := ""
		for wait := sweepPause; ; {
			select {
			case <-s.life.Done():
				return
			case <-time.After(wait):
			}
			began := time.Now()
			n := 0
			err := store.Caught(func() (err error) {
				n, err = s.Sweep(s.life, sweepSlice)
				return err
			})
			if wait = sweepPause; n > 0 {
				wait = time.Since(began)
			}
			if says := fmt.Sprint(err); err == nil || s.life.Err() != nil {
				last = ""
			} else if says != last {
				last = says
				report(err)
			}
		}
	})
}

// Sweep deletes up to limit expired keys. If no key has expired, it deletes expired fields and the leftovers
// of deleted keys, and then indexes changed keys. It returns the number of rows deleted and keys indexed.
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	swept, err := sweep.Slice(ctx, s.applyWeak, s.o.Now(), limit)
	if err != nil {
		err = fmt.Errorf("deleting expired keys: %w", err)
	}
	return swept.Rows + swept.Indexed, err
}

// applyWeak is Apply with weak reads, which cost the cluster little. The state it reads may be slightly stale.
func (s *Store) applyWeak(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	if !batches[0].ReadOnly {
		return s.Apply(ctx, batches)
	}
	forms, err := s.forms(ctx, batches)
	if err != nil {
		return nil, err
	}
	c := newCall(batches, forms)
	s.readAt([]*call{c}, "weak")
	return c.results, c.err
}
