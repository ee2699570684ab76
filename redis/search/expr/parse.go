package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Error is an error of an expression or of its evaluation.
type Error struct {
	Code string // of Redis 8.8 and later, such as SEARCH_EXPR
	Text string
}

// Error returns the text without the code.
func (e *Error) Error() string { return e.Text }

func failure(code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Expr is a compiled expression.
type Expr struct {
	root       node
	properties []string
}

// Properties returns the names of the properties that the expression uses, each once, in order.
func (e *Expr) Properties() []string { return e.properties }

const (
	maxDepth = 128
	maxNodes = 4096
)

// Compile parses an expression. The error is an *Error.
func Compile(source string) (*Expr, error) {
	p := &parser{in: source}
	p.advance()
	root := p.or()
	if p.err == nil && p.tok.kind != end {
		p.unexpected()
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Expr{root, p.properties}, nil
}

type tokenKind int

const (
	end tokenKind = iota
	numberToken
	stringToken
	propertyToken
	nameToken
	operator // and punctuation; text is its bytes
)

type token struct {
	kind tokenKind
	pos  int
	text string
	num  float64
}

// parser parses by recursive descent; after an error the rest reads as empty.
type parser struct {
	in           string
	at           int
	tok          token
	err          *Error
	depth, nodes int
	properties   []string
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = failure("SEARCH_EXPR", format, args...)
		p.tok = token{}
	}
}

func (p *parser) unexpected() {
	p.fail("Syntax error at offset %d near '%s'", p.tok.pos, p.tok.text)
}

func (p *parser) advance() {
	if p.err != nil {
		return
	}
	for p.at < len(p.in) && (p.in[p.at] == ' ' || p.in[p.at] >= '\t' && p.in[p.at] <= '\r') {
		p.at++
	}
	p.tok = p.scan()
	if p.tok.kind == end && p.at < len(p.in) {
		p.tok.text = p.in[p.at : p.at+1]
		p.unexpected()
	}
}

// scan returns the next token; its kind is end if none begins here.
func (p *parser) scan() token {
	start, rest := p.at, p.in[p.at:]
	t := token{pos: start}
	switch {
	case rest == "":
		return t
	case rest[0] == '\'' || rest[0] == '"':
		return p.scanString()
	case rest[0] == '@':
		return p.scanProperty()
	case rest[0] >= '0' && rest[0] <= '9' || rest[0] == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		return p.scanNumber()
	case isName(rest[0]):
		return p.scanName()
	}
	for _, op := range []string{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "^", "(", ")", ","} {
		if strings.HasPrefix(rest, op) {
			p.at += len(op)
			return token{operator, start, op, 0}
		}
	}
	return t
}

func (p *parser) scanProperty() token {
	start, i := p.at, p.at+1
	for i < len(p.in) && (isName(p.in[i]) || p.in[i] == '\\' && i+1 < len(p.in)) {
		if p.in[i] == '\\' {
			i++
		}
		i++
	}
	if i == start+1 {
		return token{pos: start}
	}
	p.at = i
	return token{propertyToken, start, unescape(p.in[start+1 : i]), 0}
}

// scanName scans a name, or the number inf.
func (p *parser) scanName() token {
	start := p.at
	for p.at < len(p.in) && isName(p.in[p.at]) {
		p.at++
	}
	word := p.in[start:p.at]
	if strings.EqualFold(word, "inf") {
		return token{numberToken, start, word, math.Inf(1)}
	}
	return token{nameToken, start, word, 0}
}

func (p *parser) scanString() token {
	start := p.at
	var out []byte
	for i := start + 1; i < len(p.in); i++ {
		switch c := p.in[i]; {
		case c == '\\' && i+1 < len(p.in):
			i++
			out = append(out, unescapeByte(p.in[i]))
		case c == p.in[start]:
			p.at = i + 1
			return token{stringToken, start, string(out), 0}
		default:
			out = append(out, c)
		}
	}
	return token{pos: start}
}

// unescapeByte returns the byte that a backslash and a byte stand for in a string.
func unescapeByte(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	}
	return c
}

func (p *parser) scanNumber() token {
	start, i := p.at, p.at
	digits := func() {
		for i < len(p.in) && p.in[i] >= '0' && p.in[i] <= '9' {
			i++
		}
	}
	digits()
	if i < len(p.in) && p.in[i] == '.' {
		i++
		digits()
	}
	if i < len(p.in) && (p.in[i] == 'e' || p.in[i] == 'E') {
		mark := i
		i++
		if i < len(p.in) && (p.in[i] == '+' || p.in[i] == '-') {
			i++
		}
		first := i
		if digits(); i == first {
			i = mark
		}
	}
	p.at = i
	v, _ := strconv.ParseFloat(p.in[start:i], 64) // beyond a double it is infinite
	return token{numberToken, start, p.in[start:i], v}
}

