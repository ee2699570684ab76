package engine

import (
	"context"
	"time"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// DefaultBusyThreshold is after how long clients are told that a script runs.
const DefaultBusyThreshold = 5 * time.Second

// SetBusyThreshold changes after how long clients are told that a script runs; 0 is
// never.
func (e *Engine) SetBusyThreshold(d time.Duration) { e.busyAfter.Store(int64(d)) }

// beside is a store that may have readers beside its writer.
type beside interface{ Beside() bool }

// keeps reports whether others must wait for the script.
func (e *Engine) keeps(run *evaluation) bool {
	b, is := e.store.(beside)
	return !run.reading || !is || !b.Beside()
}

// busyWith is the reply to a command that must wait since a script has run for long.
func (e *Engine) busyWith(cmd *commands.Command) (v resp.Value, busy bool) {
	since := e.scripts.busy.Load()
	if since == 0 || time.Now().UnixMilli() < since || cmd.Flags&commands.AllowBusy != 0 && cmd.Name != "FUNCTION STATS" {
		return v, false
	}
	if e.scripts.runs(isScript) {
		return busyScript, true
	}
	return busyFunc, cmd.Flags&commands.AllowBusy == 0
}

func isScript(run *evaluation) bool   { return run.script != nil }
func isFunction(run *evaluation) bool { return run.script == nil }

// runs reports whether any of that kind runs.
func (sc *scripts) runs(kind func(*evaluation) bool) bool {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for run := range sc.running {
		if kind(run) {
			return true
		}
	}
	return false
}

// began notes that a script runs, and returns what notes its end.
func (e *Engine) began(run *evaluation) func() {
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

// setBusy says from when on clients are told of the script that runs for longest.
func (e *Engine) setBusy() {
	at, after := int64(0), time.Duration(e.busyAfter.Load())
	for run, began := range e.scripts.running {
		if from := began.Add(after).UnixMilli(); after > 0 && e.keeps(run) && (at == 0 || from < at) {
			at = from
		}
	}
	e.scripts.busy.Store(at)
}

func (s *Session) scriptKill(context.Context, call) (resp.Value, error) {
	return s.engine.scripts.kill(isScript, busyFunc), nil
}

func (s *Session) functionKill(context.Context, call) (resp.Value, error) {
	return s.engine.scripts.kill(isFunction, busyScript), nil
}

// kill ends what runs of a kind and has not written; theirs is the reply when only the other
// kind runs.
func (sc *scripts) kill(kind func(*evaluation) bool, theirs resp.Value) resp.Value {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	var ours, others, written, othersWritten bool
	for run := range sc.running {
		if kind(run) {
			ours, written = true, written || run.wrote.Load()
		} else {
			others, othersWritten = true, othersWritten || run.wrote.Load()
		}
	}
	switch {
	case written, !ours && othersWritten:
		return unkillable
	case !ours && others:
		return theirs
	case !ours:
		return notBusy
	}
	for run := range sc.running {
		if kind(run) {
			run.killed.Store(true)
		}
	}
	return resp.OK
}

// function describes a function that runs, the one that began first; nil when none does.
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

// writes notes that the run is about to write. It is false for one that was killed before: it has
// not, and does not any more.
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
