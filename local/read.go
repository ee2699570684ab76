package local

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/meowdis/meowdis/store"
)

func readOnly(batches []store.Batch) bool {
	for i := range batches {
		if !batches[i].ReadOnly {
			return false
		}
	}
	return true
}

// read runs batches in one snapshot, and adds rows to the row cache as of says. With a nil of it adds none.
func (s *Store) read(ctx context.Context, batches []store.Batch, of []lookup) (results []store.Result, err error) {
	used := usedBy(batches)
	err = s.withReader(ctx, func(c *conn) error {
		restart(batches, used)
		results, err = c.read(batches, of)
		return errors.Join(err, s.immutable.check())
	})
	if err != nil {
		return nil, err
	}
	s.cacheRows(batches, of, results)
	return results, nil
}

// cacheRows adds the rows of batches to the row cache, as of says.
func (s *Store) cacheRows(batches []store.Batch, of []lookup, results []store.Result) {
	for i := range min(len(results), len(of)) {
		if of[i].keep && results[i].Refused == nil {
			s.rowCache.put(&of[i], &batches[i], results[i].Rows)
		}
	}
}

// read runs batches in one snapshot. For rows that are to be cached, it finds out how long they are valid.
func (c *conn) read(batches []store.Batch, of []lookup) (results []store.Result, err error) {
	if len(batches) == 1 && len(batches[0].Stmts) == 1 && !anyToCache(of) {
		return c.readBatches(batches, nil)
	}
	err = c.snapshot(func() error {
		results, err = c.readBatches(batches, of)
		return err
	})
	return results, err
}

func anyToCache(of []lookup) bool {
	return slices.ContainsFunc(of, func(a lookup) bool { return a.keep })
}

// readBatches runs batches inside a snapshot. It ends when the budget is full.
func (c *conn) readBatches(batches []store.Batch, of []lookup) (results []store.Result, err error) {
	results = make([]store.Result, len(batches))
	for i, b := range batches {
		if results[i], err = c.readBatch(b); err != nil {
			return nil, err
		}
		if i < len(of) && of[i].keep {
			if err := c.findExpiry(&b, &of[i]); err != nil {
				return nil, err
			}
		}
		if b.Budget.Full() {
			return results[:i+1], nil
		}
	}
	return results, nil
}

// readBatch runs a reading batch. If it exceeds the time limit, only its own result is an error.
func (c *conn) readBatch(b store.Batch) (store.Result, error) {
	c.workLimit.nextBatch()
	r, _, err := c.batch(b)
	r.Took = time.Since(c.workLimit.began)
	var late *store.TooLong
	if errors.As(err, &late) {
		return late.Result(), nil
	}
	return r, err
}

// usedBy returns the budget used before batches run. restart restores it, because batches may run again.
func usedBy(batches []store.Batch) int64 {
	if len(batches) == 0 {
		return 0
	}
	return batches[0].Budget.Used()
}

func restart(batches []store.Batch, used int64) {
	if len(batches) > 0 {
		batches[0].Budget.Rewind(used)
	}
}