func isName(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		out = append(out, s[i])
	}
	return string(out)
}

// take consumes an operator.
func (p *parser) take(ops ...string) (op string) {
	if p.tok.kind == operator && slices.Contains(ops, p.tok.text) {
		op = p.tok.text
		p.advance()
	}
	return op
}

func (p *parser) count() {
	if p.nodes++; p.nodes > maxNodes {
		p.fail("Expression has more than %d parts", maxNodes)
	}
}

func (p *parser) enter() {
	p.count()
	if p.depth++; p.depth > maxDepth {
		p.fail("Expression is nested deeper than %d levels", maxDepth)
	}
}

// chain parses operands with operators of one precedence, from left to right.
func (p *parser) chain(operand func() node, ops ...string) node {
	left := operand()
	depth := p.depth
	for op := p.take(ops...); op != ""; op = p.take(ops...) {
		p.enter() // the tree of a chain is as deep as it is long
		left = &binary{op, left, operand()}
	}
	p.depth = depth
	return left
}

func (p *parser) or() node {
	p.enter()
	n := p.chain(p.and, "||")
	p.depth--
	return n
}

func (p *parser) and() node { return p.chain(p.not, "&&") }

func (p *parser) not() node {
	if p.take("!") == "" {
		return p.comparison()
	}
	p.enter()
	n := &not{p.not()}
	p.depth--
	return n
}

func (p *parser) comparison() node {
	left := p.sum()
	op := p.take("==", "!=", "<=", ">=", "<", ">")
	if op == "" {
		return left
	}
	return &binary{op, left, p.sum()}
}

func (p *parser) sum() node { return p.chain(p.product, "+", "-") }

func (p *parser) product() node { return p.chain(p.power, "*", "/", "%") }

func (p *parser) power() node {
	left := p.primary()
	if p.take("^") == "" {
		return left
	}
	p.enter()
	n := &binary{"^", left, p.power()}
	p.depth--
	return n
}

func (p *parser) primary() node {
	p.count()
	t := p.tok
	switch {
	case t.kind == numberToken:
		p.advance()
		return &literal{Num(t.num)}
	case t.kind == stringToken:
		p.advance()
		return &literal{Str(t.text)}
	case t.kind == propertyToken:
		p.advance()
		if !slices.Contains(p.properties, t.text) {
			p.properties = append(p.properties, t.text)
		}
		return &property{t.text}
	case t.kind == nameToken:
		p.advance()
		if p.take("(") != "" {
			return p.call(t)
		}
		if !strings.EqualFold(t.text, "NULL") {
			p.fail("Syntax error at offset %d near '%s'", t.pos, t.text)
		}
		return &literal{}
	case p.take("-") != "":
		p.enter()
		n := &binary{"*", &literal{Num(-1)}, p.primary()}
		if l, ok := n.right.(*literal); ok && l.value.Kind == Number {
			p.depth--
			return &literal{Num(-l.value.Num)}
		}
		p.depth--
		return n
	case p.take("+") != "":
		p.enter()
		n := p.primary()
		p.depth--
		return n
	case p.take("(") != "":
		n := p.or()
		if p.take(")") == "" {
			p.unexpected()
		}
		return n
	}
	p.unexpected()
	return &literal{}
}

// call parses the arguments of a function and its closing parenthesis.
func (p *parser) call(name token) node {
	p.enter()
	f, known := functions[strings.ToLower(name.text)]
	if !known {
		p.fail("Unknown function name '%s'", name.text)
	}
	c := &call{f: f}
	for p.take(")") == "" && p.err == nil {
		if len(c.args) > 0 && p.take(",") == "" {
			p.unexpected()
		}
		c.args = append(c.args, p.or())
	}
	p.depth--
	n := len(c.args)
	switch {
	case f.least == f.most && n != f.least:
		p.fail("Function '%s' expects %d arguments, but got %d", name.text, f.least, n)
	case n < f.least:
		p.fail("Function '%s' expects at least %d arguments, but got %d", name.text, f.least, n)
	case n > f.most:
		p.fail("Function '%s' expects at most %d arguments, but got %d", name.text, f.most, n)
	}
	return c
}
