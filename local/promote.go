package local

import (
	"errors"
	"fmt"

	"github.com/meowdis/meowdis/store"
)

// SetGuard makes writes fail while guard returns an error: ReadOnly then returns its text. The writer calls guard before
// each commit, which it undoes, and again before a client gets its reply.
func (s *Store) SetGuard(guard func() error) { s.guard.Store(&guard) }

// errNotWriter is returned by writes that the guard refuses.
var errNotWriter = errors.New("this server may not write")

// guarded returns the guard's error.
func (s *Store) guarded() error {
	guard := s.guard.Load()
	if guard == nil {
		return nil
	}
	if err := store.Caught(*guard); err != nil {
		return fmt.Errorf("%w: %w", errNotWriter, err)
	}
	return nil
}

// Promote makes a store that was opened for reading writable. It waits for running calls.
func (s *Store) Promote() error {
	s.closing.Lock()
	defer s.closing.Unlock()
	switch {
	case s.closed:
		return errClosed
	case s.foreign != nil || s.immutable != nil || s.path == Memory:
		return errors.New("only a meowdis file that can be written is promoted")
	case !s.options.ReadOnly:
		return nil
	}
	s.options.ReadOnly, s.options.WriteRefusal = false, ""
	if err := s.becomeWriter(); err != nil {
		s.options.ReadOnly = true
		return fmt.Errorf("promoting %s: %w", s.path, explain(s.path, false, err))
	}
	s.promoted.Store(true)
	s.done.Add(2)
	go s.copyBack()
	go s.sweep()
	return nil
}

// becomeWriter opens the writing connection.
func (s *Store) becomeWriter() error {
	c, err := s.connect(false)
	if err != nil {
		return err
	}
	if err = s.prepareFile(c); err == nil {
		err = s.recordIdentity(c)
	}
	if err != nil {
		return errors.Join(err, c.close())
	}
	s.checkpoints.begin(c, s.logPages())
	s.writer = c
	s.hasWriter.Store(true)
	return nil
}
