package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
)

// A slice is small enough for no client to notice: of at most sweepSlice keys, and of fewer after
// one that took longer than sweepTime, since nobody knows how large values are. The next one is
// after a pause of the same length, so that others have at least half of the time.
const (
	sweepSlice = 100
	leastSlice = 10
	sweepTime  = 10 * time.Millisecond
)

// lingering is how long a store without a sweep goes on when it closes.
const lingering = time.Second

// sweep deletes expired keys and fields in the background, until the store closes.
func (s *Store) sweep() {
	defer s.done.Done()
	pause := s.options.SweepEvery
	if pause == 0 {
		pause = time.Second
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if !s.resting.Load() {
				if err := store.Caught(func() error { s.sweepAll(); return nil }); err != nil {
					s.report(err)
				}
			}
		case <-s.quit:
			return
		}
	}
}

// SetSweeping turns the sweep in the background on or off.
func (s *Store) SetSweeping(on bool) { s.resting.Store(!on) }

// sweepAll deletes all that has expired, and what deleted keys have left, slice by slice. What
// fails waits for the next tick, and is reported unless that is what failed the last time.
func (s *Store) sweepAll() {
	err := s.mendAfterLoad()
	for n, limit := 1, sweepSlice; err == nil && n > 0; {
		s.Throttle(0)
		began := time.Now()
		n, err = s.Sweep(context.Background(), limit)
		took := time.Since(began)
		if limit = min(limit*2, sweepSlice); took > sweepTime {
			limit = max(limit/4, leastSlice)
		}
		select {
		case <-time.After(took):
		case <-s.quit:
			return
		}
	}
	says := ""
	if err != nil && !errors.Is(err, errClosed) && !errors.Is(err, errAbandoned) {
		says = err.Error()
	}
	if says != "" && says != s.unswept {
		s.report(err)
	}
	s.unswept = says
}

// tidy deletes what deleted keys have left, in a store that has no sweep and has written, for a
// moment: a process for each command would leave more and more otherwise.
func (s *Store) tidy() {
	if s.options.SweepEvery >= 0 || !s.options.SingleConn || !s.wrote.Load() {
		return
	}
	for began := time.Now(); time.Since(began) < lingering; {
		if n, err := sweep.Graves(s.life, s.Apply, sweepSlice); n == 0 || err != nil {
			return // the next process goes on
		}
	}
}

// Sweep deletes up to limit expired keys, or fields and what deleted keys have left when no such
// key is there, and returns how many rows it did.
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	now := s.options.Now()
	s.rowCache.sweep(now)
	swept, err := sweep.Slice(ctx, s.Apply, now, limit)
	if err != nil {
		err = fmt.Errorf("sweeping what has expired: %w", err)
	}
	s.expired.keys.Add(int64(swept.Keys))
	s.expired.fields.Add(int64(swept.Fields))
	return swept.Rows, err
}

// Expired is how many keys, and how many fields of others, the sweep has deleted since the store was
// opened.
func (s *Store) Expired() (keys, fields int64) {
	return s.expired.keys.Load(), s.expired.fields.Load()
}
