package script

import (
	"errors"
	"strings"

	"github.com/meowdis/meowdis/redis/lua"
	"github.com/meowdis/meowdis/redis/resp"
)

// Host provides the functions that a script needs from its caller.
type Host struct {
	// Call runs a command and returns its reply. An error ends the script, and pcall does not catch it.
	Call func(args [][]byte) (resp.Value, error)
	// Allowed reports whether the user may run a command, and known whether the command exists. Nil allows every
	// command that Call does not refuse.
	Allowed func(args [][]byte) (allowed, known bool)
	// Rejected is called with a command that scripts must not run, and its error. It may be nil.
	Rejected func(args [][]byte, v *resp.Value)
	// Grow charges n bytes before the script allocates them, and panics if they exceed the limit. Nil charges
	// nothing.
	Grow func(n int)
	// Interrupt ends the script if it returns an error. It may be nil.
	Interrupt func() error
}

// Run is one run of a script or a function.
type Run struct {
	Keys, Args [][]byte
	Seed       int32     // for math.random
	Debugger   *Debugger // of a script compiled with CompileDebug; nil for none
	Source     []byte    // for the debugger
	Host       Host
}

// ErrKilled is the error that Interrupt returns for a script killed by SCRIPT KILL.
var ErrKilled = errors.New("Script killed by user with SCRIPT KILL...")

// Machine runs scripts, one at a time.
type Machine struct {
	state *lua.State
	run   *Run
	resp3 bool
	err   error // the error of Call

	functions   map[string]*lua.Function // functions of a library, by name; nil for EVAL
	loading     *Library                 // the library whose functions are being registered
	outOfMemory bool                     // the last run ran out of memory

	json jsonSettings
}

// MemoryLimit is the approximate memory limit of a script, in bytes.
const MemoryLimit = 256 << 20

// Hook, if set, is called with each new state before it is protected. Tests use it to insert functions that
// panic.
var Hook func(*lua.State)

// NewMachine returns a machine for scripts of EVAL.
func NewMachine() *Machine {
	m := newMachine()
	api := m.api()
	lua.AddFunctions(api, map[string]lua.GoFunction{
		"replicate_commands": func(s *lua.State, _ []lua.Value) []lua.Value { return s.One(lua.True) },
		"breakpoint":         m.breakpoint,
		"debug":              m.debug,
	})
	m.state.Globals.SetField("redis", lua.Of(api))
	m.protect()
	return m
}

// newMachine returns a machine without the redis table and without protection.
func newMachine() *Machine {
	m := &Machine{state: lua.NewState(), json: defaultJSON}
	s := m.state
	s.OpenLibraries()
	g := s.Globals
	clock := lua.NewTable(0, 1)
	clock.SetField("clock", lua.Of(lua.GoFunc("clock", osClock)))
	g.SetField("os", lua.Of(clock))
	g.SetField("cjson", lua.Of(jsonLibrary(&m.json)))
	g.SetField("cmsgpack", lua.Of(packLibrary()))
	g.SetField("bit", lua.Of(lua.Library(bitFunctions)))
	g.SetField("struct", lua.Of(lua.Library(structFunctions)))
	g.SetField("pcall", lua.Of(lua.GoFunc("pcall", pcall)))
	s.Interrupt = func() error {
		if m.run == nil || m.run.Host.Interrupt == nil {
			return nil
		}
		return m.run.Host.Interrupt()
	}
	return m
}

// pcall does the same as Lua's pcall, but returns the text of a command's error. For any other table it also
// returns its field err.
func pcall(s *lua.State, args []lua.Value) []lua.Value {
	fn := lua.True // the reference implementation calls true if no function is given
	if len(args) > 0 {
		fn, args = args[0], args[1:]
	}
	results, failed := s.Protected(fn, args)
	if failed == nil {
		return append([]lua.Value{lua.True}, results...)
	}
	t := failed.Value.AsTable()
	if t == nil {
		return []lua.Value{lua.False, failed.Value}
	}
	msg := s.Field(t, "err")
	if isText(msg) {
		return []lua.Value{lua.False, msg}
	}
	return []lua.Value{lua.False, failed.Value, msg}
}

func isText(v lua.Value) bool {
	_, ok := v.Text()
	return ok
}

