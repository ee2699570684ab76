package filter

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
)

// kind selects the type of a value.
type kind byte

const (
	null kind = iota
	number
	text
	tuple
)

// value holds a value of an expression or a field.
type value struct {
	kind   kind
	number float64
	text   []byte
	elems  []value
}

// Match reports whether the expression is true for the JSON object attributes. It is false if a field in the expression
// is missing, even one that cannot change the result. Match calls step with the number of bytes searched for a field.
func (p *Program) Match(attributes []byte, step func(n int)) bool {
	var room [16]value
	stack := room[:0]
	for _, s := range p.steps {
		switch {
		case s.selector:
			step(len(attributes))
			v, ok := field(attributes, s.value.text)
			if !ok {
				return false
			}
			stack = append(stack, v)
		case s.op == none:
			stack = append(stack, s.value)
		case s.op == not:
			top := &stack[len(stack)-1]
			*top = truth(!top.isTrue())
		default:
			n := len(stack)
			stack[n-2] = s.op.apply(stack[n-2], stack[n-1])
			stack = stack[:n-1]
		}
	}
	return stack[0].isTrue()
}

func truth(b bool) value {
	if b {
		return value{kind: number, number: 1}
	}
	return value{kind: number}
}

func (op operator) apply(a, b value) value {
	switch op {
	case equal:
		return truth(a.equals(b))
	case unequal:
		return truth(!a.equals(b))
	case and:
		return truth(a.isTrue() && b.isTrue())
	case or:
		return truth(a.isTrue() || b.isTrue())
	case in:
		return truth(b.contains(a))
	}
	x, y := a.asNumber(), b.asNumber()
	switch op {
	case greater:
		return truth(x > y)
	case greaterEqual:
		return truth(x >= y)
	case less:
		return truth(x < y)
	case lessEqual:
		return truth(x <= y)
	}
	return value{kind: number, number: op.compute(x, y)}
}

func (op operator) compute(x, y float64) float64 {
	switch op {
	case power:
		return math.Pow(x, y)
	case times:
		return x * y
	case divide:
		return x / y
	case modulo:
		return math.Mod(x, y)
	case plus:
		return x + y
	}
	return x - y
}

// isTrue returns false for 0, the empty string and null.
func (v value) isTrue() bool {
	switch v.kind {
	case number:
		return v.number != 0
	case text:
		return len(v.text) > 0
	}
	return v.kind == tuple
}

// asNumber returns 0 for values other than numbers and texts of numbers.
func (v value) asNumber() float64 {
	switch {
	case v.kind == number:
		return v.number
	case v.kind == text && len(v.text) <= maxNumber:
		f, _ := parseNumber(bytes.TrimLeft(v.text, " \t\n\v\f\r"))
		return f
	}
	return 0
}

func (v value) equals(o value) bool {
	switch {
	case v.kind == text && o.kind == text:
		return bytes.Equal(v.text, o.text)
	case v.kind == null || o.kind == null:
		return v.kind == o.kind
	}
	return v.asNumber() == o.asNumber()
}

func (v value) contains(elem value) bool {
	for _, e := range v.elems {
		if elem.equals(e) {
			return true
		}
	}
	return false
}

// parseNumber parses all of b as C's strtod does. A number out of range is infinite.
func parseNumber(b []byte) (float64, bool) {
	s := string(b)
	if strings.Contains(s, "_") {
		return 0, false
	}
	if hex := strings.TrimLeft(s, "+-"); len(hex) > 2 && hex[0] == '0' && hex[1]|0x20 == 'x' && !strings.ContainsAny(hex, "pP") {
		s += "p0"
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return f, true
}
