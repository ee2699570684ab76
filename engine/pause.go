package engine

import (
	"context"
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/script"
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

// mayReplicate reports whether a pause of writes holds a call.
func (e *Engine) mayReplicate(c call) bool {
	if flags, declared := e.declared(c); declared {
		return flags&script.NoWrites == 0
	}
	return c.cmd.Flags&commands.Write != 0 || c.cmd.Has(commands.Replicates)
}

// held returns the pause that holds a call, nil for none.
func (s *Session) held(c call) *pause {
	p := s.engine.paused.Load()
	switch {
	case p == nil:
		return nil
	case p.until <= s.engine.now():
		s.engine.expired(p)
		return nil
	case p.all, s.engine.mayReplicate(c):
		return p
	case c.cmd.Name == "EXEC" && slices.ContainsFunc(s.queue, s.engine.mayReplicate):
		return p
	}
	return nil
}

// turns is how long a released client waits for the one that was held before it, in ms. One that runs a long
// command must not hold the others.
const turns = 1000

// outwait waits until no pause holds the call any more. Clients continue in the order in which they were held:
// each after the one before it has run its commands, or blocks.
func (s *Session) outwait(ctx context.Context, c call) error {
	if s.around != nil {
		here, end := s.around(c.cmd)
		defer end()
		ctx = here
	}
	s.letNext()
	before, mine := s.engine.enqueueHeld()
	s.paused.Store(true)
	s.engine.held.Add(1)
	defer func() {
		s.paused.Store(false)
		s.engine.held.Add(-1)
	}()
	for p := s.held(c); p != nil; p = s.held(c) {
		late, stop := s.engine.timer(p.until - s.engine.now())
		select {
		case <-p.over:
		case <-late:
			s.engine.expired(p)
		case <-ctx.Done():
		}
		stop()
		if before != nil && ctx.Err() == nil {
			late, stop := s.engine.timer(turns)
			select {
			case <-before:
			case <-late:
			case <-ctx.Done():
			}
			stop()
		}
		if err := ctx.Err(); err != nil {
			go func() { // the next one waits for the one before
				if before != nil {
					<-before
				}
				close(mine)
			}()
			return err
		}
	}
	s.next = mine
	return nil
}

// enqueueHeld adds a held client to the line. before is closed when the client before it has had its turn, nil for
// the first; mine is for this one.
func (e *Engine) enqueueHeld() (before, mine chan struct{}) {
	e.pausing.Lock()
	defer e.pausing.Unlock()
	before, mine = e.lastHeld, make(chan struct{})
	e.lastHeld = mine
	return before, mine
}

// letNext lets the client that was held after this one continue.
func (s *Session) letNext() {
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}
