package rqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/sweep"
)

// What is swept at once, and the pause when there is nothing: see package local.
const (
	sweepSlice = 100
	sweepPause = time.Second
)

// StartSweep deletes what has expired until the store closes, and reports what fails. Each process that
// serves the cluster may: two that find the same delete it once.
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
			n, err := s.Sweep(s.life, sweepSlice)
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

// Sweep deletes up to limit expired keys, or fields and what deleted keys have left when no such key is
// there, and returns how many rows it did.
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	swept, err := sweep.Slice(ctx, s.look, s.o.Now(), limit)
	if err != nil {
		err = fmt.Errorf("sweeping what has expired: %w", err)
	}
	return swept.Rows, err
}

// look is Apply for those who do with a state that was the newest a moment ago, and cost the cluster
// little so.
func (s *Store) look(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
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
