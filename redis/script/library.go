package script

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/lua"
	"github.com/meowdis/meowdis/redis/resp"
)

// Library is a loaded library of functions.
type Library struct {
	Name      string
	Functions []Function // in order of registration

	program *lua.Program
}

// Function is a function registered by its library.
type Function struct {
	Name        string
	Description []byte // nil without one
	Flags       Flags
}

// Function returns the function of that name, in any case, or nil. If several match, it returns the first one.
func (l *Library) Function(name string) *Function {
	for i := range l.Functions {
		if strings.EqualFold(l.Functions[i].Name, name) {
			return &l.Functions[i]
		}
	}
	return nil
}

// LibraryName parses the first line of a library. bad is the error reply to an invalid one.
func LibraryName(source []byte) (name string, bad resp.Value) {
	line, _, ended := bytes.Cut(source, []byte("\n"))
	switch {
	case !bytes.HasPrefix(source, []byte("#!")):
		return "", resp.MakeError("ERR Missing library metadata")
	case !ended:
		return "", resp.MakeError("ERR Invalid library metadata")
	}
	words, err := resp.SplitLine(string(line))
	if err != nil || len(words) == 0 {
		return "", resp.MakeError("ERR Invalid library metadata")
	}
	given := false
	for _, word := range words[1:] {
		switch key, value, ok := bytes.Cut(word, []byte("=")); {
		case !ok || !strings.EqualFold(string(key), "name"):
			return "", resp.MakeError(errorLine("ERR Invalid metadata value given: " + string(word)))
		case given:
			return "", resp.MakeError("ERR Invalid metadata value, name argument was given multiple times")
		default:
			name, given = string(value), true
		}
	}
	engine := strings.TrimPrefix(string(words[0]), "#!")
	switch {
	case !given:
		return "", resp.MakeError("ERR Library name was not given")
	case !isName(name):
		return "", resp.MakeError("ERR " + badName)
	case !strings.EqualFold(engine, "lua"):
		return "", resp.MakeError(errorLine("ERR Engine '" + engine + "' not found"))
	}
	return name, resp.Value{}
}

const badName = "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long"

func isName(s string) bool {
	for _, c := range []byte(s) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return s != ""
}

// LoadTime limits how long a library may take to register its functions.
const LoadTime = 500 * time.Millisecond

// LoadLibrary compiles the source of a library and runs it, so that it registers its functions. bad is the
// error reply if it fails or takes too long: until late returns true or, if late is nil because the host's
// clock stops while code runs, for a number of steps. The result depends only on the source. LoadLibrary calls grow
// with the bytes that it is about to allocate.
func LoadLibrary(source []byte, late func() bool, grow func(bytes int)) (l *Library, bad resp.Value) {
	l = &Library{}
	if l.Name, bad = LibraryName(source); bad.IsError() {
		return nil, bad
	}
	program, err := lua.Compile(string(source[bytes.IndexByte(source, '\n'):]), "@user_function", grow)
	if err != nil {
		return nil, resp.MakeError(errorLine("ERR Error compiling function: " + err.Error()))
	}
	l.program = program
	if _, bad = l.load(late, grow); bad.IsError() {
		return nil, bad
	}
	if len(l.Functions) == 0 {
		return nil, resp.MakeError("ERR No functions registered")
	}
	return l, resp.Value{}
}

// Interrupts while a library is loaded. Redis looks at the clock after each 100,000 instructions, so the deepest
// recursion ends with its own error however slow the machine is. minLoadSteps is that work, unless the library
// has allocated minLoadBytes. maxLoadSteps is about half a second of work.
const (
	minLoadSteps = 1 << 7
	maxLoadSteps = 1 << 16
	minLoadBytes = 4 << 20
)

var errLoadTimeout = errors.New("FUNCTION LOAD timeout")

// NewMachine returns a machine for the library's functions. Each machine has its own copy of the library's
// variables. late and grow are as for LoadLibrary.
func (l *Library) NewMachine(late func() bool, grow func(bytes int)) (*Machine, resp.Value) {
	copied := Library{program: l.program}
	return copied.load(late, grow)
}

