package lua

import "fmt"

// args evaluates the arguments of a call, or another list, on the stack. With self the first value is the
// object. The caller resets the stack's top.
func (c *compiler) args(es []any, self bool) func(f *frame, first Value) []Value {
	n := 0
	if self {
		n = 1
	}
	single, rest := c.exprs(es)
	if rest == nil && len(single) == 1 && !self {
		only := single[0]
		return func(f *frame, _ Value) []Value {
			vs := f.s.alloc(1)
			vs[0] = only(f)
			return vs
		}
	}
	return func(f *frame, self Value) []Value {
		base := f.s.top
		vs := f.s.alloc(n + len(single))
		if n > 0 {
			vs[0] = self
		}
		for i, e := range single {
			vs[n+i] = e(f)
		}
		if rest == nil {
			return vs
		}
		more := rest(f)
		end := base + len(vs) + len(more)
		if end > len(f.s.stack) || len(vs) > 0 && &f.s.stack[base] != &vs[0] {
			return append(vs, more...)
		}
		copy(f.s.stack[base+len(vs):end], more)
		f.s.top = end
		return f.s.stack[base:end:end]
	}
}

// exprs compiles a list of expressions in their order, which decides the sign of a zero constant. rest is the last
// one if it has any number of values, else nil.
func (c *compiler) exprs(es []any) (single []expr, rest list) {
	for i, e := range es {
		if i == len(es)-1 {
			if rest = c.multi(e); rest != nil {
				break
			}
		}
		single = append(single, c.expr(e))
	}
	return single, rest
}

// callee returns the function to call for a value: the value itself, or its __call, which then gets the value
// as its first argument.
func (f *frame) callee(fn Value, args []Value, at *site, of any) (*Function, []Value) {
	if r, ok := fn.ref.(*Function); ok {
		return r, args
	}
	h := f.s.metamethod(fn, "__call").AsFunction()
	if h == nil {
		if at.kind != "" {
			f.at(at.line, fmt.Sprintf("attempt to call %s '%s' (a %s value)", at.kind, at.name, fn.Type()))
		}
		f.at(at.line, "attempt to call a "+fn.Type()+" value")
	}
	return h, append([]Value{fn}, args...)
}

// prepared evaluates a call up to its function and arguments.
func (c *compiler) prepared(e *callExpr) func(f *frame) (*Function, []Value) {
	fn := c.expr(e.fn)
	args := c.args(e.args, e.method != nil)
	at := &site{line: e.line}
	if e.method != nil {
		at.kind, at.name = "method", e.method.s
		key, of := Value{ref: e.method}, c.named(e.fn)
		return func(f *frame) (*Function, []Value) {
			self := fn(f)
			method := f.index(self, key, at.line, of)
			vs := args(f, self)
			f.line, f.site = at.line, at
			return f.callee(method, vs, at, nil)
		}
	}
	at.kind, at.name = nameOf(c.named(e.fn))
	return func(f *frame) (*Function, []Value) {
		callee := fn(f)
		vs := args(f, Nil)
		f.line, f.site = at.line, at
		if r, ok := callee.ref.(*Function); ok {
			return r, vs
		}
		return f.callee(callee, vs, at, nil)
	}
}

// call evaluates a call to all of its results.
func (c *compiler) call(e *callExpr) list {
	prepared := c.prepared(e)
	return func(f *frame) []Value {
		top := f.s.top
		fn, args := prepared(f)
		vs := f.s.call(fn, args)
		f.s.top = top
		return vs
	}
}

// tailCall leaves the call to the loop in State.call, unless the function is a Go function.
func (c *compiler) tailCall(e *callExpr) stmt {
	prepared := c.prepared(e)
	return func(f *frame) flow {
		top := f.s.top
		fn, args := prepared(f)
		if fn.goFn != nil {
			f.ret = f.s.call(fn, args)
			f.s.top = top
			return flowReturn
		}
		f.tail, f.tailing = fn, append([]Value(nil), args...)
		f.s.top = top
		return flowReturn
	}
}

// multi compiles an expression with any number of values. It returns nil for an expression with exactly one
// value.
func (c *compiler) multi(e any) list {
	switch e := e.(type) {
	case *callExpr:
		return c.call(e)
	case *varargs:
		return func(f *frame) []Value { return f.varargs }
	}
	return nil
}

// function compiles the creation of a closure.
func (c *compiler) function(fn *function) expr {
	body := compile(fn)
	captures := fn.upvalues
	return func(f *frame) Value {
		made := &Function{code: body, env: f.fn.env}
		f.s.Grow(64 + 8*len(captures))
		if len(captures) > 0 {
			made.up = make([]*cell, len(captures))
			for i, u := range captures {
				if u.local != nil {
					made.up[i] = f.slots[u.local.slot].ref.(*cell)
				} else {
					made.up[i] = f.fn.up[u.outer]
				}
			}
		}
		made.id = ids.Add(1)
		return Of(made)
	}
}

func (c *compiler) table(e *tableExpr) expr {
	items, rest := c.tableItems(e)
	array, hash := encodedSize(e.array), encodedSize(len(e.items)-e.array)
	if rest != nil {
		array = encodedSize(e.array - 1)
	}
	// Items without a key are stored some at a time, which another item can see that has a key.
	const together = 50
	waits := 0
	if hash > 0 {
		waits = min(array, together)
	}
	return func(f *frame) Value {
		t := NewTable(array, hash)
		f.s.Grow(t.size())
		top := f.s.top
		pending := f.s.alloc(waits)
		n, waiting := 0, 0
		store := func() {
			for i, v := range pending[:waiting] {
				f.s.Set(t, Number(float64(n-waiting+i+1)), v)
			}
			waiting = 0
		}
		for i := range items {
			it := &items[i]
			if waiting == together {
				store()
			}
			switch {
			case it.key != nil:
				k := it.key(f)
				f.rawSet(t, k, it.value(f), it.line)
			case waits > 0:
				v := it.value(f)
				pending[waiting] = v
				n, waiting = n+1, waiting+1
			default:
				n++
				f.s.Set(t, Number(float64(n)), it.value(f))
			}
		}
		if rest != nil {
			vs := rest(f)
			store()
			f.appendValues(t, n, vs)
		} else {
			store()
		}
		f.s.top = top
		return Of(t)
	}
}

// compiledItem is a compiled item of a table constructor; key is nil for an item of the array.
type compiledItem struct {
	key, value expr
	line       int
}

// tableItems compiles the items of a table constructor. rest is the last item if it can have several values.
func (c *compiler) tableItems(e *tableExpr) (items []compiledItem, rest list) {
	items = make([]compiledItem, 0, len(e.items))
	for i, it := range e.items {
		made := compiledItem{line: it.line}
		if it.key != nil {
			made.key = c.expr(it.key)
		} else if i == len(e.items)-1 {
			if rest = c.multi(it.value); rest != nil {
				return items, rest
			}
		}
		made.value = c.expr(it.value)
		items = append(items, made)
	}
	return items, nil
}

// appendValues stores vs after the first n elements of t.
func (f *frame) appendValues(t *Table, n int, vs []Value) {
	if n+len(vs) > len(t.array) {
		t.resize(n+len(vs), len(t.nodes))
		f.s.Grow(24 * len(vs))
	}
	for i, v := range vs {
		t.SetIndex(n+i+1, v)
	}
}

// encodedSize rounds a size as the instruction that creates a table encodes it, in three bits and an exponent.
func encodedSize(n int) int {
	e := 0
	for n >= 16 {
		n, e = (n+1)>>1, e+1
	}
	return n << e
}
