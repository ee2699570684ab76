package query

import (
	"fmt"
	"strconv"
	"strings"
)

// The bounds of a tree. A query beyond them is an error.
const (
	MaxDepth = 128
	MaxNodes = 10000

	maxFields = 128 // of one clause; as many TEXT fields as an index has
)

// Parse parses a query. The error is an *Error.
//
// The tree has no stop words; a query of stop words only is Nothing. Terms are in lower case and unescaped, parameters
// are resolved, and the fields of clauses have the right type if there is a Schema.
func Parse(text string, o Options) (Node, error) {
	if o.Dialect == 0 {
		o.Dialect = 1
	}
	p := &parser{lex: lexer{in: text, dialect: o.Dialect}, o: o}
	p.advance()
	root := p.query()
	if p.err == nil && p.tok.kind != eof {
		p.unexpected()
	}
	if p.err == nil {
		p.err = p.late
	}
	if p.err != nil {
		return nil, p.err
	}
	if root == nil {
		root = &Nothing{newBase()}
	}
	if o.Fields != nil {
		Restrict(root, o.Fields)
	}
	return root, nil
}

// parser holds the state of one Parse. A method returns nil for a part that has only stop words, and after an error,
// when the rest of the query reads as empty.
type parser struct {
	lex          lexer
	tok          token
	o            Options
	depth, nodes int
	err          *Error // of the syntax
	late         *Error // of a parameter or a value: a syntax error comes first
}

func newBase() Base { return Base{Weight: 1} }

func (p *parser) advance() {
	if p.err == nil {
		p.tok = p.lex.next()
	}
}

// peek returns the token after the current one.
func (p *parser) peek() token {
	ahead := p.lex
	return ahead.next()
}

// fail ends the parsing with an error.
func (p *parser) fail(code, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{code, fmt.Sprintf(format, args...)}
		p.tok = token{kind: eof}
	}
}

// failLate notes an error that is reported unless the syntax is wrong too.
func (p *parser) failLate(code, format string, args ...any) {
	if p.late == nil {
		p.late = &Error{code, fmt.Sprintf(format, args...)}
	}
}

func (p *parser) unexpected() {
	p.fail("SEARCH_SYNTAX", "Syntax error at offset %d near %s", p.tok.pos, p.tok.near)
}

// expect consumes a token of a kind.
func (p *parser) expect(k kind) (t token) {
	if p.tok.kind != k {
		p.unexpected()
		return t
	}
	t = p.tok
	p.advance()
	return t
}

// take consumes the current token if it has a kind.
func (p *parser) take(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.advance()
	return true
}

// enter counts a level of nesting; the caller calls leave.
func (p *parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.fail("SEARCH_SYNTAX", "Query is nested deeper than %d levels", MaxDepth)
	}
}

func (p *parser) leave() { p.depth-- }

// base counts a node.
func (p *parser) base() Base {
	if p.nodes++; p.nodes > MaxNodes {
		p.fail("SEARCH_SYNTAX", "Query has more than %d clauses", MaxNodes)
	}
	return newBase()
}

// query parses the whole text: an expression or a star, with a KNN after it.
func (p *parser) query() Node {
	if p.tok.kind == eof {
		return nil
	}
	var root Node
	if p.isStar() {
		for p.tok.kind == lparen || p.tok.kind == star || p.tok.kind == rparen {
			p.advance()
		}
		root = &All{p.base()}
	} else {
		root = p.expr()
	}
	if p.tok.kind == arrow && p.o.Dialect > 1 {
		p.advance()
		return p.knn(root)
	}
	return root
}

// isStar reports whether the query, up to an arrow, is a star, or one in parentheses.
func (p *parser) isStar() bool {
	ahead, t, open := p.lex, p.tok, 0
	for ; t.kind == lparen; t = ahead.next() {
		open++
	}
	if t.kind != star {
		return false
	}
	for t = ahead.next(); t.kind == rparen; t = ahead.next() {
		open--
	}
	return open == 0 && (t.kind == eof || t.kind == arrow)
}

// expr parses a union in dialect 2 and later, and an intersection in dialect 1, where unions bind tighter.
func (p *parser) expr() Node {
	p.enter()
	defer p.leave()
	if p.o.Dialect == 1 {
		return p.intersection(p.union)
	}
	return p.union()
}

