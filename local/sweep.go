package local

import (
	"context"
	"time"

	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

// A slice deletes at most ?2 of the keys that are dead at ?1, oldest first. Once
// there are none it goes on with fields that have expired: those that it finds
// are not the last ones of their hash, which would be dead.
const (
	sqlSweepKeys = `DELETE FROM keys WHERE id IN
		(SELECT id FROM keys WHERE ` + schema.DiesAt + ` <= ?1 ORDER BY ` + schema.DiesAt + ` LIMIT ?2) RETURNING 1`

	deadKey    = `EXISTS (SELECT 1 FROM keys WHERE ` + schema.DiesAt + ` <= ?1)`
	deadFields = `(SELECT key_id, hash, field FROM hashes
		WHERE expires_at <= ?1 AND NOT ` + deadKey + `
		ORDER BY expires_at, key_id, hash, field LIMIT ?2)`
	sqlCountFields = `UPDATE keys SET count = count - n FROM (SELECT key_id, count(*) AS n FROM ` + deadFields + ` GROUP BY key_id) dead
		WHERE id = dead.key_id`
	sqlSweepFields = `DELETE FROM hashes WHERE (key_id, hash, field) IN ` + deadFields + ` RETURNING 1`
)

// A slice is small enough for no client to notice.
const sweepSlice = 100

// sqlExpired reads, so that a sweep with nothing to do takes no write lock.
const sqlExpired = `SELECT ` + deadKey + ` OR EXISTS (SELECT 1 FROM hashes WHERE expires_at <= ?1)`

// sweep deletes expired keys and fields in the background, a slice at a time.
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
			for s.sweepSlice() >= sweepSlice {
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

// Sweep deletes up to limit expired keys, or fields when no key is left, and
// returns how many it did.
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	now := store.Int(s.options.Now())
	peek := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: sqlExpired, Args: []store.Value{now}}}}
	results, err := s.Apply(ctx, []store.Batch{peek})
	if err != nil || results[0].Rows[0][0][0].Int() == 0 {
		return 0, err
	}
	args := []store.Value{now, store.Int(int64(limit))}
	var del store.Batch
	for _, sql := range []string{sqlSweepKeys, sqlCountFields, sqlSweepFields} {
		del.Stmts = append(del.Stmts, store.Stmt{SQL: sql, Args: args})
	}
	if results, err = s.Apply(ctx, []store.Batch{del}); err != nil {
		return 0, err
	}
	return len(results[0].Rows[0]) + len(results[0].Rows[2]), nil
}
