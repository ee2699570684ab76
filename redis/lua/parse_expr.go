package lua

func (p *parser) exprs() []any {
	list := []any{p.expr()}
	for p.accept(',') {
		list = append(list, p.expr())
	}
	return list
}

func (p *parser) expr() any { return p.subexpr(0) }

// priorities of the operators, left and right; a lower right one makes the operator right-associative.
var priorities = map[int][2]int{
	'+': {6, 6}, '-': {6, 6}, '*': {7, 7}, '/': {7, 7}, '%': {7, 7}, '^': {10, 9},
	tConcat: {5, 4}, tNe: {3, 3}, tEq: {3, 3}, '<': {3, 3}, tLe: {3, 3}, '>': {3, 3}, tGe: {3, 3},
	tAnd: {2, 2}, tOr: {1, 1},
}

const unaryPriority = 8

func (p *parser) subexpr(limit int) any {
	p.enter()
	defer p.leave()
	var left any
	switch op := p.token; op {
	case tNot, '-', '#':
		p.next()
		of := p.subexpr(unaryPriority)
		left = folded(&unary{op, of, p.lastLine})
	default:
		left = p.simple()
	}
	for {
		op := p.token
		priority, ok := priorities[op]
		if !ok || priority[0] <= limit {
			return left
		}
		p.next()
		right := p.subexpr(priority[1])
		if op == tAnd || op == tOr {
			left = foldedLogical(&logical{op == tAnd, left, right})
		} else {
			left = foldedBinary(&binary{op, left, right, p.lastLine})
		}
	}
}

// constantNumber returns the number that e is, in parentheses or not.
func constantNumber(e any) (n float64, ok bool) {
	switch e := e.(type) {
	case *paren:
		return constantNumber(e.of)
	case *constant:
		return e.v.AsNumber()
	}
	return 0, false
}

// folded computes an operation on constant numbers.
func folded(u *unary) any {
	if n, ok := constantNumber(u.of); ok && u.op == '-' {
		return &constant{Number(-n)}
	}
	return u
}

// foldedLogical returns the operand that a constant on the left selects. Messages then name it, as in Lua.
func foldedLogical(l *logical) any {
	left := l.left
	for p, ok := left.(*paren); ok; p, ok = left.(*paren) {
		left = p.of
	}
	c, ok := left.(*constant)
	switch {
	case !ok:
		return l
	case c.v.Truth() == l.and:
		return &paren{l.right}
	}
	return c
}

func foldedBinary(b *binary) any {
	x, xok := constantNumber(b.left)
	y, yok := constantNumber(b.right)
	f := arithmetic[b.op]
	if !xok || !yok || f == nil || (b.op == '/' || b.op == '%') && y == 0 {
		return b
	}
	if n := f(x, y); n == n {
		return &constant{Number(n)}
	}
	return b
}

func (p *parser) simple() any {
	var e any
	switch p.token {
	case tNumber:
		e = &constant{Number(p.n)}
	case tString:
		e = &constant{String(p.s)}
	case tNil:
		e = &constant{}
	case tTrue:
		e = &constant{True}
	case tFalse:
		e = &constant{False}
	case tDots:
		if !p.fn.vararg {
			p.failHere("cannot use '...' outside a vararg function")
		}
		p.fn.hasArg = nil
		e = &varargs{}
	case '{':
		return p.table()
	case tFunction:
		line := p.line
		p.next()
		return &functionExpr{p.body(false, line)}
	default:
		return p.suffixed()
	}
	p.next()
	return e
}

func (p *parser) primary() any {
	switch p.token {
	case tName:
		return p.resolve(p.name())
	case '(':
		line := p.line
		p.next()
		e := p.expr()
		p.match(')', '(', line)
		switch e.(type) {
		case *callExpr, *varargs:
			return &paren{e}
		case *constant, *localRef, *upvalRef, *globalRef, *index:
			return &paren{e} // which cannot be assigned to
		}
		return e
	}
	p.failHere("unexpected symbol")
	return nil
}

func (p *parser) suffixed() any {
	p.enter()
	defer p.leave()
	e := p.primary()
	for {
		switch p.token {
		case '.':
			p.next()
			p.check(tName)
			e = &index{e, &constant{String(p.s)}, p.line}
			p.next()
		case '[':
			p.next()
			key := p.expr()
			e = &index{e, key, p.line}
			p.need(']')
		case ':':
			p.next()
			method := &text{s: p.name()}
			e = p.call(e, method)
		case '(', tString, '{':
			e = p.call(e, nil)
		default:
			return e
		}
	}
}

func (p *parser) call(fn any, method *text) any {
	c := &callExpr{fn: fn, method: method, line: p.line}
	switch p.token {
	case '(':
		if p.line != p.lastLine {
			p.failHere("ambiguous syntax (function call x new statement)")
		}
		p.next()
		if p.token != ')' {
			c.args = p.exprs()
		}
		p.match(')', '(', c.line)
	case '{':
		c.args = []any{p.table()}
	case tString:
		c.args = []any{&constant{String(p.s)}}
		p.next()
	default:
		p.failHere("function arguments expected")
	}
	return c
}

func (p *parser) table() any {
	line := p.line
	t := &tableExpr{line: line}
	p.need('{')
	for p.token != '}' {
		var item tableItem
		switch {
		case p.token == tName && p.lookahead() == '=':
			item.key = &constant{String(p.name())}
			p.next()
			item.value = p.expr()
		case p.token == '[':
			p.next()
			item.key = p.expr()
			p.need(']')
			p.need('=')
			item.value = p.expr()
		default:
			item.value = p.expr()
			t.array++
		}
		item.line = p.lastLine
		t.items = append(t.items, item)
		if !p.accept(',') && !p.accept(';') {
			break
		}
	}
	p.match('}', '{', line)
	return t
}
