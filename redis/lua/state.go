package lua

import (
	"fmt"
	"sync/atomic"
)

// Function is a Lua function: a closure of a script, or a Go function.
type Function struct {
	Name string // name of a Go function, for debugging only

	code *code
	up   []*cell
	env  *Table
	goFn GoFunction
	id   uint32
	mark uint32
}

// GoFunction is a Go function of the embedder. Its arguments are valid until it returns, and its results until
// the next call of the state.
type GoFunction func(s *State, args []Value) []Value

// cell holds a local that an inner function uses.
type cell struct{ v Value }

// frame is a running call. Later calls at the same depth reuse it.
type frame struct {
	s       *State
	fn      *Function
	slots   []Value
	varargs []Value
	args    []Value // arguments of a Go function
	ret     []Value
	one     [1]Value // backs ret if it has one value
	tail    *Function
	tailing []Value
	tails   int // number of tail calls that replaced this frame
	line    int
	site    *site // of the current call
}

// site is a call's place in the source.
type site struct {
	line       int
	kind, name string // "global", "local", "method", "field", "upvalue" or ""
}

// State runs functions. Only one goroutine may use it at a time.
type State struct {
	Globals *Table

	// Roots are values of the embedder that count as reachable.
	Roots []Value

	// Interrupt is called at intervals. An error from it ends the run, and pcall does not catch it. It may be
	// nil.
	Interrupt func() error

	// OnLine is called before each line of a script compiled with CompileDebug. It may be nil.
	OnLine func(Point)

	// Strings is the metatable of strings.
	strings *Table

	callStack
	steps   uint32
	scratch [1]Value
	current *Coroutine

	coroutines []*Coroutine // unfinished ones; only in the main state
	memory
	random random
}

// callStack holds the values and frames of the functions that run.
type callStack struct {
	stack  []Value
	top    int
	frames []*frame
	depth  int
	nested int // depth of calls from Go and metamethods
}

// maxNested is a limit of the reference implementation.
const maxNested = 200

var ids atomic.Uint32

// NewState returns a state without globals.
func NewState() *State {
	s := &State{Globals: NewTable(0, 0)}
	s.stack = make([]Value, 256)
	s.limit = 1 << 62
	s.nextCount = s.limit
	return s
}

// Error is a Lua error that a pcall or the embedder receives.
type Error struct {
	Value  Value
	Source string // source of the function that raised it, as given, or "=[C]"
	Line   int    // 0 if it is unknown
	syntax bool
}

func (e *Error) Error() string { return e.Value.String() }

// Ended reports a run ended by Interrupt or End, with its place.
type Ended struct {
	Err    error
	Source string
	Line   int
}

func (e *Ended) Error() string { return e.Err.Error() }
func (e *Ended) Unwrap() error { return e.Err }

// GoFunc returns a Function that calls fn.
func GoFunc(name string, fn GoFunction) *Function {
	return &Function{Name: name, goFn: fn, id: ids.Add(1)}
}

// Building adds a value that Go code still builds to Roots.
func (s *State) Building(v Value) { s.Roots = append(s.Roots, v) }

// Table makes a table with capacity for array and hash elements, and adds it to Roots.
func (s *State) Table(array, hash int) *Table {
	s.Grow((&Table{}).size() + elementBytes*array + nodeBytes*hash)
	t := NewTable(array, hash)
	s.Building(Of(t))
	return t
}

// Built removes the values from Roots that were added after the first n.
func (s *State) Built(n int) {
	clear(s.Roots[n:])
	s.Roots = s.Roots[:n]
}

// One returns a list of one value, for the result of a GoFunction.
func (s *State) One(v Value) []Value {
	s.scratch[0] = v
	return s.scratch[:]
}

// Call runs a function. An error is an *Error, or an *Ended with the error of Interrupt.
func (s *State) Call(fn *Function, args ...Value) (results []Value, err error) {
	top, depth, nested := s.top, s.depth, s.nested
	defer func() {
		if r := recover(); r != nil {
			s.unwind(top, depth, nested)
			switch r := r.(type) {
			case *Error:
				err = r
			case *Ended:
				err = r
			default:
				panic(r)
			}
		}
	}()
	return s.call(fn, args), nil
}

func (s *State) unwind(top, depth, nested int) {
	for i := depth; i < s.depth; i++ {
		s.frames[i].clear()
	}
	s.top, s.depth, s.nested = top, depth, nested
}

func (f *frame) clear() {
	f.fn, f.slots, f.varargs, f.args, f.ret, f.tail, f.tailing, f.site = nil, nil, nil, nil, nil, nil, nil, nil
	f.one[0] = Nil
}

