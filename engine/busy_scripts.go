package engine

import (
	"bytes"
	"context"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// DefaultBusyThreshold is how long a script may run before other clients get BUSY.
const DefaultBusyThreshold = 5 * time.Second

// SetBusyThreshold sets how long a script may run before other clients get BUSY; 0 means forever.
func (e *Engine) SetBusyThreshold(d time.Duration) {
	e.scripts.mu.Lock()
	defer e.scripts.mu.Unlock()
	e.busyAfter.Store(int64(d))
	e.setBusy()
}

// busyWith returns the error reply to a command that is refused because a script has run for long.
func (e *Engine) busyWith(cmd *commands.Command) (v resp.Value, busy bool) {
	if cmd.Flags&commands.AllowBusy != 0 && cmd.Name != "FUNCTION STATS" {
		return v, false
	}
	v, busy = e.Busy()
	return v, busy && (cmd.Flags&commands.AllowBusy == 0 || string(v.Str) == string(busyScript.Str))
}

// busyReply returns the error reply for the script that runs.
func (sc *scripts) busyReply() (v resp.Value, runs bool) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	switch first := sc.first(); {
	case first == nil:
		return v, false
	case isScript(first):
		return busyScript, true
	default:
		return busyFunc, true
	}
}

// isBusy reports whether a reply is a BUSY error.
func isBusy(v resp.Value) bool { return bytes.HasPrefix(v.Str, []byte("BUSY ")) }

func isScript(run *evaluation) bool   { return run.script != nil }
func isFunction(run *evaluation) bool { return run.script == nil }

// first returns the script that began first, or nil. The caller holds the lock.
func (sc *scripts) first() (first *evaluation) {
	for run, began := range sc.running {
		if first == nil || began.Before(sc.running[first]) {
			first = run
		}
	}
	return first
}

// scriptStarted records that a script runs, and returns the function that records its end.
func (e *Engine) scriptStarted(run *evaluation) func() {
	sc := &e.scripts
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.running == nil {
		sc.running = map[*evaluation]time.Time{}
	}
	sc.running[run] = time.Now()
	e.setBusy()
	return func() {
		sc.mu.Lock()
		defer sc.mu.Unlock()
		delete(sc.running, run)
		e.setBusy()
	}
}

// setBusy sets the time when other clients begin to get BUSY, by the script that began first. It also starts
// the timer that ends the wait of clients that already wait. The timer outlives short scripts, so these do not
// each need one. The caller holds the lock.
func (e *Engine) setBusy() {
	sc, after := &e.scripts, time.Duration(e.busyAfter.Load())
	at := int64(0)
	if first := sc.first(); first != nil && after > 0 {
		late := sc.running[first].Add(after)
		at = late.UnixMilli()
		if !sc.timed {
			sc.timed = true
			e.refuseWaitingAfter(time.Until(late))
		}
	}
	if sc.busy.Swap(at) != at && sc.shut {
		sc.shut = false
		sc.gate.Open()
	}
}

// refuseWaitingAfter calls refuseWaiting after d.
func (e *Engine) refuseWaitingAfter(d time.Duration) {
	time.AfterFunc(d, func() { e.reported(store.Caught(func() error { e.refuseWaiting(); return nil })) })
}

// refuseWaiting shuts the gate if a script has run for long.
func (e *Engine) refuseWaiting() {
	sc := &e.scripts
	sc.mu.Lock()
	defer sc.mu.Unlock()
	at := sc.busy.Load()
	left := time.Until(time.UnixMilli(at))
	switch {
	case at == 0, sc.shut:
		sc.timed = false
	case left > 0:
		e.refuseWaitingAfter(left)
	default:
		sc.timed, sc.shut = false, true
		why := busyFunc
		if isScript(sc.first()) {
			why = busyScript
		}
		sc.gate.Close(&store.Exceeded{Reply: why})
	}
}

// liftTimeLimit exempts the call from the time limit, because it has a script, if the engine does so. limitAgain ends
// that.
func (s *Session) liftTimeLimit() { s.turn.Unlimited = s.engine.unlimitedScripts.Load() }
func (s *Session) limitAgain()    { s.turn.Unlimited = false }

// Busy reports whether clients get BUSY, and returns that error.
func (e *Engine) Busy() (v resp.Value, busy bool) {
	since := e.scripts.busy.Load()
	if since == 0 || time.Now().UnixMilli() < since {
		return v, false
	}
	return e.scripts.busyReply()
}

// EndScripts ends all scripts, which leave no changes, also scripts that begin later: the server stops.
func (e *Engine) EndScripts() { e.scripts.ended.Store(true) }

func (s *Session) scriptKill(context.Context, call) (resp.Value, error) {
	return s.engine.scripts.kill(isScript, busyFunc), nil
}

func (s *Session) functionKill(context.Context, call) (resp.Value, error) {
	return s.engine.scripts.kill(isFunction, busyScript), nil
}

// kill ends all scripts of a kind that have not written, if the script that began first is one of them. It
// returns theirs if that script has the other kind.
func (sc *scripts) kill(kind func(*evaluation) bool, theirs resp.Value) resp.Value {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	switch first := sc.first(); {
	case first == nil:
		return notBusy
	case first.wrote.Load():
		return unkillable
	case !kind(first):
		return theirs
	}
	for run := range sc.running {
		if kind(run) && !run.wrote.Load() {
			run.killed.Store(true)
		}
	}
	return resp.OK
}

// function describes the running function that began first, or returns nil.
func (sc *scripts) function() *translator.Running {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	var first *evaluation
	for run, began := range sc.running {
		if isFunction(run) && (first == nil || began.Before(sc.running[first])) {
			first = run
		}
	}
	if first == nil {
		return nil
	}
	return &translator.Running{
		Name: first.function, Call: first.call.args,
		Milliseconds: time.Since(sc.running[first]).Milliseconds(),
		Libraries:    first.libraries, Functions: first.functions,
	}
}

// writes records that the run is about to write. It returns false if the run was killed before.
func (e *evaluation) writes() bool {
	if e.wrote.Load() {
		return true
	}
	sc := &e.session.engine.scripts
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if e.killed.Load() {
		return false
	}
	e.wrote.Store(true)
	return true
}
