package local

import (
	"context"
	"errors"
	"runtime"

	"github.com/meowdis/meowdis/store"
)

// job is work for the writer: batches, or a function that runs its own.
type job struct {
	batches []store.Batch
	fn      func(func(store.Batch) (store.Result, error)) error
	own     func(*conn) error // in place of both: work that keeps the transaction open
	results []store.Result
	err     error
	done    chan struct{}
}

// maxGroup bounds the jobs that one commit releases.
const maxGroup = 256

// errAgain says that a batch was refused after it had changed something, so that
// the group must run again with savepoints.
var errAgain = errors.New("the group needs savepoints")

func (s *Store) submit(j *job) {
	s.jobs <- j
	<-j.done
}

// Transact runs fn in one transaction; run executes a batch in it, and undoes
// that batch alone when it is refused. fn may be called twice, and must return
// the errors of run. A read-only one may run beside the writer.
func (s *Store) Transact(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	if err := ctx.Err(); err != nil {
		return err
	}
	if readOnly {
		return s.withReader(ctx, func(c *conn) error {
			return errors.Join(c.snapshot(func() error { return fn(c.runner(true)) }), s.frozen.check())
		})
	}
	j := &job{fn: fn, done: make(chan struct{})}
	s.submit(j)
	return j.err
}

// write is the writer's goroutine.
func (s *Store) write() {
	defer s.done.Done()
	group := make([]*job, 0, maxGroup)
	for {
		select {
		case j := <-s.jobs:
			group = append(group[:0], j)
			// Let those who are about to submit do so: a commit costs as
			// much for many as for one.
			runtime.Gosched()
		case <-s.quit:
			return
		}
	drain:
		for len(group) < maxGroup {
			select {
			case j := <-s.jobs:
				group = append(group, j)
			default:
				break drain
			}
		}
		s.commit(group)
	}
}

// commit runs a group in one transaction and releases it. Without savepoints
// first, which is cheaper; when a refusal would leave a trace, all again with a
// savepoint around each batch. When the engine fails, each job runs alone, so
// that one client's impossible statement is not everybody's error.
func (s *Store) commit(group []*job) {
	err := s.attempt(group, false)
	if errors.Is(err, errAgain) {
		err = s.attempt(group, true)
	}
	if err != nil && len(group) > 1 {
		for i := range group {
			s.commit(group[i : i+1])
		}
		return
	}
	for _, j := range group {
		j.err = err
		close(j.done)
	}
}

func (s *Store) attempt(group []*job, savepoints bool) error {
	return s.withWriter(func(c *conn) error {
		return c.transaction(beginNow, func() error {
			run := c.runner(savepoints)
			for _, j := range group {
				work := func() error { return j.work(run) }
				if j.own != nil {
					work = func() error { return j.own(c) }
				}
				if err := work(); err != nil {
					return err
				}
			}
			return s.Moved()
		})
	})
}

func (j *job) work(run func(store.Batch) (store.Result, error)) error {
	if j.fn != nil {
		return j.fn(run)
	}
	j.results = make([]store.Result, len(j.batches))
	for i, b := range j.batches {
		var err error
		if j.results[i], err = run(b); err != nil {
			return err
		}
	}
	return nil
}

// runner returns the function that runs a batch inside the open transaction. A
// refused batch leaves no trace: when it had not changed anything there is none;
// otherwise its savepoint goes back, or, without savepoints, errAgain.
func (c *conn) runner(savepoints bool) func(store.Batch) (store.Result, error) {
	return func(b store.Batch) (store.Result, error) {
		guarded := savepoints && !b.ReadOnly
		if guarded {
			if err := c.control(mark); err != nil {
				return store.Result{}, err
			}
		}
		r, changed, err := c.batch(b)
		switch {
		case err != nil:
			return r, err
		case r.Refused != nil && changed && !guarded:
			return r, errAgain
		case r.Refused != nil && guarded:
			err = c.control(undo)
		}
		if guarded && err == nil {
			err = c.control(unmark)
		}
		return r, err
	}
}
