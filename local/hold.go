package local

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/store"
)

// Hold is a store whose calls form one transaction until Commit. A program that moves keys uses it to create
// each key in one transaction, in any number of calls. No other connection can write to the file during that
// time. One goroutine at a time may use it, and must call Commit or Rollback before the store is closed.
type Hold struct {
	store  *Store
	work   chan holdWork // nil while no transaction is open
	result chan error    // receives the result of the transaction
	since  time.Time     // start of the transaction
}

type holdWork struct {
	fn   func(run func(store.Batch) (store.Result, error)) error
	idle time.Duration // instead of fn: commit unless more work comes within this time
	done chan error
}

const (
	// Other processes wait for a lock for defaultBusyTimeout. Work that arrives in pieces is committed earlier,
	// complete or not.
	maxHold  = 8 * time.Second
	holdIdle = 2 * time.Second
)

// Hold returns a store whose calls take effect together. It locks nothing before the first call.
func (s *Store) Hold() *Hold { return &Hold{store: s} }

// Apply runs batches in the transaction.
func (h *Hold) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	results := make([]store.Result, len(batches))
	err := h.Transact(ctx, false, func(run func(store.Batch) (store.Result, error)) error {
		for i, b := range batches {
			var err error
			if results[i], err = run(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Transact runs fn in the transaction, and begins one if needed. An error of fn undoes the transaction back to
// the last Commit. When ctx ends, the next call fails and the transaction stays open.
func (h *Hold) Transact(ctx context.Context, _ bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return h.do(holdWork{fn: fn})
}

// ReadOnly returns why the store refuses writes, or "" if it accepts them.
func (h *Hold) ReadOnly() string { return h.store.ReadOnly() }

// Commit ends the transaction, if one is open. An error means that nothing since the last Commit took effect,
// except calls that Rest has committed.
func (h *Hold) Commit() error {
	if h.work == nil {
		return nil
	}
	close(h.work)
	return h.ended(<-h.result)
}

// Rollback ends the transaction, if one is open, and undoes the calls since the last Commit. Calls that Rest
// has committed stay.
func (h *Hold) Rollback() {
	if h.work == nil {
		return
	}
	undo := holdWork{fn: func(func(store.Batch) (store.Result, error)) error { return errRollback }, done: make(chan error, 1)}
	select {
	case h.work <- undo:
		<-h.result
	case <-h.result: // it was committed during a Rest, or could not begin
	}
	h.work = nil
}

var errRollback = errors.New("the transaction was rolled back")

// AllowCommit allows the store to commit before the next call, if that call is slow to come or the transaction has
// been open for long.
func (h *Hold) AllowCommit() error {
	switch {
	case h.work == nil:
		return nil
	case time.Since(h.since) > maxHold:
		return h.Commit()
	}
	return h.do(holdWork{idle: holdIdle})
}

func (h *Hold) ended(err error) error {
	h.work = nil
	return err
}

func (h *Hold) do(w holdWork) error {
	w.done = make(chan error, 1)
	for range 2 {
		if h.work == nil {
			if w.fn == nil {
				return nil
			}
			h.begin()
		}
		select {
		case h.work <- w:
			if err := <-w.done; err != nil {
				return h.ended(errors.Join(err, drop(<-h.result, err)))
			}
			return nil
		case err := <-h.result: // it was committed during a Rest, or could not begin
			if h.ended(err); err != nil {
				return err
			}
		}
	}
	return errHoldEnded
}

var errHoldEnded = errors.New("the transaction ended before it was used")

// drop returns err unless it was reported already.
func drop(err, reported error) error {
	if errors.Is(err, reported) {
		return nil
	}
	return err
}

func (h *Hold) begin() {
	h.work, h.result, h.since = make(chan holdWork), make(chan error, 1), time.Now()
	j := &job{own: holdLoop(h.work), done: make(chan struct{})}
	over := h.result
	go func() {
		over <- store.Caught(func() error {
			release, err := h.store.use()
			if err != nil {
				return err
			}
			defer release()
			return h.store.submit(j)
		})
	}()
}

// holdLoop does the work of a Hold inside the transaction of its job.
func holdLoop(work <-chan holdWork) func(*conn) error {
	served := false
	return func(c *conn) error {
		if served {
			return errHoldEnded // it was rolled back with other jobs
		}
		served = true
		var rested <-chan time.Time
		for {
			select {
			case w, more := <-work:
				if !more {
					return nil
				}
				if rested = nil; w.fn == nil {
					rested = time.After(w.idle)
					w.done <- nil
					continue
				}
				err := c.within(w.fn)
				w.done <- err
				if err != nil {
					return err
				}
			case <-rested:
				return nil
			}
		}
	}
}

// within runs fn inside the open transaction. If the transaction has changed nothing yet, it first runs without
// savepoints, and begins again if it needs them, as commit does with a group. One savepoint for many batches would be
// worse than one for each: as long as it is open, SQLite writes each page that a statement changes to a file.
func (c *conn) within(fn func(run func(store.Batch) (store.Result, error)) error) error {
	if c.changes != c.changesAtBegin {
		return fn(c.runner(true))
	}
	err := fn(c.runner(false))
	if !errors.Is(err, errNeedSavepoints) {
		return err // the transaction fails with it
	}
	if err := c.control(rollback); err != nil {
		return err
	}
	if err := c.control(beginNow); err != nil {
		return err
	}
	return fn(c.runner(true))
}
