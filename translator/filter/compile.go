package filter

import (
	"bytes"
	"fmt"
)

// maxLength limits the bytes of an expression.
const maxLength = 64 << 10

// operator is an operation of a program. Parentheses occur only during compilation.
type operator byte

const (
	none operator = iota
	openParen
	closeParen
	not
	power
	times
	divide
	modulo
	plus
	minus
	greater
	greaterEqual
	less
	lessEqual
	equal
	unequal
	in
	and
	or
)

// operators lists the operators with their text and precedence.
var operators = []struct {
	text  string
	op    operator
	binds int
}{
	{"(", openParen, 7}, {")", closeParen, 7}, {"!", not, 6}, {"not", not, 6}, {"**", power, 5},
	{"*", times, 4}, {"/", divide, 4}, {"%", modulo, 4}, {"+", plus, 3}, {"-", minus, 3},
	{">", greater, 2}, {">=", greaterEqual, 2}, {"<", less, 2}, {"<=", lessEqual, 2},
	{"==", equal, 2}, {"!=", unequal, 2}, {"in", in, 2},
	{"and", and, 1}, {"&&", and, 1}, {"or", or, 0}, {"||", or, 0},
}

func (op operator) precedence() int {
	for _, o := range operators {
		if o.op == op {
			return o.binds
		}
	}
	return -1
}

// operands returns the number of operands.
func (op operator) operands() int {
	if op == not {
		return 1
	}
	return 2
}

// step pushes a value, pushes the value of a field, or replaces operands with the result of an operator.
type step struct {
	op       operator
	selector bool // value.text names a field
	value    value
}

// Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	steps []step
}

// SyntaxError reports an invalid expression.
type SyntaxError struct {
	Near []byte // the expression from the error on; all of it if the position is unknown
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("syntax error near %q", e.Near) }

// Compile compiles an expression, up to its first NUL. The error is a *SyntaxError.
func Compile(text []byte) (*Program, error) {
	text, _, _ = bytes.Cut(text, []byte{0})
	if len(text) > maxLength {
		return nil, &SyntaxError{text[maxLength:]}
	}
	s := scanner{text: text}
	var c compiler
	for {
		t, ok := s.next()
		if !ok {
			if s.at >= len(text) {
				s.at = 0
			}
			return nil, &SyntaxError{text[s.at:]}
		}
		if t == nil {
			break
		}
		if !c.add(*t) {
			return nil, badExpression(text, s)
		}
	}
	if !c.end() {
		return nil, &SyntaxError{text}
	}
	return &Program{c.steps}, nil
}

// badExpression returns the error for tokens in the wrong order. An invalid token later in the text takes precedence.
func badExpression(text []byte, s scanner) error {
	for {
		t, ok := s.next()
		switch {
		case !ok && s.at < len(text):
			return &SyntaxError{text[s.at:]}
		case !ok || t == nil:
			return &SyntaxError{text}
		}
	}
}

// compiler converts infix tokens to postfix steps, in the order of evaluation.
type compiler struct {
	steps   []step
	waiting []operator // operators waiting for their last operand
	height  int        // height of the stack after the steps so far
}

// add reports whether the step may follow.
func (c *compiler) add(t step) bool {
	switch t.op {
	case none:
		c.steps = append(c.steps, t)
		c.height++
		return true
	case openParen:
		c.waiting = append(c.waiting, openParen)
		return true
	case closeParen:
		return c.popOperators(func(operator) bool { return true }) && c.popParenthesis()
	case not: // a prefix: it pops no other operator
	case power: // right associative
		if !c.popOperators(func(op operator) bool { return op.precedence() > power.precedence() }) {
			return false
		}
	default:
		if !c.popOperators(func(op operator) bool { return op.precedence() >= t.op.precedence() }) {
			return false
		}
	}
	c.waiting = append(c.waiting, t.op)
	return true
}

// popOperators moves due operators from the end of waiting to the program, up to a parenthesis. It returns false if an
// operator lacks operands.
func (c *compiler) popOperators(due func(operator) bool) bool {
	for len(c.waiting) > 0 {
		op := c.waiting[len(c.waiting)-1]
		if op == openParen || !due(op) {
			break
		}
		if c.height < op.operands() {
			return false
		}
		c.height += 1 - op.operands()
		c.steps = append(c.steps, step{op: op})
		c.waiting = c.waiting[:len(c.waiting)-1]
	}
	return true
}

// popParenthesis pops the opening parenthesis. It returns false if it is missing.
func (c *compiler) popParenthesis() bool {
	if len(c.waiting) == 0 {
		return false
	}
	c.waiting = c.waiting[:len(c.waiting)-1]
	return true
}

// end reports whether the expression is complete: one value remains.
func (c *compiler) end() bool {
	return c.popOperators(func(operator) bool { return true }) && len(c.waiting) == 0 && c.height == 1
}
