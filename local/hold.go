package local

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/store"
)

// Hold is a store whose calls are one transaction until Commit: who moves keys makes each
// of them in one, however many calls that takes. No other connection writes to the file
// meanwhile. It is for one goroutine at a time, and Commit or Rollback must be
// called before the store is closed.
type Hold struct {
	store *Store
	work  chan holdWork // nil while no transaction is open
	over  chan error    // receives what became of the transaction
	since time.Time     // when it began
}

type holdWork struct {
	fn   func(run func(store.Batch) (store.Result, error)) error
	rest time.Duration // in place of fn: commit unless there is more to do so soon
	done chan error
}

const (
	// Other processes wait for a lock for busyPatience. Work that comes in pieces from
	// elsewhere is committed sooner, half done or not.
	holdLongest = 8 * time.Second
	holdIdle    = 2 * time.Second
)

// Hold makes a store of calls that take effect together. Nothing is locked before the first.
func (s *Store) Hold() *Hold { return &Hold{store: s} }

// Apply is the store's, in the transaction.
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

// Transact runs fn in the transaction, which it begins if need be. An error of fn undoes all
// of the transaction, back to the last Commit; when ctx ends, the next call fails and the
// transaction stays open.
func (h *Hold) Transact(ctx context.Context, _ bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return h.do(holdWork{fn: fn})
}

// ReadOnly is the store's.
func (h *Hold) ReadOnly() string { return h.store.ReadOnly() }

// Commit ends the transaction, if one is open. Its error means that nothing since the last
// Commit took effect, unless Rest came between.
func (h *Hold) Commit() error {
	if h.work == nil {
		return nil
	}
	close(h.work)
	return h.ended(<-h.over)
}

// Rollback ends the transaction, if one is open, and undoes the calls since the last Commit.
// Calls that a Rest has committed stay.
func (h *Hold) Rollback() {
	if h.work == nil {
		return
	}
	undo := holdWork{fn: func(func(store.Batch) (store.Result, error)) error { return errRollback }, done: make(chan error, 1)}
	select {
	case h.work <- undo:
		<-h.over
	case <-h.over: // it was committed while it rested, or could not begin
	}
	h.work = nil
}

var errRollback = errors.New("the transaction was rolled back")

// Rest says that what was done so far may be committed before the next call, should that
// be long in coming, or the transaction have been open for long.
func (h *Hold) Rest() error {
	switch {
	case h.work == nil:
		return nil
	case time.Since(h.since) > holdLongest:
		return h.Commit()
	}
	return h.do(holdWork{rest: holdIdle})
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
				return h.ended(errors.Join(err, drop(<-h.over, err)))
			}
			return nil
		case err := <-h.over: // it was committed while it rested, or could not begin
			if h.ended(err); err != nil {
				return err
			}
		}
	}
	return errHold
}

var errHold = errors.New("the transaction ended before it was used")

// drop is err unless it is the one that was reported already.
func drop(err, reported error) error {
	if errors.Is(err, reported) {
		return nil
	}
	return err
}

func (h *Hold) begin() {
	h.work, h.over, h.since = make(chan holdWork), make(chan error, 1), time.Now()
	j := &job{own: serve(h.work), done: make(chan struct{})}
	over := h.over
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

// serve does the work of a Hold inside the transaction of its job.
func serve(work <-chan holdWork) func(*conn) error {
	served := false
	return func(c *conn) error {
		if served {
			return errHold // it was undone with the work of others
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
					rested = time.After(w.rest)
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

// within runs fn inside the open transaction, as commit runs a group: without savepoints
// first.
func (c *conn) within(fn func(run func(store.Batch) (store.Result, error)) error) error {
	if err := c.control(mark); err != nil {
		return err
	}
	err := fn(c.runner(false))
	if errors.Is(err, errAgain) {
		if err = c.control(undo); err == nil {
			err = fn(c.runner(true))
		}
	}
	if err != nil {
		return err // the transaction goes with it
	}
	return c.control(unmark)
}
