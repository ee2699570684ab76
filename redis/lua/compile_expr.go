package lua

// named returns e, with its name if it is an upvalue, which does not know its own.
func (c *compiler) named(e any) any {
	if u, ok := e.(*upvalRef); ok {
		return &named{"upvalue", c.fn.names[u.index]}
	}
	switch e := e.(type) {
	case *paren:
		return c.named(e.of)
	case *logical: // of "x and y or z" Lua finds the name of z
		if left, ok := c.named(e.left).(*logical); ok && left.and != e.and {
			return c.named(e.right)
		}
	}
	return e
}

func (c *compiler) expr(e any) expr {
	switch e := e.(type) {
	case *constant:
		v := c.constant(e)
		return func(*frame) Value { return v }
	case *localRef:
		slot := e.v.slot
		if e.v.captured {
			return func(f *frame) Value { return f.slots[slot].ref.(*cell).v }
		}
		return func(f *frame) Value { return f.slots[slot] }
	case *upvalRef:
		i := e.index
		return func(f *frame) Value { return f.fn.up[i].v }
	case *globalRef:
		return c.global(e)
	case *varargs:
		return func(f *frame) Value { return first(f.varargs) }
	case *index:
		return c.index(e)
	case *callExpr:
		call := c.call(e)
		return func(f *frame) Value {
			if vs := call(f); len(vs) > 0 {
				return vs[0]
			}
			return Nil
		}
	case *functionExpr:
		return c.function(e.fn)
	case *tableExpr:
		return c.table(e)
	case *paren:
		return c.expr(e.of)
	case *logical:
		left, right := c.expr(e.left), c.expr(e.right)
		if e.and {
			return func(f *frame) Value {
				if v := left(f); !v.Truth() {
					return v
				}
				return right(f)
			}
		}
		return func(f *frame) Value {
			if v := left(f); v.Truth() {
				return v
			}
			return right(f)
		}
	case *unary:
		return c.unary(e)
	case *binary:
		return c.binary(e)
	}
	panic("lua: an expression that the compiler does not know")
}

// constant returns the value of e. In Lua 5.1 a function has one constant for 0 and -0, with the sign of the
// first.
func (c *compiler) constant(e *constant) Value {
	if !isNum(e.v) || e.v.num != 0 {
		return e.v
	}
	if c.zero == nil {
		c.zero = &e.v
	}
	return *c.zero
}

func (c *compiler) global(e *globalRef) expr {
	name, line := e.name, e.line
	name.sum() // compute the hash here, because programs are shared
	key := Value{ref: name}
	return func(f *frame) Value {
		if v := f.fn.env.getText(name); !v.IsNil() {
			return v
		}
		return f.index(Of(f.fn.env), key, line, nil)
	}
}

func (c *compiler) index(e *index) expr {
	object, line, of := c.expr(e.object), e.line, c.named(e.object)
	if k, ok := e.key.(*constant); ok {
		key := c.constant(k)
		if name, ok := key.ref.(*text); ok {
			name.sum()
			return func(f *frame) Value {
				o := object(f)
				if t, ok := o.ref.(*Table); ok {
					if v := t.getText(name); !v.IsNil() {
						return v
					}
				}
				return f.index(o, key, line, of)
			}
		}
		return func(f *frame) Value { return f.index(object(f), key, line, of) }
	}
	key := c.expr(e.key)
	return func(f *frame) Value {
		o := object(f)
		return f.index(o, key(f), line, of)
	}
}

func (c *compiler) unary(e *unary) expr {
	of, line, name := c.expr(e.of), e.line, c.named(e.of)
	switch e.op {
	case tNot:
		return func(f *frame) Value { return Bool(!of(f).Truth()) }
	case '#':
		return func(f *frame) Value { return f.length(of(f), name, line) }
	}
	return func(f *frame) Value { return f.negate(of(f), name, line) }
}

