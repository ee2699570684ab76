package document

import (
	"regexp"
)

// condition is what a filter asks of an element.
type condition interface {
	holds(root, current *Value) bool
}

type (
	anyOf      []condition
	allOf      []condition
	negation   struct{ of condition }
	existence  struct{ of operand }
	comparison struct {
		op          string
		left, right operand
		pattern     *regexp.Regexp // of =~ with a literal on the right
	}
)

// operand is a literal, or a path from the element (@) or from the root ($).
type operand struct {
	literal *Value
	path    *Path
	fromTop bool
}

// value is nil when the path leads nowhere.
func (o operand) value(root, current *Value) *Value {
	if o.path == nil {
		return o.literal
	}
	if o.fromTop {
		current = root
	}
	if found := o.path.selectFrom(root, current); len(found) > 0 {
		return found[0]
	}
	return nil
}

func (c anyOf) holds(root, current *Value) bool {
	for _, one := range c {
		if one.holds(root, current) {
			return true
		}
	}
	return false
}

func (c allOf) holds(root, current *Value) bool {
	for _, one := range c {
		if !one.holds(root, current) {
			return false
		}
	}
	return true
}

func (c negation) holds(root, current *Value) bool { return !c.of.holds(root, current) }

// A path holds when it leads somewhere, a literal when it is true.
func (c existence) holds(root, current *Value) bool {
	v := c.of.value(root, current)
	return v != nil && (c.of.path != nil || v.Kind == Bool && v.Bool)
}

func (c comparison) holds(root, current *Value) bool {
	a, b := c.left.value(root, current), c.right.value(root, current)
	switch c.op {
	case "==":
		return equal(a, b)
	case "!=":
		return !equal(a, b)
	case "=~":
		return c.matches(a, b)
	}
	n, ok := compare(a, b)
	if !ok {
		return false
	}
	switch c.op {
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	}
	return n >= 0
}

func equal(a, b *Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b)
}

// compare orders two numbers or two strings; nothing else has an order.
func compare(a, b *Value) (int, bool) {
	switch {
	case a == nil || b == nil:
	case a.IsNumber() && b.IsNumber():
		return a.compareNumber(b), true
	case a.Kind == String && b.Kind == String:
		return order(a.Str, b.Str), true
	}
	return 0, false
}

// matches looks for the pattern b anywhere in the string a. A pattern that is
// none matches nothing.
func (c comparison) matches(a, b *Value) bool {
	if a == nil || b == nil || a.Kind != String || b.Kind != String {
		return false
	}
	pattern := c.pattern
	if pattern == nil {
		var err error
		if pattern, err = regexp.Compile(b.Str); err != nil {
			return false
		}
	}
	return pattern.MatchString(a.Str)
}

// either reads conditions with || between them.
func (p *pathParser) either() (condition, error) {
	if p.depth++; p.depth > maxFilterDepth {
		return nil, p.fail("fewer nested filters")
	}
	defer func() { p.depth-- }()
	var all anyOf
	for {
		one, err := p.both()
		if err != nil {
			return nil, err
		}
		all = append(all, one)
		if p.space(); !p.has("||") {
			return all, nil
		}
	}
}

// both reads conditions with && between them.
func (p *pathParser) both() (condition, error) {
	var all allOf
	for {
		one, err := p.condition()
		if err != nil {
			return nil, err
		}
		all = append(all, one)
		if p.space(); !p.has("&&") {
			return all, nil
		}
	}
}

// condition reads one comparison, existence or group in parentheses, which an
// exclamation mark turns around.
func (p *pathParser) condition() (condition, error) {
	negative := false
	for p.space(); p.has("!"); p.space() {
		negative = !negative
	}
	var c condition
	var err error
	if p.has("(") {
		if c, err = p.either(); err == nil && !p.has(")") {
			err = p.fail("')', '&&', '||'")
		}
	} else {
		c, err = p.comparison()
	}
	if err == nil && negative {
		c = negation{c}
	}
	return c, err
}

func (p *pathParser) comparison() (condition, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	p.space()
	for _, op := range []string{"==", "!=", "<=", ">=", "=~", "<", ">"} {
		if !p.has(op) {
			continue
		}
		p.space()
		right, err := p.operand()
		if err != nil {
			return nil, err
		}
		c := comparison{op: op, left: left, right: right}
		if op == "=~" && right.literal != nil && right.literal.Kind == String {
			c.pattern, _ = regexp.Compile(right.literal.Str) // matches reports nothing for one that is none
		}
		return c, nil
	}
	return existence{left}, nil
}

func (p *pathParser) operand() (operand, error) {
	switch ch := p.peek(); {
	case ch == '@' || ch == '$':
		p.at++
		steps, err := p.steps()
		return operand{path: &Path{steps: steps}, fromTop: ch == '$'}, err
	case ch == '"' || ch == '\'':
		s, err := p.quoted()
		return operand{literal: &Value{Kind: String, Str: s}}, err
	}
	from := p.at
	for p.at < len(p.text) && (inName(p.text[p.at]) || p.text[p.at] == '.' || p.text[p.at] == '+') {
		p.at++
	}
	v, err := parse([]byte(p.text[from:p.at]), 0)
	if err != nil {
		p.at = from
		return operand{}, p.fail(wantOperand)
	}
	return operand{literal: v}, nil
}
