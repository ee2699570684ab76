package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
)

// A slice is small enough not to delay clients: at most sweepSlice keys, and fewer after a slice that took
// longer than sweepTime, because the size of the values is not known. After each slice, the sweep pauses for as
// long as the slice took, so that clients have at least half of the time.
const (
	sweepSlice = 100
	minSlice   = 10
	sweepTime  = 10 * time.Millisecond

	loadSweepSlice = 10_000 // after a bulk load
)

// closeSweepTime limits the cleanup when a store without a sweeper closes.
var closeSweepTime = time.Second

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
			if !s.sweepPaused.Load() && s.guarded() == nil {
				if err := store.Caught(func() error { s.sweepAll(); return nil }); err != nil {
					s.report(err)
				}
			}
		case <-s.quit:
			return
		}
	}
}

// SetSweeping pauses or resumes the background sweep.
func (s *Store) SetSweeping(on bool) { s.sweepPaused.Store(!on) }

// sweepAll deletes all expired keys and the rows of deleted keys, slice by slice. After an error it stops until
// the next tick. It reports the error unless the last sweep failed with the same error.
func (s *Store) sweepAll() {
	err := s.restoreAfterLoad()
	for n, limit := 1, sweepSlice; err == nil && n > 0; {
		s.Throttle(0)
		began := time.Now()
		n, err = s.Sweep(context.Background(), limit)
		took := time.Since(began)
		if limit = min(limit*2, sweepSlice); took > sweepTime {
			limit = max(limit/4, minSlice)
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
	if says != "" && says != s.sweepError {
		s.report(err)
	}
	s.sweepError = says
}

// sweepOnClose deletes the rows of deleted keys, and indexes changed keys, for up to a second, in a store without a
// sweeper that has written. Without it, this work would pile up when each command is a process of its own. After a bulk
// load it does all of this, unless EndBulkLoad is called: otherwise each query would index the keys in memory. Only a
// file that had no keys is indexed in large slices, since no other process waits to write to it. The initial scan of an
// index always ends, too, since queries do not see the keys after its place.
func (s *Store) sweepOnClose() {
	if s.options.SweepEvery >= 0 || !s.options.SingleConn || !s.wrote.Load() {
		return
	}
	limit, more := sweepSlice, func(began time.Time) bool {
		return time.Since(began) < closeSweepTime || s.loading.Err() == nil && s.scansForIndex()
	}
	if s.options.BulkLoad {
		more = func(time.Time) bool { return s.loading.Err() == nil }
		if s.BulkLoading() {
			limit = loadSweepSlice
		}
	}
	for began := time.Now(); more(began); {
		n, err := sweep.PendingDeletes(s.life, s.Apply, limit)
		if err == nil && n == 0 {
			n, err = sweep.Index(s.life, s.Apply, s.options.Now(), limit)
		}
		if n == 0 || err != nil {
			return // the next process continues
		}
	}
}

// scansForIndex reports whether an index lacks keys that are older than it.
func (s *Store) scansForIndex() bool {
	results, err := s.read(s.loading, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT 1 FROM search_indexes WHERE scanned IS NOT NULL`}}}}, nil)
	return err == nil && len(results[0].Rows[0]) > 0
}

// Sweep deletes up to limit expired keys; if none is left, it deletes expired fields and the rows of deleted
// keys, and then indexes changed keys. It returns the number of rows deleted and keys indexed.
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	now := s.options.Now()
	s.rowCache.noteSweep(now)
	swept, err := sweep.Slice(ctx, s.Apply, now, limit)
	if err != nil {
		err = fmt.Errorf("deleting expired keys: %w", err)
	}
	s.expired.keys.Add(int64(swept.Keys))
	s.expired.fields.Add(int64(swept.Fields))
	return swept.Rows + swept.Indexed, err
}

// BuildIndexes indexes up to limit keys that the indexes of search lack. It returns the number of keys, 0 when nothing is
// left.
func (s *Store) BuildIndexes(ctx context.Context, limit int) (int, error) {
	n, err := sweep.Index(ctx, s.Apply, s.options.Now(), limit)
	if err != nil {
		err = fmt.Errorf("indexing keys: %w", err)
	}
	return n, err
}

// Expired returns how many keys, and how many fields of other keys, the sweep has deleted since the store was
// opened.
func (s *Store) Expired() (keys, fields int64) {
	return s.expired.keys.Load(), s.expired.fields.Load()
}
