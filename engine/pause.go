package engine

import (
	"context"
	"slices"

	"github.com/meowdis/meowdis/commands"
)

// pause holds commands back until its time is over, or it is.
type pause struct {
	until int64 // Unix ms
	all   bool  // and not only those that may write
	over  chan struct{}
}

// Pause holds the commands of all sessions for ms, or with all false those that may write:
// redis.io/commands/client-pause. A longer or stricter pause that goes on stays as long and
// as strict.
func (e *Engine) Pause(ms int64, all bool) {
	e.pausing.Lock()
	defer e.pausing.Unlock()
	p := &pause{until: e.now() + ms, all: all, over: make(chan struct{})}
	old := e.paused.Load()
	if old != nil {
		p.until, p.all = max(p.until, old.until), p.all || old.all
	}
	e.paused.Store(p)
	if old != nil {
		close(old.over) // whoever is held looks again
	}
}

// Hold is Pause of all commands until release is called.
func (e *Engine) Hold(ms int64) (release func()) {
	until := e.now() + ms
	e.Pause(ms, true)
	return func() {
		if p := e.paused.Load(); p != nil && p.until <= until { // and no longer pause has begun
			e.expired(p)
		}
	}
}

// Unpause ends a pause.
func (e *Engine) Unpause() {
	e.pausing.Lock()
	defer e.pausing.Unlock()
	if old := e.paused.Swap(nil); old != nil {
		close(old.over)
	}
}

// expired ends a pause whose time is over.
func (e *Engine) expired(p *pause) {
	e.pausing.Lock()
	defer e.pausing.Unlock()
	if e.paused.CompareAndSwap(p, nil) {
		close(p.over)
	}
}

// mayReplicate reports whether a pause of writes holds a command.
func mayReplicate(cmd *commands.Command) bool {
	return cmd.Flags&commands.Write != 0 || cmd.Has(commands.Replicates)
}

// held is the pause that holds a command, nil for none.
func (s *Session) held(cmd *commands.Command) *pause {
	p := s.engine.paused.Load()
	switch {
	case p == nil:
		return nil
	case p.until <= s.engine.now():
		s.engine.expired(p)
		return nil
	case p.all, mayReplicate(cmd):
		return p
	case cmd.Name == "EXEC" && slices.ContainsFunc(s.queue, func(c call) bool { return mayReplicate(c.cmd) }):
		return p
	}
	return nil
}

// outwait waits until no pause holds the command any more.
func (s *Session) outwait(ctx context.Context, cmd *commands.Command) error {
	if s.around != nil {
		here, end := s.around(cmd)
		defer end()
		ctx = here
	}
	s.paused.Store(true)
	s.engine.held.Add(1)
	defer func() {
		s.paused.Store(false)
		s.engine.held.Add(-1)
	}()
	for p := s.held(cmd); p != nil; p = s.held(cmd) {
		late, stop := s.engine.timer(p.until - s.engine.now())
		select {
		case <-p.over:
		case <-late:
			s.engine.expired(p)
		case <-ctx.Done():
		}
		stop()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
