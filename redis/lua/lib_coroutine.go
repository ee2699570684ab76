package lua

import "iter"

// Coroutine is a Lua thread: a state of its own, which runs when it is resumed.
type Coroutine struct {
	state  *State
	parent *State // the state that resumed it
	fn     *Function
	status string // "suspended", "running", "normal" or "dead"
	in     []Value
	out    []Value
	failed *Error
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	id     uint32
	mark   uint32
}

var coroutineFunctions map[string]GoFunction

func init() {
	coroutineFunctions = map[string]GoFunction{
		"create": coroutineCreate, "resume": coroutineResume, "running": coroutineRunning, "status": coroutineStatus,
		"wrap": coroutineWrap, "yield": coroutineYield,
	}
}

// coroutineClosed unwinds a coroutine that will not be resumed.
type coroutineClosed struct{}

// Close ends the suspended coroutines.
func (s *State) Close() {
	for _, c := range s.coroutines {
		c.stop()
	}
	s.coroutines = nil
}

func (s *State) root() *State {
	for s.current != nil {
		s = s.current.parent
	}
	return s
}

func (s *State) coroutine(args []Value) *Coroutine {
	fn := Arg(args, 1).AsFunction()
	if fn == nil || fn.code == nil {
		s.BadArgument(1, "Lua function expected")
	}
	c := &Coroutine{fn: fn, status: "suspended", id: ids.Add(1)}
	c.state = &State{Globals: s.Globals, Interrupt: s.Interrupt, strings: s.strings, current: c, callStack: callStack{stack: make([]Value, 64)}}
	c.state.limit, c.state.nextCount = s.limit, s.nextCount
	s.Grow(1 << 12)
	return c
}

// run is the body of the coroutine's own goroutine.
func (c *Coroutine) run(yield func(struct{}) bool) {
	c.yield = yield
	defer func() {
		switch r := recover().(type) {
		case nil:
		case coroutineClosed:
		case *Error:
			c.failed = r
		default:
			panic(r) // continues in the resumer
		}
		c.status = "dead"
	}()
	c.out = append([]Value(nil), c.state.call(c.fn, c.in)...)
}

func (s *State) resume(c *Coroutine, args []Value) ([]Value, *Error) {
	if s.nested >= maxNested-1 {
		s.Throw("C stack overflow")
	}
	if c.next == nil {
		c.next, c.stop = iter.Pull(c.run)
		root := s.root()
		root.coroutines = append(root.coroutines, c)
	}
	if s.current != nil {
		s.current.status = "normal"
	}
	c.parent, c.status = s, "running"
	c.in, c.out = append([]Value(nil), args...), nil
	c.state.memory, c.state.random, c.state.nested = s.memory, s.random, s.nested+1
	c.next()
	s.memory, s.random = c.state.memory, c.state.random
	if s.current != nil {
		s.current.status = "running"
	}
	if c.status == "running" {
		c.status = "suspended"
	}
	if c.status == "dead" {
		s.root().unlink(c)
	}
	failed := c.failed
	c.failed = nil
	return c.out, failed
}

func (s *State) unlink(c *Coroutine) {
	for i, have := range s.coroutines {
		if have == c {
			s.coroutines[i] = s.coroutines[len(s.coroutines)-1]
			s.coroutines = s.coroutines[:len(s.coroutines)-1]
			return
		}
	}
}

func coroutineCreate(s *State, args []Value) []Value {
	return s.One(Of(s.coroutine(args)))
}

func (s *State) checkCoroutine(args []Value) *Coroutine {
	c, ok := Arg(args, 1).ref.(*Coroutine)
	if !ok {
		s.BadArgument(1, "coroutine expected")
	}
	return c
}

func coroutineResume(s *State, args []Value) []Value {
	c := s.checkCoroutine(args)
	if c.status != "suspended" {
		return []Value{False, String("cannot resume " + c.status + " coroutine")}
	}
	vs, failed := s.resume(c, args[1:])
	if failed != nil {
		return []Value{False, failed.Value}
	}
	return append([]Value{True}, vs...)
}

func coroutineWrap(s *State, args []Value) []Value {
	c := s.coroutine(args)
	return s.One(Of(GoFunc("wrap", func(s *State, args []Value) []Value {
		if c.status != "suspended" {
			s.Throw("cannot resume " + c.status + " coroutine")
		}
		vs, failed := s.resume(c, args)
		if failed != nil {
			if text, ok := failed.Value.Text(); ok {
				s.ThrowValue(String(s.where(1) + text))
			}
			s.ThrowValue(failed.Value)
		}
		return vs
	})))
}

func coroutineYield(s *State, args []Value) []Value {
	c := s.current
	if c == nil || s.nested > c.parent.nested+1 {
		s.Raise("attempt to yield across metamethod/C-call boundary")
	}
	c.out = append([]Value(nil), args...)
	if !c.yield(struct{}{}) {
		panic(coroutineClosed{})
	}
	return c.in
}

func coroutineStatus(s *State, args []Value) []Value {
	return s.One(String(s.checkCoroutine(args).status))
}

func coroutineRunning(s *State, _ []Value) []Value {
	if s.current == nil {
		return s.One(Nil)
	}
	return s.One(Of(s.current))
}