// alloc takes n values of the stack, all Nil. Resetting s.top frees them.
func (s *State) alloc(n int) []Value {
	base := s.top
	if s.ensureStack(n); n > 0 {
		clear(s.stack[base:s.top])
	}
	return s.stack[base:s.top:s.top]
}

// ensureStack moves the top up by n. A larger stack is a new slice; holders of a part of the old one keep that.
func (s *State) ensureStack(n int) {
	if s.top+n > len(s.stack) {
		s.stack = make([]Value, 2*(s.top+n))
	}
	s.top += n
}

func (s *State) push(fn *Function) *frame {
	if s.depth >= maxDepth {
		s.Raise("stack overflow")
	}
	if s.depth == len(s.frames) {
		s.frames = append(s.frames, &frame{s: s})
	}
	f := s.frames[s.depth]
	s.depth++
	f.fn, f.line, f.tails = fn, 0, 0
	return f
}

// call runs a function. Its results are valid until the next call.
func (s *State) call(fn *Function, args []Value) []Value {
	f := s.push(fn)
	if fn.goFn != nil {
		f.args = args
		ret := fn.goFn(s, args)
		s.depth--
		return ret
	}
	top := s.top
	for {
		c := fn.code
		s.step()
		f.slots = s.alloc(c.slots)
		n := min(len(c.params), len(args))
		for i, v := range c.params[:n] {
			if v.captured {
				f.slots[v.slot] = Value{ref: &cell{args[i]}}
			} else {
				f.slots[v.slot] = args[i]
			}
		}
		for _, v := range c.params[n:] {
			if v.captured {
				f.slots[v.slot] = Value{ref: &cell{}}
			}
		}
		if c.vararg {
			f.varargs = args[n:]
			if c.hasArg != nil {
				f.setArg(c.hasArg)
			}
		}
		f.ret = nil
		c.run(f)
		if f.tail == nil {
			break
		}
		fn, args = f.tail, f.tailing
		f.fn, f.tail, f.tailing = fn, nil, nil
		f.tails++
		s.top = top
	}
	s.top = top
	s.depth--
	return f.ret
}

// setArg sets the local arg of a vararg function without "...".
func (f *frame) setArg(v *variable) {
	t := NewTable(len(f.varargs), 1)
	for i, a := range f.varargs {
		t.SetIndex(i+1, a)
	}
	t.SetField("n", Number(float64(len(f.varargs))))
	f.s.Grow(t.size())
	f.set(v, Of(t))
}

func (f *frame) set(v *variable, to Value) {
	if v.captured {
		f.slots[v.slot] = Value{ref: &cell{to}}
	} else {
		f.slots[v.slot] = to
	}
}

// Invoke calls a function from a Go function of a script. An error propagates to the script.
func (s *State) Invoke(fn Value, args ...Value) []Value {
	f := fn.AsFunction()
	if f == nil {
		if f = s.metamethod(fn, "__call").AsFunction(); f == nil {
			s.Raise("attempt to call a " + fn.Type() + " value")
		}
		args = append([]Value{fn}, args...)
	}
	s.nest()
	if s.depth > 0 {
		defer func(at *frame, was *site) { at.site = was }(s.frames[s.depth-1], s.frames[s.depth-1].site)
		s.frames[s.depth-1].site = nil
	}
	r := s.call(f, args)
	s.nested--
	return r
}

// nest counts a call that Lua makes through C, in which a coroutine cannot yield.
func (s *State) nest() {
	if s.nested++; s.nested >= maxNested {
		s.Raise("C stack overflow")
	}
}

func first(vs []Value) Value {
	if len(vs) > 0 {
		return vs[0]
	}
	return Nil
}

// step counts the work of loops and calls.
func (s *State) step() {
	if s.steps++; s.steps&0xff == 0 && s.Interrupt != nil {
		if err := s.Interrupt(); err != nil {
			s.End(err)
		}
	}
}

// step counts the work of a loop at that line.
func (f *frame) step(line int) {
	f.line = line
	f.s.step()
}

// Check calls Interrupt at once. Go functions that work for long use it.
func (s *State) Check() {
	s.steps |= 0xff
	s.step()
}

// End ends the run with an error that pcall does not catch.
func (s *State) End(err error) {
	if f := s.level(0); f != nil && f.fn.code != nil && f.line == 0 {
		f.line = f.fn.code.fn.line // no line has run yet
	}
	e := s.newError(Nil)
	panic(&Ended{err, e.Source, e.Line})
}

// Reset clears the step count and the stack of earlier runs.
func (s *State) Reset() {
	s.unwind(0, 0, 0)
	s.steps = 0
}

