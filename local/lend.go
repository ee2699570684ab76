package local

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/store"
)

// takeWriter lends the writing connection until giveBackWriter is called. The loan is nil unless the store has
// only one connection.
func (s *Store) takeWriter() (c *conn, l *loan, err error) {
	if s.writer != nil {
		s.writing.Lock()
		return s.writer, nil, nil
	}
	if l, err = s.borrow(context.Background(), s.readers.short); err != nil {
		return nil, nil, err
	}
	return l.conn, l, nil
}

func (s *Store) giveBackWriter(l *loan) {
	if l == nil {
		s.writing.Unlock()
	} else {
		l.giveBack()
	}
}

// withWriter calls fn with the writing connection.
func (s *Store) withWriter(fn func(*conn) error) error {
	c, l, err := s.takeWriter()
	if err != nil {
		return err
	}
	defer s.giveBackWriter(l)
	return fn(c)
}

// withReader calls fn with a reading connection until ctx ends. With IsolateSlowReads, it may call fn twice.
func (s *Store) withReader(ctx context.Context, fn func(*conn) error) error {
	err := s.readInLane(ctx, s.readers.short, fn)
	if errors.Is(err, errLong) {
		err = s.readInLane(ctx, s.readers.long, fn)
	}
	return err
}

func (s *Store) readInLane(ctx context.Context, lane chan struct{}, fn func(*conn) error) (err error) {
	l, err := s.borrow(ctx, lane)
	if err != nil {
		return err
	}
	defer l.giveBack()
	v := s.newWorkLimit(ctx)
	if lane == s.readers.short && s.options.IsolateSlowReads {
		v.promoteToLong, v.short = l.moveToLong, shortReadLimits
	}
	return s.countAbandoned(v.run(l.conn, fn))
}

// borrow lends a reading connection, which it opens if needed. It waits until ctx ends.
func (s *Store) borrow(ctx context.Context, lane chan struct{}) (l *loan, err error) {
	l = &loan{pool: s.readers, lane: lane}
	if err := l.take(ctx, s.life, s.waits(ctx)); err != nil {
		return nil, s.countAbandoned(err)
	}
	if l.conn == nil {
		if l.conn, err = s.connectReader(); err != nil {
			l.giveBack()
			return nil, err
		}
	}
	return l, nil
}

// waits returns the limit of the wait for a connection. Only a single connection has one, since a write may
// hold it.
func (s *Store) waits(ctx context.Context) *store.WaitEnd {
	if s.writer != nil {
		return &store.WaitEnd{}
	}
	return store.WriteWaitOf(ctx).Ended()
}

// countAbandoned returns err, and counts it if it is errAbandoned.
func (s *Store) countAbandoned(err error) error {
	if errors.Is(err, errAbandoned) {
		s.abandoned.Add(1)
	}
	return err
}

// connectReader opens a connection for reading.
func (s *Store) connectReader() (*conn, error) {
	c, err := s.connect(true)
	if err != nil || s.foreign == nil {
		return c, err
	}
	if err := c.overlay(s.overlay); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}
