package lua

import "strings"

// Point is a line that a script compiled with CompileDebug is about to run.
type Point struct {
	Line  int
	frame *frame
	vars  []*variable
}

// Local is a local variable and its value.
type Local struct {
	Name  string
	Value Value
}

// pauseStmt calls OnLine before a statement of a script compiled with CompileDebug.
type pauseStmt struct {
	line int
	vars []*variable // the visible locals
}

// CompileDebug is Compile for a debugger: a state calls OnLine before each line.
func CompileDebug(source, name string, grow func(bytes int)) (*Program, error) {
	return compileChunk(source, name, grow, true)
}

// pause adds a pauseStmt to a body while debugging.
func (p *parser) pause(body []any, line int) []any {
	if !p.debug {
		return body
	}
	var vars []*variable
	for _, v := range p.actives[p.scopes[len(p.scopes)-1]:] {
		if !strings.HasPrefix(v.name, "(") {
			vars = append(vars, v)
		}
	}
	return append(body, &pauseStmt{line, vars})
}

func (c *compiler) pause(s *pauseStmt) stmt {
	return func(f *frame) flow {
		f.line = s.line
		if on := f.s.OnLine; on != nil {
			on(Point{s.line, f, s.vars})
		}
		return flowNext
	}
}

// Locals returns the visible locals of the function that runs, in the order of their declarations.
func (p Point) Locals() []Local {
	var all []Local
	for _, v := range p.vars {
		value := p.frame.slots[v.slot]
		if cell, ok := value.ref.(*cell); ok && v.captured {
			value = cell.v
		}
		all = append(all, Local{v.name, value})
	}
	return all
}

// Lookup returns the value of a local, or of a local of an enclosing function.
func (p Point) Lookup(name string) (v Value, ok bool) {
	for _, l := range p.Locals() {
		if l.Name == name {
			v, ok = l.Value, true // the innermost is the last
		}
	}
	if ok {
		return v, true
	}
	for i, upvalue := range p.frame.fn.code.fn.names {
		if upvalue == name {
			return p.frame.fn.up[i].v, true
		}
	}
	return Nil, false
}

// Call is a running Lua function: its name at the place of the call, "" for the main chunk, and the line it runs.
type Call struct {
	Name string
	Line int
}

// Calls returns the running Lua functions, the innermost first.
func (s *State) Calls() []Call {
	var calls []Call
	for i := s.depth - 1; i >= 0; i-- {
		f := s.frames[i]
		if f.fn.code == nil {
			continue
		}
		call := Call{Line: f.line}
		if f.fn.code.fn.line > 0 {
			call.Name = "function"
			if i > 0 && s.frames[i-1].site != nil && s.frames[i-1].site.name != "" {
				call.Name = s.frames[i-1].site.name
			}
		}
		calls = append(calls, call)
	}
	return calls
}

// Depth returns the number of running functions.
func (s *State) Depth() int { return s.depth }