// load runs the library in a new machine. While it is loaded, it can use little more than register_function;
// afterwards its functions have the environment of scripts.
func (l *Library) load(late func() bool, grow func(bytes int)) (*Machine, resp.Value) {
	m := newMachine()
	m.functions, m.loading = map[string]*lua.Function{}, l
	m.state.Globals.SetField("redis", lua.Of(m.api()))
	m.protect()

	api := lua.Library(map[string]lua.GoFunction{"log": redisLog, "register_function": m.register})
	constants(api)
	api.SetMeta(withIndex(undefinedGlobal()))
	atLoad := lua.NewTable(0, 1)
	atLoad.SetField("redis", lua.Of(api))
	atLoad.SetMeta(withIndex(undefinedGlobal()))
	env, index := lua.NewTable(0, 0), withIndex(lua.Of(atLoad))
	env.SetMeta(index)
	freeze(env)
	freeze(atLoad)

	steps := 0
	if late == nil {
		late = func() bool { return steps > maxLoadSteps }
	}
	asked := m.state.Interrupt
	m.state.Interrupt = func() error {
		steps++
		if (steps > minLoadSteps || m.state.Allocated() > minLoadBytes) && late() {
			return errLoadTimeout
		}
		return nil
	}
	m.state.SetMemoryLimit(MemoryLimit)
	m.state.SetReserve(grow)
	_, err := m.state.Call(m.state.Bind(l.program, env))
	m.state.Close()
	m.state.SetReserve(nil)
	m.state.Interrupt, m.loading = asked, nil
	index.SetField("__index", lua.Of(m.state.Globals))

	var failed *lua.Error
	switch {
	case errors.As(err, &failed):
		return nil, resp.MakeError(errorLine("ERR Error registering functions: " + m.message(failed)))
	case err != nil:
		return nil, resp.MakeError("ERR Error registering functions: ERR " + err.Error())
	}
	return m, resp.Value{}
}

// register implements redis.register_function.
func (m *Machine) register(s *lua.State, args []lua.Value) []lua.Value {
	l := m.loading
	if l == nil {
		fail(s, "redis.register_function can only be called on FUNCTION LOAD command")
	}
	f, callback := parseRegistration(s, args)
	if !isName(f.Name) {
		fail(s, badName)
	}
	if m.functions[f.Name] != nil {
		fail(s, "Function already exists in the library")
	}
	m.functions[f.Name] = callback
	m.state.Roots = append(m.state.Roots, lua.Of(callback))
	m.state.Grow(128 + len(f.Name) + len(f.Description))
	l.Functions = append(l.Functions, f)
	return nil
}

// parseRegistration parses the arguments of redis.register_function: a name and a function, or a table of named
// arguments.
func parseRegistration(s *lua.State, args []lua.Value) (f Function, callback *lua.Function) {
	switch len(args) {
	case 1:
		t := args[0].AsTable()
		if t == nil {
			fail(s, "calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).")
		}
		return parseNamedRegistration(s, t)
	case 2:
		var ok bool
		if f.Name, ok = args[0].Text(); !ok {
			fail(s, "first argument to redis.register_function must be a string")
		}
		if callback = args[1].AsFunction(); callback == nil {
			fail(s, "second argument to redis.register_function must be a function")
		}
		return f, callback
	}
	fail(s, "wrong number of arguments to redis.register_function")
	return f, nil
}

func parseNamedRegistration(s *lua.State, t *lua.Table) (f Function, callback *lua.Function) {
	hasName := false
	text := func(of string, v lua.Value) string {
		text, ok := v.Text()
		if !ok {
			fail(s, of+" argument given to redis.register_function must be a string")
		}
		return text
	}
	for k, v, _ := t.Next(lua.Nil); !k.IsNil(); k, v, _ = t.Next(k) {
		key, ok := k.Text()
		if !ok {
			fail(s, "named argument key given to redis.register_function is not a string")
		}
		switch strings.ToLower(key) {
		case "function_name":
			f.Name, hasName = text("function_name", v), true
		case "description":
			f.Description = append([]byte{}, text("description", v)...)
		case "callback":
			if callback = v.AsFunction(); callback == nil {
				fail(s, "callback argument given to redis.register_function must be a function")
			}
		case "flags":
			f.Flags = parseFlags(s, v.AsTable())
		default:
			fail(s, "unknown argument given to redis.register_function")
		}
	}
	switch {
	case !hasName:
		fail(s, "redis.register_function must get a function name argument")
	case callback == nil:
		fail(s, "redis.register_function must get a callback argument")
	}
	return f, callback
}

// parseFlags parses the flags of a function: a list of names.
func parseFlags(s *lua.State, t *lua.Table) (flags Flags) {
	if t == nil {
		fail(s, "flags argument to redis.register_function must be a table representing function flags")
	}
	for i := 1; ; i++ {
		v := t.Index(i)
		if v.IsNil() {
			return flags
		}
		name, _ := v.AsString()
		flag, known := parseFlag(strings.ToLower(name), false)
		if !known {
			fail(s, "unknown flag given")
		}
		flags |= flag
	}
}

// Call runs a function of the machine's library, which must exist. An error comes from the host's functions;
// the function's own errors are error replies.
func (m *Machine) Call(function string, r *Run) (resp.Value, error) {
	return m.call(m.functions[function], function, r, lua.Of(r.table(r.Keys)), lua.Of(r.table(r.Args)))
}

// OutOfMemory reports whether the last run ran out of memory, alone or with the library's variables.
func (m *Machine) OutOfMemory() bool { return m.outOfMemory }
