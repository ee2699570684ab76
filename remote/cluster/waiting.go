package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// waiting limits how long slots are read again without progress.
type waiting struct {
	rounds int
	since  time.Time // of the last progress
}

// next prepares another round for the slots that are left. It returns an error if no slot was read for too long.
func (w *waiting) next(ctx context.Context, s *Session, progress bool, left []int, failed map[string]error) error {
	if len(left) == 0 {
		return nil
	}
	now := time.Now()
	if progress || w.since.IsZero() {
		w.rounds, w.since = 0, now
	}
	if w.rounds++; now.Sub(w.since) > s.patience() {
		var errs []error
		for _, err := range failed {
			errs = append(errs, err)
		}
		return errors.Join(append(errs, fmt.Errorf("%d slots could not be read, such as %d: no master has owned them for %s", len(left), slices.Min(left), s.patience()))...)
	}
	if err := s.refresh(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	if w.rounds > 1 || len(failed) > 0 {
		return wait(ctx, w.rounds)
	}
	return nil
}
