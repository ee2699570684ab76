package local

import (
	"context"
	"time"

	"github.com/meowdis/meowdis/store"
)

// sqlSweep deletes at most ?2 of the keys that have expired at ?1, oldest first.
const sqlSweep = `DELETE FROM keys WHERE id IN
	(SELECT id FROM keys WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2) RETURNING 1`

// A slice is small enough for no client to notice.
const sweepSlice = 100

// sqlExpired reads, so that a sweep with nothing to do takes no write lock.
const sqlExpired = `SELECT EXISTS (SELECT 1 FROM keys WHERE expires_at <= ?1)`

// sweep deletes expired keys in the background, a slice at a time.
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
			for s.sweepSlice() == sweepSlice {
			}
		case <-s.quit:
			return
		}
	}
}

// sweepSlice deletes one slice and returns its size; a failure waits for the
// next tick.
func (s *Store) sweepSlice() int {
	n, _ := s.Sweep(context.Background(), sweepSlice)
	return n
}

// Sweep deletes up to limit expired keys and returns how many it did.
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	now := store.Int(s.options.Now())
	peek := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: sqlExpired, Args: []store.Value{now}}}}
	results, err := s.Apply(ctx, []store.Batch{peek})
	if err != nil || results[0].Rows[0][0][0].Int() == 0 {
		return 0, err
	}
	del := store.Batch{Stmts: []store.Stmt{{SQL: sqlSweep, Args: []store.Value{now, store.Int(int64(limit))}}}}
	if results, err = s.Apply(ctx, []store.Batch{del}); err != nil {
		return 0, err
	}
	return len(results[0].Rows[0]), nil
}
