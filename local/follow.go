package local

import (
	"time"

	"github.com/meowdis/meowdis/store"
)

// Follow reports all later writes to f, except the work of a Hold. A store has one follower. The sweep may
// already be running.
func (s *Store) Follow(f store.Follower) { s.follower.Store(&f) }

// currentFollower returns the follower, or nil.
func (s *Store) currentFollower() store.Follower {
	if f := s.follower.Load(); f != nil {
		return *f
	}
	return nil
}

// followed reports whether a follower must see every batch.
func (s *Store) followed() bool {
	f := s.currentFollower()
	return f != nil && f.Follows()
}

// withFollower wraps run so that the follower sees the batches of a job. A job that is a function calls the
// follower itself.
func (s *Store) withFollower(c *conn, j *job, run func(store.Batch) (store.Result, error)) func(store.Batch) (store.Result, error) {
	if j.fn != nil || !s.followed() {
		return run
	}
	f := s.currentFollower()
	more := func(b store.Batch) (store.Result, error) {
		c.workLimit.nextBatch()
		return run(b)
	}
	return func(b store.Batch) (store.Result, error) {
		r, err := run(b)
		if err == nil && !b.ReadOnly && r.Refused == nil {
			r.Took = time.Since(c.workLimit.began) // before Ran, which serves blocked clients
			err = f.Ran(&b, &r, more)
		}
		return r, err
	}
}

// reportEnd reports the end of a writer's transaction to the follower.
func (s *Store) reportEnd(committed bool) {
	if f := s.currentFollower(); f != nil {
		f.Ended(committed)
	}
}