func (p *parser) union() Node {
	part := p.unary
	if p.o.Dialect > 1 {
		part = func() Node { return p.intersection(p.unary) }
	}
	children := appendNode(nil, part())
	for p.take(or) {
		children = appendNode(children, part())
	}
	switch len(children) {
	case 0:
		return nil
	case 1:
		return children[0]
	}
	return &Or{p.base(), children}
}

func (p *parser) intersection(part func() Node) Node {
	children := appendNode(nil, part())
	for p.startsClause() {
		children = appendNode(children, part())
	}
	return p.and(children)
}

// and returns the intersection of nodes. One that begins with an intersection without attributes extends it.
func (p *parser) and(children []Node) Node {
	switch len(children) {
	case 0:
		return nil
	case 1:
		return children[0]
	}
	if first, ok := children[0].(*And); ok && first.isPlain() {
		first.Children = append(first.Children, children[1:]...)
		return first
	}
	return &And{p.base(), children}
}

func (b *Base) isPlain() bool {
	return b.Fields == nil && b.Weight == 1 && b.Slop == nil && b.InOrder == nil && b.Phonetic == nil
}

func appendNode(nodes []Node, n Node) []Node {
	if n == nil {
		return nodes
	}
	return append(nodes, n)
}

// startsClause reports whether the current token begins a clause.
func (p *parser) startsClause() bool {
	switch p.tok.kind {
	case term, number, inf, prefix, suffix, infix, modifier, lparen, minus, tilde, percent:
		return true
	case quoted, quote:
		return true
	case wildcard, param, squote:
		return p.o.Dialect > 1
	}
	return false
}

// unary parses a clause with the signs before it and the attributes after it.
func (p *parser) unary() Node {
	p.enter()
	defer p.leave()
	var signs []kind
	for p.tok.kind == minus || p.tok.kind == tilde {
		if n := len(signs); n > 0 && signs[n-1] == p.tok.kind {
			if p.tok.kind == minus { // the second negation cancels the first
				signs = signs[:n-1]
			}
		} else if len(signs) == MaxDepth {
			p.fail("SEARCH_SYNTAX", "Query is nested deeper than %d levels", MaxDepth)
		} else {
			signs = append(signs, p.tok.kind)
		}
		p.advance()
	}
	n := p.clause()
	for p.tok.kind == arrow && (p.o.Dialect == 1 || p.peek().kind == lbrace) {
		p.advance()
		p.attributes(n)
	}
	if n == nil {
		return nil
	}
	for i := len(signs) - 1; i >= 0; i-- {
		if signs[i] == tilde {
			n = &Optional{p.base(), n}
		} else if not, ok := n.(*Not); ok && not.isPlain() {
			n = not.Child
		} else {
			n = &Not{p.base(), n}
		}
	}
	return n
}

// clause parses one clause without its signs; in dialect 1 a run of words is one.
func (p *parser) clause() Node {
	switch t := p.tok; t.kind {
	case lparen:
		p.advance()
		if p.take(rparen) {
			return nil
		}
		n := p.expr()
		p.expect(rparen)
		return n
	case modifier:
		return p.fieldClause()
	case term, number, inf:
		if p.o.Dialect > 1 {
			if strings.EqualFold(t.text, "ismissing") && p.peek().kind == lparen {
				return p.missing()
			}
			p.advance()
			return p.word(t)
		}
		var words []Node
		for ; p.tok.kind == term || p.tok.kind == number || p.tok.kind == inf; p.advance() {
			words = appendNode(words, p.word(p.tok))
		}
		return p.and(words)
	case quoted:
		p.advance()
		return p.phrase(t)
	case percent:
		return p.fuzzy()
	case prefix, suffix, infix:
		p.advance()
		return p.affix(t)
	case wildcard:
		p.advance()
		return &Wildcard{p.base(), fold(unquoteWildcard(t.text))}
	case param:
		if p.o.Dialect > 1 {
			p.advance()
			text, ok := p.param(t)
			if !ok {
				return nil
			}
			return &Term{Base: p.base(), Text: fold(text), Verbatim: p.o.Verbatim}
		}
	}
	p.unexpected()
	return nil
}

// word returns the term of a bare word; nil if it is a stop word.
func (p *parser) word(t token) Node {
	text := fold(unescape(strings.TrimPrefix(t.text, "+")))
	if p.isStopWord(text) {
		return nil
	}
	return &Term{Base: p.base(), Text: text, Verbatim: p.o.Verbatim}
}

