package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/meowdis/meowdis/sweep"
)

// sweepSlice is small enough for no client to notice.
const sweepSlice = 100

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
			s.sweepAll()
		case <-s.quit:
			return
		}
	}
}

// sweepAll deletes all that has expired, slice by slice. What fails waits for the next
// tick, and is reported unless that is what failed the last time.
func (s *Store) sweepAll() {
	n, err := s.Sweep(context.Background(), sweepSlice)
	for n > 0 {
		n, err = s.Sweep(context.Background(), sweepSlice)
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

// Sweep deletes up to limit expired keys, or fields when no key is left, and returns
// how many it did.
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	n, err := sweep.Slice(ctx, s.Apply, s.options.Now(), limit)
	if err != nil {
		err = fmt.Errorf("sweeping what has expired: %w", err)
	}
	return n, err
}
