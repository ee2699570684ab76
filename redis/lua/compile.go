package lua

// A tree is compiled to closures: an expression is a function of the frame that returns its value, and a
// statement is one that returns where execution continues.

type (
	expr  func(f *frame) Value
	list  func(f *frame) []Value // the values of a call or of "...", valid until the next call
	test  func(f *frame) bool
	stmt  func(f *frame) flow
	store func(f *frame, v Value)
)

// flow names the way a statement ends.
type flow int

const (
	flowNext flow = iota
	flowBreak
	flowReturn
)

// code is a compiled function body.
type code struct {
	fn     *function
	params []*variable
	slots  int
	vararg bool
	hasArg *variable
	run    stmt
}

type compiler struct {
	fn   *function
	zero *Value // the first constant of the function that is 0 or -0
}

func compile(fn *function) *code {
	if fn.code == nil {
		c := &compiler{fn: fn}
		fn.code = &code{fn: fn, params: fn.params, slots: fn.slots, vararg: fn.vararg, hasArg: fn.hasArg, run: c.block(fn.body)}
	}
	return fn.code
}

// block runs statements in order.
func (c *compiler) block(body []any) stmt {
	stmts := make([]stmt, len(body))
	for i, s := range body {
		stmts[i] = c.stmt(s)
	}
	switch len(stmts) {
	case 0:
		return func(*frame) flow { return flowNext }
	case 1:
		return stmts[0]
	case 2:
		a, b := stmts[0], stmts[1]
		return func(f *frame) flow {
			if r := a(f); r != flowNext {
				return r
			}
			return b(f)
		}
	}
	return func(f *frame) flow {
		for _, s := range stmts {
			if r := s(f); r != flowNext {
				return r
			}
		}
		return flowNext
	}
}

func (c *compiler) stmt(s any) stmt {
	switch s := s.(type) {
	case *localStmt:
		return c.local(s)
	case *assignment:
		return c.assign(s)
	case *callStmt:
		call := c.call(s.call)
		return func(f *frame) flow {
			call(f)
			return flowNext
		}
	case *block:
		return c.block(s.body)
	case *whileStmt:
		return c.whileLoop(s)
	case *repeatStmt:
		return c.repeatLoop(s)
	case *ifStmt:
		return c.ifStmt(s)
	case *numericFor:
		return c.numericFor(s)
	case *genericFor:
		return c.genericFor(s)
	case *localFunction:
		return c.localFunction(s)
	case *returnStmt:
		return c.returns(s)
	case *pauseStmt:
		return c.pause(s)
	}
	return func(*frame) flow { return flowBreak }
}

func (c *compiler) whileLoop(s *whileStmt) stmt {
	cond, body, line := c.test(s.cond), c.stmt(s.body), s.line
	return func(f *frame) flow {
		for cond(f) {
			f.step(line)
			if r := body(f); r == flowReturn {
				return r
			} else if r == flowBreak {
				break
			}
		}
		return flowNext
	}
}

func (c *compiler) repeatLoop(s *repeatStmt) stmt {
	cond, body, line := c.test(s.cond), c.block(s.body), s.line
	return func(f *frame) flow {
		for {
			f.step(line)
			if r := body(f); r == flowReturn {
				return r
			} else if r == flowBreak || cond(f) {
				return flowNext
			}
		}
	}
}

func (c *compiler) localFunction(s *localFunction) stmt {
	v, make := s.v, c.function(s.fn)
	return func(f *frame) flow {
		f.set(v, Nil) // makes the function visible to itself
		fn := make(f)
		if v.captured {
			f.slots[v.slot].ref.(*cell).v = fn
		} else {
			f.slots[v.slot] = fn
		}
		return flowNext
	}
}

func (c *compiler) local(s *localStmt) stmt {
	if len(s.vars) == 1 && len(s.values) == 1 {
		v, value := s.vars[0], c.expr(s.values[0])
		if !v.captured {
			slot := v.slot
			return func(f *frame) flow {
				f.slots[slot] = value(f)
				return flowNext
			}
		}
		return func(f *frame) flow {
			f.set(v, value(f))
			return flowNext
		}
	}
	vars := s.vars
	values := c.values(s.values, len(vars))
	return func(f *frame) flow {
		top := f.s.top
		vs := values(f)
		for i, v := range vars {
			f.set(v, vs[i])
		}
		f.s.top = top
		return flowNext
	}
}

// values evaluates expressions to exactly n values on the stack. The caller resets its top.
func (c *compiler) values(es []any, n int) list {
	if len(es) == 0 {
		return func(f *frame) []Value { return f.s.alloc(n) }
	}
	last := len(es) - 1
	single, rest := c.exprs(es)
	return func(f *frame) []Value {
		vs := f.s.alloc(max(n, len(single)))
		for i, e := range single {
			vs[i] = e(f)
		}
		if rest != nil {
			copy(vs[last:], rest(f))
		}
		return vs
	}
}

func (c *compiler) assign(s *assignment) stmt {
	if len(s.targets) == 1 && len(s.values) == 1 {
		if t, ok := s.targets[0].(*index); ok {
			object, key, value := c.expr(t.object), c.expr(t.key), c.expr(s.values[0])
			line, of := s.line, c.named(t.object)
			return func(f *frame) flow {
				o, k := object(f), key(f)
				f.setIndex(o, k, value(f), line, of)
				return flowNext
			}
		}
		value, to := c.expr(s.values[0]), c.store(s.targets[0], s.line)
		if l, ok := s.targets[0].(*localRef); ok && !l.v.captured {
			slot := l.v.slot
			return func(f *frame) flow {
				f.slots[slot] = value(f)
				return flowNext
			}
		}
		return func(f *frame) flow {
			to(f, value(f))
			return flowNext
		}
	}
	return c.assignMany(s)
}