// protect makes all globals read-only, and reading a missing global an error.
func (m *Machine) protect() {
	if Hook != nil {
		Hook(m.state)
	}
	m.state.Globals.SetMeta(withIndex(undefinedGlobal()))
	freeze(m.state.Globals)
	freeze(m.state.StringMeta())
}

// withIndex returns a metatable with an __index.
func withIndex(index lua.Value) *lua.Table {
	meta := lua.NewTable(0, 1)
	meta.SetField("__index", index)
	return meta
}

// undefinedGlobal returns an __index that raises an error for a missing name.
func undefinedGlobal() lua.Value {
	return lua.Of(lua.GoFunc("__index", func(s *lua.State, args []lua.Value) []lua.Value {
		name, _ := lua.Arg(args, 2).Text()
		s.Throw("Script attempted to access nonexistent global variable '" + name + "'")
		return nil
	}))
}

func freeze(t *lua.Table) {
	if t == nil || t.ReadOnly {
		return
	}
	t.ReadOnly = true
	freeze(t.Meta())
	for k, v, _ := t.Next(lua.Nil); !k.IsNil(); k, v, _ = t.Next(k) {
		freeze(v.AsTable())
	}
}

// Eval runs a script. An error comes from the host's functions; the script's own errors are error replies.
func (m *Machine) Eval(s *Script, r *Run) (resp.Value, error) {
	m.state.Globals.SetField("KEYS", lua.Of(r.table(r.Keys)))
	m.state.Globals.SetField("ARGV", lua.Of(r.table(r.Args)))
	return m.call(m.state.Bind(s.program, m.state.Globals), s.SHA, r)
}

// call runs a function. Error replies use name for it.
func (m *Machine) call(fn *lua.Function, name string, r *Run, args ...lua.Value) (resp.Value, error) {
	m.run, m.resp3, m.err, m.outOfMemory = r, false, nil, false
	m.json = defaultJSON
	m.state.SeedRandom(r.Seed)
	m.state.Reset()
	if m.functions == nil { // a library keeps its variables
		m.state.SetMemoryLimit(MemoryLimit)
	}
	m.state.SetReserve(r.Host.Grow)
	if d := r.Debugger; d != nil {
		d.start(m, string(r.Source))
		m.state.OnLine = d.onLine
	}
	defer func() {
		m.run, m.state.OnLine = nil, nil
		m.state.SetReserve(nil)
		m.state.Close()
	}()
	vs, err := m.state.Call(fn, args...)
	var failed *lua.Error
	var ended *lua.Ended
	switch {
	case m.err != nil:
		return resp.Value{}, m.err
	case errors.As(err, &failed):
		msg, _ := failed.Value.AsString()
		m.outOfMemory = msg == lua.ErrMemory.Error()
		return m.errorReply(failed, name), nil
	case errors.As(err, &ended) && ended.Err == ErrKilled:
		return m.errorReply(&lua.Error{Value: lua.String(ErrKilled.Error()), Source: ended.Source, Line: ended.Line}, name), nil
	case err != nil:
		return resp.Value{}, err
	case len(vs) == 0:
		return resp.Nil, nil
	}
	return m.reply(vs[0], 0), nil
}

// table copies KEYS or ARGV.
func (r *Run) table(list [][]byte) *lua.Table {
	size := 0
	for _, b := range list {
		size += len(b)
	}
	if size > len(list)*valueBytes && r.Host.Grow != nil { // short ones take no more than the request itself
		r.Host.Grow(size)
	}
	t := lua.NewTable(len(list), 0)
	for i, b := range list {
		t.SetIndex(i+1, lua.String(string(b)))
	}
	return t
}

// errorReply returns the reply to a failed script: its error and where it was raised.
func (m *Machine) errorReply(e *lua.Error, name string) resp.Value {
	if text, ok := e.Value.Text(); ok {
		m.grow(4 * len(text)) // the message, in one line, of the place
	}
	msg, _, _ := strings.Cut(m.message(e), "\x00")
	if e.Line != 0 && e.Source != "" {
		msg += " script: " + name + ", on " + e.Source + ":" + resp.FormatInt(int64(e.Line)) + "."
	}
	return resp.MakeError(errorLine(msg))
}

// message returns the text of an error, with its code.
func (m *Machine) message(e *lua.Error) string {
	t := e.Value.AsTable()
	if t == nil {
		return "ERR " + m.state.ToString(e.Value)
	}
	if msg, ok := t.Field("err").Text(); ok {
		return msg
	}
	return "ERR unknown error"
}
