package engine

import (
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// libraries caches the compiled function libraries of this process. The transaction that calls a function reads
// which library has it, and at what version. So a replaced library never runs, even if another process has
// replaced it.
type libraries struct {
	mu    sync.Mutex
	known map[string]*library // by function name in lower case
}

// library is a compiled library and the machines that run it. Each machine has its own variables; consecutive
// calls use the same machine.
type library struct {
	*script.Library
	version int64
	hint    *script.WriteHint

	mu       sync.Mutex
	machines []*script.Machine // nil while in use
}

// maxLibraries limits the cached function names.
const maxLibraries = 10_000

// find returns the library that had the function at its last call, or nil.
func (l *libraries) find(function string) *library {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[strings.ToLower(function)]
}

// load compiles a library of the file, unless it is cached, and caches it under its function names.
func (l *libraries) load(version int64, source []byte, late func() bool, work *store.Work) (*library, resp.Value) {
	made, bad := script.LoadLibrary(source, late, work.Allocate)
	if bad.IsError() {
		return nil, bad
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, have := range l.known {
		if have.version == version {
			return have, resp.Value{}
		}
	}
	if l.known == nil || len(l.known)+len(made.Functions) > maxLibraries {
		l.known = map[string]*library{}
	}
	lib := &library{Library: made, version: version, hint: script.NewWriteHint(source)}
	for i := len(made.Functions) - 1; i >= 0; i-- { // if two names differ only in case, the first one wins
		l.known[strings.ToLower(made.Functions[i].Name)] = lib
	}
	return lib, resp.Value{}
}

// take returns the first free machine, so consecutive calls always get the same one.
func (l *library) take(late func() bool, work *store.Work) (*script.Machine, func(usable bool), resp.Value) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := 0
	for at < len(l.machines) && l.machines[at] == nil {
		at++
	}
	if at == len(l.machines) {
		l.machines = append(l.machines, nil)
	}
	m := l.machines[at]
	if l.machines[at] = nil; m == nil {
		var bad resp.Value
		if m, bad = l.NewMachine(late, work.Allocate); bad.IsError() {
			return nil, nil, bad
		}
	}
	return m, func(usable bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.machines[at] = m; m.OutOfMemory() || !usable {
			l.machines[at] = nil
		}
	}, resp.Value{}
}

// startFunction does the work of start for FCALL.
func (e *evaluation) startFunction(do func(planned) (resp.Value, error), work *store.Work) (run starter, done func(usable bool), bad resp.Value, err error) {
	lib, bad, err := e.findLibrary(do, work)
	if err != nil || bad.IsError() {
		return nil, nil, bad, err
	}
	f := lib.Function(string(e.call.args[1]))
	if f == nil {
		return nil, nil, damaged, nil // the table of functions lists it
	}
	e.function, e.hint, e.flags = f.Name, lib.hint, f.Flags
	if bad := e.mayCall(); bad.IsError() {
		return nil, nil, bad, nil
	}
	if e.retriesOnWrite() && e.hint.Writes() {
		return nil, nil, resp.Value{}, errWrites
	}
	m, done, bad := lib.take(e.session.engine.loadTime(), work)
	if bad.IsError() {
		return nil, nil, bad, nil
	}
	return func(r *script.Run) (resp.Value, error) { return m.Call(f.Name, r) }, done, resp.Value{}, nil
}

// deadline returns a function that reports whether d has passed.
func deadline(d time.Duration) (late func() bool) {
	end := time.Now().Add(d)
	return func() bool { return time.Now().After(end) }
}

// loadTime returns a function that reports whether the loading of a library takes too long; nil on a host whose
// clock stops while code runs.
func (e *Engine) loadTime() (late func() bool) {
	if e.deadline == nil {
		return nil
	}
	return e.deadline(script.LoadTime)
}

// mayCall parses the number of keys. bad is the error reply if the function must not be called.
func (e *evaluation) mayCall() (bad resp.Value) {
	keys, ok := commands.ParseInt(e.call.args[2])
	if !ok {
		return resp.MakeError("ERR Bad number of keys provided")
	}
	if bad := e.split(keys); bad.IsError() {
		return bad
	}
	if e.memoryFull && mayNeedMemory(e.flags) {
		return outOfMemory
	}
	only := e.call.cmd.Name == "FCALL_RO"
	e.readOnly = e.flags&script.NoWrites != 0
	if only && !e.readOnly {
		if !e.session.rules.CallsReadOnly {
			return mayWrite
		}
		e.readOnly = true
	}
	if reason := e.session.engine.readOnly(); reason != "" && !e.readOnly {
		return resp.MakeError("READONLY " + reason)
	}
	return resp.Value{}
}

var noFunction = resp.MakeError("ERR Function not found")

// findLibrary returns the library that has the function now, as read in the transaction of do.
func (e *evaluation) findLibrary(do func(planned) (resp.Value, error), work *store.Work) (*library, resp.Value, error) {
	libraries, name := &e.session.engine.libraries, e.call.args[1]
	known := libraries.find(string(name))
	version := int64(0)
	if known != nil {
		version = known.version
	}
	found, err := do(enginePlan(translator.FindFunction(name, version)))
	if err != nil || found.IsError() {
		return nil, found, err
	}
	if version = 0; len(found.Elems) > 0 {
		version = found.Elems[0].Int
		e.libraries, e.functions = found.Elems[2].Int, found.Elems[3].Int
	}
	if _, can := e.session.engine.store.(transactor); !can {
		// The library must still be the current one when the batch commits.
		if v, err := do(enginePlan(translator.GuardFunction(name, version))); err != nil || v.IsError() {
			return nil, v, err
		}
	}
	switch {
	case version == 0:
		return nil, noFunction, nil
	case found.Elems[1].IsNull():
		return known, resp.Value{}, nil
	}
	lib, bad := libraries.load(version, found.Elems[1].Str, e.session.engine.loadTime(), work)
	return lib, bad, nil
}
