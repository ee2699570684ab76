package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/translator"
)

// pause holds commands back until it ends.
type pause struct {
	until int64 // Unix ms
	all   bool  // hold all commands, not only possible writes
	over  chan struct{}
	under *pause // continues after this one, for Hold
}

// Pause holds the commands of all sessions for ms milliseconds; if all is false, only commands that may write:
// redis.io/commands/client-pause. It never shortens or relaxes a current pause.
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
		close(old.over) // held clients check again
	}
}

// Hold pauses all commands for ms milliseconds, or until release is called. A current pause continues after it.
func (e *Engine) Hold(ms int64) (release func()) {
	e.pausing.Lock()
	defer e.pausing.Unlock()
	p := &pause{until: e.now() + ms, all: true, over: make(chan struct{}), under: e.paused.Load()}
	e.paused.Store(p)
	return func() { e.expired(p) }
}

// Unpause ends a pause.
func (e *Engine) Unpause() {
	e.pausing.Lock()
	defer e.pausing.Unlock()
	if old := e.paused.Swap(nil); old != nil {
		close(old.over)
	}
}

// expired ends a pause whose time has passed.
func (e *Engine) expired(p *pause) {
	e.pausing.Lock()
	defer e.pausing.Unlock()
	if e.paused.CompareAndSwap(p, p.under) {
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
	for p != nil && p.until <= s.engine.now() {
		s.engine.expired(p)
		p = s.engine.paused.Load()
	}
	switch {
	case p == nil:
		return nil
	case p.all, s.engine.mayReplicate(c):
		return p
	case c.cmd.Name == "EXEC" && slices.ContainsFunc(s.queue, s.engine.mayReplicate):
		return p
	}
	return nil
}

// readFlags reads the flags of the function that an FCALL names, if a pause of writes depends on them.
func (s *Session) readFlags(ctx context.Context, c call) error {
	if p := s.engine.paused.Load(); p == nil || p.all || !strings.HasPrefix(c.cmd.Name, "FCALL") {
		return nil
	}
	find := translator.FindFunction(c.args[1], 0)
	found, _, err := s.engine.apply(ctx, []translator.Plan{find}, &s.work)
	if err == nil && len(found[0].Elems) > 0 {
		s.engine.libraries.load(found[0].Elems[0].Int, found[0].Elems[1].Str, s.engine.loadTime(), &s.work)
	}
	return err
}

// maxHeldWait limits how long a released client waits for the client held before it, in ms. A client that runs a long
// command must not block the others.
const maxHeldWait = 1000

// waitForPause waits until no pause holds the call. Clients continue in the order of their arrival: each one after
// the client before it has run its commands, or blocks.
func (s *Session) waitForPause(ctx context.Context, c call) error {
	if s.onWait != nil {
		here, end := s.onWait(c.cmd)
		defer end()
		ctx = here
	}
	s.releaseNext()
	place := s.takePlace()
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
		if place.before != nil && ctx.Err() == nil {
			late, stop := s.engine.timer(maxHeldWait)
			select {
			case <-place.before:
			case <-late:
			case <-ctx.Done():
			}
			stop()
		}
		if err := ctx.Err(); err != nil {
			place.leave()
			return err
		}
	}
	s.next = place.mine
	return nil
}

// heldPlace holds the channels of a place in the queue of held clients. before is closed when the client before it
// has run, and nil for the first; the owner closes mine.
type heldPlace struct{ before, mine chan struct{} }

// JoinHeld takes a place in the queue if a pause holds one of calls. The event loop calls it, so that clients whose
// commands arrive at the same time keep their order. LeaveHeld must follow.
func (s *Session) JoinHeld(calls [][][]byte) {
	if s.engine.paused.Load() == nil {
		return
	}
	for _, args := range calls {
		if cmd, _ := commands.Find(args); cmd != nil && s.held(call{cmd, args}) != nil {
			s.place = s.takePlace()
			return
		}
	}
}

// LeaveHeld gives back the place of JoinHeld if no call has used it.
func (s *Session) LeaveHeld() {
	if place := s.place; place.mine != nil {
		s.place = heldPlace{}
		place.leave()
	}
}

// takePlace returns the place of JoinHeld, or a new one.
func (s *Session) takePlace() (place heldPlace) {
	if s.place.mine != nil {
		place, s.place = s.place, heldPlace{}
		return place
	}
	e := s.engine
	e.pausing.Lock()
	defer e.pausing.Unlock()
	place = heldPlace{before: e.lastHeld, mine: make(chan struct{})}
	e.lastHeld = place.mine
	return place
}

// leave makes the next client wait for the one before p.
func (p heldPlace) leave() {
	go func() {
		if p.before != nil {
			<-p.before
		}
		close(p.mine)
	}()
}

// releaseNext releases the client held after this one.
func (s *Session) releaseNext() {
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}