// Errors.

// where returns "chunk:line:" of a level: 0 is the running function, 1 its caller.
func (s *State) where(level int) string {
	if f := s.level(level); f != nil && f.fn.code != nil && f.line > 0 {
		return fmt.Sprintf("%s:%d: ", f.fn.code.fn.chunk, f.line)
	}
	return ""
}

// level returns a running function, or nil: tail calls count as levels without a function.
func (s *State) level(n int) *frame {
	for i := s.depth - 1; i >= 0; i-- {
		if n == 0 {
			return s.frames[i]
		}
		if n--; n < s.frames[i].tails {
			return nil
		}
		n -= s.frames[i].tails
	}
	return nil
}

// ThrowValue raises a value as an error.
func (s *State) ThrowValue(v Value) { panic(s.newError(v)) }

// newError returns an error with the place of the running function or of its caller.
func (s *State) newError(v Value) *Error {
	e := &Error{Value: v}
	f := s.level(0)
	if f != nil && f.fn.code == nil {
		f = s.level(1)
	}
	switch {
	case f == nil:
	case f.fn.code == nil:
		e.Source, e.Line = "=[C]", -1
	default:
		e.Source, e.Line = f.fn.code.fn.source, f.line
	}
	return e
}

// Throw raises a message with the place of the innermost script function: the running one or its caller.
func (s *State) Throw(msg string) {
	level := 0
	if s.depth > 0 && s.frames[s.depth-1].fn.code == nil {
		level = 1
	}
	s.ThrowValue(String(s.where(level) + msg))
}

// BadArgument raises the error for the n-th argument, from 1, of the running Go function.
func (s *State) BadArgument(n int, why string) {
	name := "?"
	if caller := s.level(1); caller != nil && caller.site != nil && caller.fn.code != nil && caller.site.name != "" {
		name = caller.site.name
		if caller.site.kind == "method" {
			if n--; n == 0 {
				s.Throw(fmt.Sprintf("calling '%s' on bad self (%s)", name, why))
			}
		}
	}
	s.Throw(fmt.Sprintf("bad argument #%d to '%s' (%s)", n, name, why))
}

// Raise raises a message with the place of the running function; a Go function has none. It reports errors that
// Lua itself finds.
func (s *State) Raise(msg string) { s.ThrowValue(String(s.where(0) + msg)) }

// at raises a message at a line of a running function.
func (f *frame) at(line int, msg string) {
	f.line = line
	f.s.Raise(msg)
}

// typeError raises the error of an operation on a value of the wrong type. e is the expression of the value.
func (f *frame) typeError(line int, op string, e any, v Value) {
	if kind, name := nameOf(e); kind != "" {
		f.at(line, fmt.Sprintf("attempt to %s %s '%s' (a %s value)", op, kind, name, v.Type()))
	}
	f.at(line, fmt.Sprintf("attempt to %s a %s value", op, v.Type()))
}

// nameOf returns the kind and the name of an expression for messages, if it has a name.
func nameOf(e any) (kind, name string) {
	switch e := e.(type) {
	case *localRef:
		return "local", e.v.name
	case *globalRef:
		return "global", e.name.s
	case *index:
		if c, ok := e.key.(*constant); ok {
			if s, ok := c.v.AsString(); ok {
				return "field", cut(s)
			}
		}
		return "field", "?"
	case *paren:
		return nameOf(e.of)
	case *named:
		return e.kind, e.name
	}
	return "", ""
}

// named is an expression with a name that its tree lacks: a method or an upvalue.
type named struct{ kind, name string }

// Load compiles a chunk to a function of the state. A name that begins with "=" or "@" is used in messages.
func (s *State) Load(source, name string) (fn *Function, err error) {
	p, err := Compile(source, name, s.Grow)
	if err != nil {
		return nil, err
	}
	return s.Bind(p, s.Globals), nil
}

// Program is a compiled chunk. Many states can run it.
type Program struct{ code *code }

// Compile compiles a chunk. It calls grow with the bytes that it is about to allocate. The error is an *Error.
func Compile(source, name string, grow func(bytes int)) (*Program, error) {
	return compileChunk(source, name, grow, false)
}

func compileChunk(source, name string, grow func(bytes int), debug bool) (p *Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok || !e.syntax {
				panic(r)
			}
			err = e
		}
	}()
	return &Program{compile(parse(source, name, grow, debug))}, nil
}

// Bind returns a function of a program with its globals.
func (s *State) Bind(p *Program, globals *Table) *Function {
	return &Function{code: p.code, env: globals, id: ids.Add(1)}
}
