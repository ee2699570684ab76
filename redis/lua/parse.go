package lua

import "fmt"

const (
	maxLocals   = 200
	maxUpvalues = 60
	maxNesting  = 200
)

type parser struct {
	lexer
	fn      *function
	actives []*variable // of all open functions
	scopes  []int       // index of each function's first active
	loops   int
	depth   int
	debug   bool // the program calls OnLine before each line
}

// parse parses a chunk to a tree. It panics with an *Error.
func parse(source, name string, grow func(bytes int), debug bool) *function {
	grow(copiesOfSource * len(source))
	p := &parser{lexer: lexer{chunk: chunkName(name), src: source, grow: grow, line: 1, lastLine: 1}, debug: debug}
	p.fn = &function{loaded: &loaded{}, chunk: p.chunk, source: name, vararg: true}
	p.scopes = []int{0}
	p.next()
	p.fn.body = p.chunkBody()
	if p.token != tEOF {
		p.expected(tEOF)
	}
	return p.fn
}

func (p *parser) expected(t int) { p.failHere("'" + tokenName(t) + "' expected") }

func (p *parser) check(t int) {
	if p.token != t {
		p.expected(t)
	}
}

func (p *parser) accept(t int) bool {
	if p.token == t {
		p.next()
		return true
	}
	return false
}

func (p *parser) need(t int) {
	p.check(t)
	p.next()
}

// match expects the token t, which closes the token opened at a line.
func (p *parser) match(t, opened, line int) {
	if p.accept(t) {
		return
	}
	if line == p.line {
		p.expected(t)
	}
	p.failHere(fmt.Sprintf("'%s' expected (to close '%s' at line %d)", tokenName(t), tokenName(opened), line))
}

func (p *parser) name() string {
	p.check(tName)
	s := p.s
	p.next()
	return s
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail("chunk has too many syntax levels", "")
	}
}

func (p *parser) leave() { p.depth-- }

// limit raises an error if a function has too many of something.
func (p *parser) limit(n, most int, what string) {
	if n <= most {
		return
	}
	where := "main function"
	if p.fn.line > 0 {
		where = fmt.Sprintf("function at line %d", p.fn.line)
	}
	p.failHere(fmt.Sprintf("%s has more than %d %s", where, most, what))
}

// Scopes.

func (p *parser) locals() int { return len(p.actives) - p.scopes[len(p.scopes)-1] }

func (p *parser) declare(name string) *variable {
	v := &variable{name: name, slot: p.locals()}
	p.actives = append(p.actives, v)
	p.limit(p.locals(), maxLocals, "local variables")
	p.fn.slots = max(p.fn.slots, p.locals())
	return v
}

// scoped runs f and ends the locals that it declared.
func (p *parser) scoped(f func()) {
	n := len(p.actives)
	f()
	p.actives = p.actives[:n]
}

func (p *parser) resolve(name string) any {
	if v, up := p.find(p.fn, len(p.scopes)-1, len(p.actives), name); v != nil {
		return &localRef{v}
	} else if up >= 0 {
		return &upvalRef{up}
	}
	return &globalRef{&text{s: name}, p.lastLine}
}

// find looks up a name in a function whose locals end before end: a local, or an upvalue, which it adds if an
// outer function has the local.
func (p *parser) find(fn *function, scope, end int, name string) (*variable, int) {
	for i := end - 1; i >= p.scopes[scope]; i-- {
		if p.actives[i].name == name {
			return p.actives[i], -1
		}
	}
	for i, have := range fn.names {
		if have == name {
			return nil, i
		}
	}
	if fn.parent == nil {
		return nil, -1
	}
	v, up := p.find(fn.parent, scope-1, p.scopes[scope], name)
	if v == nil && up < 0 {
		return nil, -1
	}
	if v != nil {
		v.captured = true
	}
	if len(fn.names)+1 > maxUpvalues {
		p.limit(len(fn.names)+1, maxUpvalues, "upvalues")
	}
	fn.names = append(fn.names, name)
	fn.upvalues = append(fn.upvalues, capture{v, up})
	return nil, len(fn.names) - 1
}

// Statements.

func (p *parser) blockEnds() bool {
	switch p.token {
	case tEOF, tEnd, tElse, tElseif, tUntil:
		return true
	}
	return false
}

// chunkBody reads statements to the end of the block. The caller has the scope.
func (p *parser) chunkBody() (body []any) {
	p.enter()
	for last := false; !last && !p.blockEnds(); {
		body = p.pause(body, p.line)
		s := p.statement()
		switch s.(type) {
		case *localFunction:
			if p.debug {
				body[len(body)-1].(*pauseStmt).line = p.lastLine // Lua makes the function at its end
			}
		case *returnStmt, *breakStmt:
			last = true
		}
		body = append(body, s)
		p.accept(';')
	}
	p.leave()
	return body
}

func (p *parser) block() (body []any) {
	p.scoped(func() { body = p.chunkBody() })
	return body
}

// loopBlock reads the body of a loop. head comes before its statements.
func (p *parser) loopBlock(head []any) []any {
	p.loops++
	body := append(head, p.block()...)
	p.loops--
	return body
}