func (p *parser) isStopWord(text string) bool { return p.o.IsStopWord != nil && p.o.IsStopWord(text) }

// phrase returns the phrase of a quoted text. Dialect 1 drops the stop words in it, and refuses one that has no others.
func (p *parser) phrase(t token) Node {
	var terms []string
	stops := 0
	for at := 0; at < len(t.text); {
		end := termEnd(t.text, at)
		if end == at {
			at++
			continue
		}
		text := fold(unescape(t.text[at:end]))
		if p.o.Dialect == 1 && p.isStopWord(text) {
			stops++
		} else {
			terms = append(terms, text)
		}
		at = end
	}
	p.nodes += len(terms)
	switch {
	case len(terms) > 1:
		return &Phrase{Base: p.base(), Terms: terms}
	case len(terms) == 1:
		return &Term{Base: p.base(), Text: terms[0], Verbatim: true}
	case t.text == "" && p.o.Dialect > 1:
		return &Term{Base: p.base(), Verbatim: true}
	case stops > 0 || p.o.Dialect == 1:
		p.fail("SEARCH_SYNTAX", "Syntax error at offset %d near %s", t.pos+1, t.text)
	}
	return nil
}

// fuzzy parses %term%, with up to three signs.
func (p *parser) fuzzy() Node {
	distance := 0
	for p.tok.kind == percent && distance < 3 {
		distance++
		p.advance()
	}
	t := p.tok
	var text string
	switch {
	case t.kind == term || t.kind == number || t.kind == inf:
		text = unescape(t.text)
		p.advance()
	case t.kind == param && p.o.Dialect > 1:
		p.advance()
		text, _ = p.param(t)
	default:
		p.unexpected()
	}
	for range distance {
		p.expect(percent)
	}
	return &Fuzzy{Base: p.base(), Text: fold(text), Distance: distance}
}

// affix returns the node of a word with stars.
func (p *parser) affix(t token) Node {
	text, ok := unescape(t.text), true
	if t.body == param {
		text, ok = p.param(t)
	}
	if !ok {
		return nil
	}
	return &Affix{p.base(), affixKind(t), fold(text)}
}

func affixKind(t token) AffixKind {
	switch t.kind {
	case prefix:
		return Prefix
	case suffix:
		return Suffix
	}
	return Infix
}

// unquoteWildcard removes the backslashes before quotes. Other backslashes belong to the pattern.
func unquoteWildcard(s string) string { return strings.ReplaceAll(s, `\'`, `'`) }

// missing parses ismissing(@field).
func (p *parser) missing() Node {
	t := p.tok
	p.advance()
	p.expect(lparen)
	name := p.expect(modifier)
	p.expect(rparen)
	field, known := p.field(name)
	if known && !field.IndexMissing {
		p.fail("SEARCH_SYNTAX", "'ismissing' requires defining the field with 'INDEXMISSING' at offset %d near %s",
			t.pos, unescape(name.text))
	}
	return &Missing{p.base(), unescape(name.text)}
}

// param returns the value of a parameter.
func (p *parser) param(t token) (value string, ok bool) {
	name := unescape(t.text)
	value, ok = p.o.Params[name]
	if !ok {
		p.failLate("SEARCH_PARAM_NOT_FOUND", "Parameter not found `%s`", name)
	}
	return value, ok
}

// number parses a number with its sign, or a parameter with one.
func (p *parser) number() float64 {
	negative := p.take(minus)
	t := p.tok
	var v float64
	switch {
	case t.kind == number || t.kind == inf:
		v, _ = strconv.ParseFloat(t.text, 64) // beyond a double it is infinite
	case t.kind == param && p.o.Dialect > 1:
		text, ok := p.param(t)
		if ok {
			var err error
			if v, err = parseNumber(text); err != nil {
				p.failLate("SEARCH_NUMERIC_VALUE_INVALID", "Invalid numeric value (%s) for parameter `%s`", text, unescape(t.text))
			}
		}
	default:
		p.unexpected()
	}
	p.advance()
	if negative {
		return -v
	}
	return v
}

// parseNumber parses a number or an infinity, but no NaN.
func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && v != v || strings.ContainsAny(text, "_") {
		err = strconv.ErrSyntax
	}
	return v, err
}