// assignMany evaluates tables and keys, then the values, and then assigns from the
// last to the first.
func (c *compiler) assignMany(s *assignment) stmt {
	n := len(s.targets)
	objects, keys, stores, names := make([]expr, n), make([]expr, n), make([]store, n), make([]any, n)
	for i, t := range s.targets {
		if t, ok := t.(*index); ok {
			objects[i], keys[i], names[i] = c.expr(t.object), c.expr(t.key), c.named(t.object)
			continue
		}
		stores[i] = c.store(t, s.line)
	}
	values := c.values(s.values, n)
	line := s.line
	return func(f *frame) flow {
		top := f.s.top
		at := f.s.alloc(2 * n)
		for i, o := range objects {
			if o != nil {
				at[2*i], at[2*i+1] = o(f), keys[i](f)
			}
		}
		vs := values(f)
		for i := n - 1; i >= 0; i-- {
			if objects[i] != nil {
				f.setIndex(at[2*i], at[2*i+1], vs[i], line, names[i])
			} else {
				stores[i](f, vs[i])
			}
		}
		f.s.top = top
		return flowNext
	}
}

func (c *compiler) store(target any, line int) store {
	switch t := target.(type) {
	case *localRef:
		slot := t.v.slot
		if t.v.captured {
			return func(f *frame, v Value) { f.slots[slot].ref.(*cell).v = v }
		}
		return func(f *frame, v Value) { f.slots[slot] = v }
	case *upvalRef:
		i := t.index
		return func(f *frame, v Value) { f.fn.up[i].v = v }
	case *globalRef:
		key := Value{ref: t.name}
		return func(f *frame, v Value) { f.setIndex(Of(f.fn.env), key, v, line, nil) }
	}
	return nil
}

func (c *compiler) ifStmt(s *ifStmt) stmt {
	conds, blocks := make([]test, len(s.conds)), make([]stmt, len(s.blocks))
	for i, e := range s.conds {
		conds[i] = c.test(e)
	}
	for i, b := range s.blocks {
		blocks[i] = c.block(b)
	}
	var otherwise stmt
	if len(blocks) > len(conds) {
		otherwise = blocks[len(conds)]
	}
	return func(f *frame) flow {
		for i, cond := range conds {
			if cond(f) {
				return blocks[i](f)
			}
		}
		if otherwise != nil {
			return otherwise(f)
		}
		return flowNext
	}
}

func (c *compiler) numericFor(s *numericFor) stmt {
	from, limit := c.expr(s.from), c.expr(s.limit)
	step := func(*frame) Value { return Number(1) }
	if s.step != nil {
		step = c.expr(s.step)
	}
	v, body, line, doLine := s.v, c.block(s.body), s.line, s.doLine
	return func(f *frame) flow {
		a, b, d := from(f), limit(f), step(f)
		i, ok := a.ToNumber()
		if !ok {
			f.at(doLine, "'for' initial value must be a number")
		}
		end, ok := b.ToNumber()
		if !ok {
			f.at(doLine, "'for' limit must be a number")
		}
		by, ok := d.ToNumber()
		if !ok {
			f.at(doLine, "'for' step must be a number")
		}
		for i = i - by + by; by > 0 && i <= end || by <= 0 && end <= i; i += by {
			f.step(line)
			if v.captured {
				f.slots[v.slot] = Value{ref: &cell{Number(i)}}
			} else {
				f.slots[v.slot] = Number(i)
			}
			if r := body(f); r == flowReturn {
				return r
			} else if r == flowBreak {
				break
			}
		}
		return flowNext
	}
}

func (c *compiler) genericFor(s *genericFor) stmt {
	init, vars, state, line := c.values(s.values, 3), s.vars, s.state, s.line
	body := c.block(s.body)
	at := &site{line: line, name: "(for generator)"} // used for a bad argument, not for a bad call
	return func(f *frame) flow {
		top := f.s.top
		copy(f.slots[state:state+3], init(f))
		f.s.top = top
		for {
			f.step(line)
			f.line, f.site = line, at
			next, args := f.callee(f.slots[state], f.s.alloc(2), at, nil)
			args[len(args)-2], args[len(args)-1] = f.slots[state+1], f.slots[state+2]
			f.s.nest() // the function cannot yield
			vs := f.s.call(next, args)
			f.s.nested--
			f.s.top = top
			if len(vs) == 0 || vs[0].IsNil() {
				return flowNext
			}
			f.slots[state+2] = vs[0]
			for i, v := range vars {
				if i < len(vs) {
					f.set(v, vs[i])
				} else {
					f.set(v, Nil)
				}
			}
			if r := body(f); r == flowReturn {
				return r
			} else if r == flowBreak {
				return flowNext
			}
		}
	}
}

func (c *compiler) returns(s *returnStmt) stmt {
	switch len(s.values) {
	case 0:
		return func(f *frame) flow {
			f.ret = nil
			return flowReturn
		}
	case 1:
		if call, ok := s.values[0].(*callExpr); ok {
			return c.tailCall(call)
		}
		if _, ok := s.values[0].(*varargs); ok {
			return func(f *frame) flow {
				f.ret = f.varargs
				return flowReturn
			}
		}
		value := c.expr(s.values[0])
		return func(f *frame) flow {
			f.one[0] = value(f)
			f.ret = f.one[:]
			return flowReturn
		}
	}
	values := c.args(s.values, false)
	return func(f *frame) flow {
		f.ret = values(f, Nil)
		return flowReturn
	}
}
