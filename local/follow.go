package local

import (
	"time"

	"github.com/meowdis/meowdis/store"
)

// Follow has f hear of all that is written from now on, but for the work of a Hold. Only one can
// follow. The sweep may be at work already.
func (s *Store) Follow(f store.Follower) { s.follower.Store(&f) }

// followedBy is who follows, nil for nobody.
func (s *Store) followedBy() store.Follower {
	if f := s.follower.Load(); f != nil {
		return *f
	}
	return nil
}

// followed is run for a job, whose batches the follower hears of. A job that is a function tells
// it by itself.
func (s *Store) followed(c *conn, j *job, run func(store.Batch) (store.Result, error)) func(store.Batch) (store.Result, error) {
	f := s.followedBy()
	if f == nil || j.fn != nil || !f.Follows() {
		return run
	}
	more := func(b store.Batch) (store.Result, error) {
		c.visit.next()
		return run(b)
	}
	return func(b store.Batch) (store.Result, error) {
		r, err := run(b)
		if err == nil && !b.ReadOnly && r.Refused == nil {
			r.Took = time.Since(c.visit.began) // without those who are served
			err = f.Ran(&b, &r, more)
		}
		return r, err
	}
}

// ended says what became of a transaction of the writer.
func (s *Store) ended(committed bool) {
	if f := s.followedBy(); f != nil {
		f.Ended(committed)
	}
}