func (p *parser) statement() any {
	line := p.line
	switch p.token {
	case tIf:
		return p.ifStatement(line)
	case tWhile:
		p.next()
		cond := p.expr()
		p.need(tDo)
		body := p.loopBlock(p.pause(nil, line))
		p.match(tEnd, tWhile, line)
		return &whileStmt{cond, &block{body}, line}
	case tDo:
		p.next()
		body := p.block()
		p.match(tEnd, tDo, line)
		return &block{body}
	case tFor:
		return p.forStatement(line)
	case tRepeat:
		return p.repeatStatement(line)
	case tFunction:
		return p.functionStatement(line)
	case tLocal:
		p.next()
		if p.accept(tFunction) {
			v := p.declare(p.name())
			return &localFunction{v, p.body(false, p.line)}
		}
		return p.localStatement()
	case tReturn:
		return p.returnStatement()
	case tBreak:
		p.next()
		if p.loops == 0 {
			p.failHere("no loop to break")
		}
		return &breakStmt{}
	}
	return p.expressionStatement()
}

func (p *parser) ifStatement(line int) any {
	s := &ifStmt{}
	for {
		p.next()
		s.conds = append(s.conds, p.expr())
		p.need(tThen)
		s.blocks = append(s.blocks, p.block())
		if p.token != tElseif {
			break
		}
	}
	if p.accept(tElse) {
		s.blocks = append(s.blocks, p.block())
	}
	p.match(tEnd, tIf, line)
	return s
}

func (p *parser) repeatStatement(line int) any {
	p.next()
	s := &repeatStmt{line: line}
	p.loops++
	p.scoped(func() { // the condition sees the locals of the body
		s.body = p.chunkBody()
		p.match(tUntil, tRepeat, line)
		s.cond = p.expr()
	})
	p.loops--
	return s
}

func (p *parser) forStatement(line int) (s any) {
	p.next()
	first := p.name()
	p.scoped(func() {
		switch p.token {
		case '=':
			s = p.numericFor(first, line)
		case ',', tIn:
			s = p.genericFor(first, line)
		default:
			p.failHere("'=' or 'in' expected")
		}
		p.match(tEnd, tFor, line)
	})
	return s
}

func (p *parser) numericFor(name string, line int) any {
	p.next()
	f := &numericFor{line: line}
	f.from = p.expr()
	p.need(',')
	f.limit = p.expr()
	if p.accept(',') {
		f.step = p.expr()
	}
	f.doLine = p.line
	p.need(tDo)
	for range 3 {
		p.declare("(for state)")
	}
	head := p.pause(nil, line)
	p.scoped(func() {
		f.v = p.declare(name)
		f.body = p.loopBlock(head)
	})
	return f
}

func (p *parser) genericFor(name string, line int) any {
	names := []string{name}
	for p.accept(',') {
		names = append(names, p.name())
	}
	p.need(tIn)
	f := &genericFor{line: p.line}
	f.values = p.exprs()
	p.need(tDo)
	f.state = p.declare("(for generator)").slot
	p.declare("(for state)")
	p.declare("(for control)")
	head := p.pause(nil, f.line)
	p.scoped(func() {
		for _, n := range names {
			f.vars = append(f.vars, p.declare(n))
		}
		f.body = p.loopBlock(head)
	})
	return f
}

func (p *parser) functionStatement(line int) any {
	p.next()
	target := p.resolve(p.name())
	method := false
	for p.token == '.' || p.token == ':' {
		method = p.token == ':'
		p.next()
		at := p.line
		target = &index{target, &constant{String(p.name())}, at}
		if method {
			break
		}
	}
	fn := p.body(method, line)
	return &assignment{[]any{target}, []any{&functionExpr{fn}}, line}
}

func (p *parser) localStatement() any {
	var names []string
	for {
		names = append(names, p.name())
		if !p.accept(',') {
			break
		}
	}
	s := &localStmt{}
	if p.accept('=') {
		s.values = p.exprs()
	}
	for _, n := range names {
		s.vars = append(s.vars, p.declare(n))
	}
	return s
}

func (p *parser) returnStatement() any {
	p.next()
	s := &returnStmt{line: p.line}
	if !p.blockEnds() && p.token != ';' {
		s.values = p.exprs()
	}
	return s
}

func (p *parser) expressionStatement() any {
	e := p.suffixed()
	if c, ok := e.(*callExpr); ok {
		return &callStmt{c}
	}
	targets := []any{e}
	for {
		switch e.(type) {
		case *localRef, *upvalRef, *globalRef, *index:
		default:
			p.failHere("syntax error")
		}
		if !p.accept(',') {
			break
		}
		e = p.suffixed()
		targets = append(targets, e)
		if len(targets) > maxNesting {
			p.limit(len(targets), maxNesting, "variables in assignment")
		}
	}
	p.need('=')
	values := p.exprs()
	return &assignment{targets, values, p.lastLine}
}

// body parses a function from its parameters on.
func (p *parser) body(method bool, line int) *function {
	fn := &function{parent: p.fn, loaded: p.fn.loaded, chunk: p.chunk, source: p.fn.source, line: line}
	p.fn = fn
	p.scopes = append(p.scopes, len(p.actives))
	loops := p.loops
	p.loops = 0
	if method {
		fn.params = append(fn.params, p.declare("self"))
	}
	p.need('(')
	if p.token != ')' {
		for {
			if p.accept(tDots) {
				fn.vararg = true
				break
			}
			if p.token != tName {
				p.failHere("<name> or '...' expected")
			}
			fn.params = append(fn.params, p.declare(p.name()))
			if !p.accept(',') {
				break
			}
		}
	}
	p.need(')')
	if fn.vararg {
		fn.hasArg = p.declare("arg")
	}
	fn.body = p.chunkBody()
	p.match(tEnd, tFunction, line)
	p.actives = p.actives[:p.scopes[len(p.scopes)-1]]
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.loops = loops
	p.fn = fn.parent
	return fn
}