func (c *compiler) binary(e *binary) expr {
	switch e.op {
	case tConcat:
		return c.concat(e)
	case tEq, tNe, '<', '>', tLe, tGe:
		t := c.compare(e)
		return func(f *frame) Value { return Bool(t(f)) }
	}
	left, right := c.operands(e)
	l, r, line, op := c.named(e.left), c.named(e.right), e.line, e.op
	slow := func(f *frame, a, b Value) Value { return f.arith(op, a, b, l, r, line) }
	apply := arithmetic[op]
	switch op {
	case '+':
		return func(f *frame) Value {
			a, b := left(f), right(f)
			if isNum(a) && isNum(b) {
				if n := a.num + b.num; n == n {
					return Number(n)
				}
			}
			return slow(f, a, b)
		}
	case '-':
		return func(f *frame) Value {
			a, b := left(f), right(f)
			if isNum(a) && isNum(b) {
				if n := a.num - b.num; n == n {
					return Number(n)
				}
			}
			return slow(f, a, b)
		}
	}
	return func(f *frame) Value {
		a, b := left(f), right(f)
		if isNum(a) && isNum(b) {
			return Number(apply(a.num, b.num))
		}
		return slow(f, a, b)
	}
}

// operands compiles the operands of e. If the left one is a constant, Lua 5.1 adds the constants of the right one first.
func (c *compiler) operands(e *binary) (left, right expr) {
	if _, ok := constantNumber(e.left); ok {
		right = c.expr(e.right)
		left = c.expr(e.left)
		return left, right
	}
	left = c.expr(e.left)
	right = c.expr(e.right)
	return left, right
}

func isNum(v Value) bool {
	_, ok := v.ref.(isNumber)
	return ok
}

// concat joins a whole chain of operands at once, from right to left.
func (c *compiler) concat(e *binary) expr {
	var parts []any
	var lines []int
	for at := any(e); ; {
		b, ok := at.(*binary)
		if !ok || b.op != tConcat {
			parts = append(parts, at)
			break
		}
		parts, lines = append(parts, b.left), append(lines, b.line)
		at = b.right
	}
	exprs, names := make([]expr, len(parts)), make([]any, len(parts))
	for i, p := range parts {
		exprs[i], names[i] = c.expr(p), c.named(p)
	}
	n := len(parts)
	return func(f *frame) Value {
		top := f.s.top
		vs := f.s.alloc(n)
		size, plain := 0, true
		for i, e := range exprs {
			vs[i] = e(f)
			switch r := vs[i].ref.(type) {
			case *text:
				size += len(r.s)
			case isNumber:
				size += 8
			default:
				plain = false
			}
		}
		if plain {
			v := f.joined(vs, size)
			f.s.top = top
			return v
		}
		v := vs[n-1]
		for i := n - 2; i >= 0; i-- {
			of := names[i+1]
			if i < n-2 {
				of = nil
			}
			v = f.concat(vs[i], v, names[i], of, lines[i])
		}
		f.s.top = top
		return v
	}
}

func (f *frame) joined(vs []Value, size int) Value {
	f.s.Grow(size)
	b := make([]byte, 0, size)
	for _, v := range vs {
		s, _ := v.Text()
		b = append(b, s...)
	}
	return String(string(b))
}

func (c *compiler) compare(e *binary) test {
	left, right, line := c.expr(e.left), c.expr(e.right), e.line
	switch e.op {
	case tEq:
		return func(f *frame) bool {
			a, b := left(f), right(f)
			f.line = line
			return f.s.equal(a, b)
		}
	case tNe:
		return func(f *frame) bool {
			a, b := left(f), right(f)
			f.line = line
			return !f.s.equal(a, b)
		}
	case '<':
		return func(f *frame) bool { a := left(f); return f.less(a, right(f), line) }
	case '>':
		return func(f *frame) bool { a := left(f); return f.less(right(f), a, line) }
	case tLe:
		return func(f *frame) bool { a := left(f); return f.lessEqual(a, right(f), line) }
	}
	return func(f *frame) bool { a := left(f); return f.lessEqual(right(f), a, line) }
}

// test compiles an expression that is only tested for truth.
func (c *compiler) test(e any) test {
	switch e := e.(type) {
	case *binary:
		switch e.op {
		case tEq, tNe, '<', '>', tLe, tGe:
			return c.compare(e)
		}
	case *unary:
		if e.op == tNot {
			of := c.test(e.of)
			return func(f *frame) bool { return !of(f) }
		}
	case *logical:
		left, right := c.test(e.left), c.test(e.right)
		if e.and {
			return func(f *frame) bool { return left(f) && right(f) }
		}
		return func(f *frame) bool { return left(f) || right(f) }
	case *paren:
		return c.test(e.of)
	}
	value := c.expr(e)
	return func(f *frame) bool { return value(f).Truth() }
}
