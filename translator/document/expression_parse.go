package document

import (
	"slices"
)

// maxNesting limits the nesting of filters, parentheses and literals in a path.
const maxNesting = 64

// maxLinks limits the operators and calls of a path that each apply to the result of the one before: evaluation
// recurses as deep.
const maxLinks = 10_000

// wantOperand names the tokens that errors say are expected as an operand.
const wantOperand = "<path>, <function>, <string>, <number>, 'true', 'false', 'null', '[', '{', '('"

// deeper enters a level of nesting; shallower leaves it.
func (p *pathParser) deeper() error {
	if p.depth++; p.depth > maxNesting {
		return p.fail("less nesting")
	}
	return nil
}

func (p *pathParser) shallower() { p.depth-- }

// link counts an operator or a call on a result.
func (p *pathParser) link() error {
	if p.links++; p.links > maxLinks {
		return p.fail("fewer operators")
	}
	return nil
}

// condition parses the condition of a filter, or an expression in parentheses.
func (p *pathParser) condition() (expression, error) {
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer p.shallower()
	return p.connected("||", func() (expression, error) { return p.connected("&&", p.negated) })
}

// connected parses expressions joined by a connective.
func (p *pathParser) connected(op string, part func() (expression, error)) (expression, error) {
	var parts []expression
	for {
		one, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, one)
		if p.space(); !p.has(op) {
			break
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return connective{any: op == "||", parts: parts}, nil
}

func (p *pathParser) negated() (expression, error) {
	n := 0
	for p.space(); p.has("!"); p.space() {
		n++
	}
	e, err := p.compared()
	if err != nil {
		return nil, err
	}
	for range min(n, 2-n%2) { // two negations still make a condition
		e = negation{e}
	}
	return e, nil
}

func (p *pathParser) compared() (expression, error) {
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.has("=~") {
		right, err := p.sum()
		if err != nil {
			return nil, err
		}
		return newMatcher(left, right, false), nil
	}
	for _, r := range relations {
		if !p.hasWord(r.op) {
			continue
		}
		right, err := p.sum()
		if err != nil {
			return nil, err
		}
		return comparison{relation: r.holds, left: left, right: right}, nil
	}
	return left, nil
}

func isLetter(ch byte) bool { return 'a' <= ch|0x20 && ch|0x20 <= 'z' }

// hasWord is has for an operator. An operator in letters must end at a word boundary.
func (p *pathParser) hasWord(word string) bool {
	from := p.at
	if !p.has(word) {
		return false
	}
	if next := p.peek(); isLetter(word[0]) && (isLetter(next) || isDigit(next) || next == '_') {
		p.at = from
		return false
	}
	return true
}

// sum parses the operands of + and -.
func (p *pathParser) sum() (expression, error) {
	return p.operation("+-", func() (expression, error) { return p.operation("*/%", p.factor) })
}

func (p *pathParser) operation(ops string, part func() (expression, error)) (expression, error) {
	left, err := part()
	for err == nil {
		p.space()
		op := p.peek()
		if op == 0 || !slices.Contains([]byte(ops), op) {
			return left, nil
		}
		if err := p.link(); err != nil {
			return nil, err
		}
		p.at++
		var right expression
		right, err = part()
		left = arithmetic{op: op, left: left, right: right}
	}
	return nil, err
}

// factor parses an operand with the signs before it and the calls after it.
func (p *pathParser) factor() (expression, error) {
	p.space()
	sign := p.peek()
	if sign != '-' && sign != '+' || sign == '-' && p.at+1 < len(p.text) && isDigit(p.text[p.at+1]) {
		return p.methods()
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer p.shallower()
	p.at++
	of, err := p.factor()
	if err != nil {
		return nil, err
	}
	// A sign is an addition to 0, or a subtraction from it.
	return arithmetic{op: sign, left: literal{integer(0)}, right: of}, nil
}

// methods parses an operand and the calls after it: .name(…), or ~ after a path.
func (p *pathParser) methods() (expression, error) {
	e, err := p.operand()
	for err == nil && p.peek() == '.' {
		if err := p.link(); err != nil {
			return nil, err
		}
		p.at++
		e, err = p.call(e)
	}
	if _, ok := e.(selection); ok && err == nil && p.has("~") {
		e = call{functions()["keys"], []expression{e}}
	}
	return e, err
}

// word returns the next name without consuming it.
func (p *pathParser) word() string {
	to := p.at
	for to < len(p.text) && (isLetter(p.text[to]) || to > p.at && (isDigit(p.text[to]) || p.text[to] == '_')) {
		to++
	}
	return p.text[p.at:to]
}

// call parses name(…). A receiver other than nil is the first argument.
func (p *pathParser) call(receiver expression) (expression, error) {
	name := p.word()
	f, known := functions()[name]
	if !known && name != "match" && name != "search" {
		return nil, p.fail("<function>")
	}
	p.at += len(name)
	p.space()
	if !p.has("(") {
		return nil, p.fail("'('")
	}
	var args []expression
	if receiver != nil {
		args = append(args, receiver)
	}
	err := p.separated(')', func() error {
		arg, err := p.sum()
		args = append(args, arg)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case known:
		return call{f, args}, nil
	case len(args) != 2:
		return literal{nothing}, nil
	}
	return newMatcher(args[0], args[1], name == "match"), nil
}

// separated parses a list separated by commas, and consumes its end.
func (p *pathParser) separated(end byte, thing func() error) error {
	if err := p.deeper(); err != nil {
		return err
	}
	defer p.shallower()
	if p.space(); p.has(string(end)) {
		return nil
	}
	for {
		p.space()
		if err := thing(); err != nil {
			return err
		}
		switch p.space(); {
		case p.has(string(end)):
			return nil
		case !p.has(","):
			return p.fail("',', '" + string(end) + "'")
		}
	}
}

func (p *pathParser) operand() (expression, error) {
	switch ch := p.peek(); {
	case ch == '@' || ch == '$':
		p.at++
		steps, err := p.steps()
		return selection{steps: steps, fromTop: ch == '$'}, err
	case p.has("("):
		e, err := p.condition()
		if err == nil && !p.has(")") {
			err = p.fail("')', '&&', '||'")
		}
		return e, err
	case isLetter(ch) && !slices.Contains([]string{"true", "false", "null"}, p.word()):
		return p.call(nil)
	}
	v, err := p.literal()
	if err != nil {
		return nil, err
	}
	return literal{computedValue(v)}, nil
}

// literal parses a value in JSON's syntax. Strings may also have single quotes.
func (p *pathParser) literal() (*Value, error) {
	switch ch := p.peek(); {
	case ch == '"' || ch == '\'':
		s, err := p.quoted()
		return &Value{Kind: String, Str: s}, err
	case p.has("["):
		v := &Value{Kind: Array}
		return v, p.separated(']', func() error {
			e, err := p.literal()
			v.Elems = append(v.Elems, e)
			return err
		})
	case p.has("{"):
		v := &Value{Kind: Object}
		return v, p.separated('}', func() error { return p.member(v) })
	}
	from := p.at
	for inLiteral(p.peek(), p.text[from:p.at]) {
		p.at++
	}
	v, err := parse(p.text[from:p.at], 0, nil)
	if err != nil {
		p.at = from
		return nil, p.fail(wantOperand)
	}
	return v, nil
}

// inLiteral reports whether ch continues a number or a word.
func inLiteral(ch byte, before string) bool {
	switch {
	case ch == '-' || ch == '+':
		n := len(before)
		return n == 0 || n > 1 && before[n-1]|0x20 == 'e' && isDigit(before[n-2])
	case ch == '.':
		return before != "" && isDigit(before[len(before)-1])
	}
	return isDigit(ch) || isLetter(ch)
}

// member parses "key": value into an object.
func (p *pathParser) member(object *Value) error {
	if ch := p.peek(); ch != '"' && ch != '\'' {
		return p.fail("<string>")
	}
	key, err := p.quoted()
	if err != nil {
		return err
	}
	if p.space(); !p.has(":") {
		return p.fail("':'")
	}
	p.space()
	v, err := p.literal()
	if err == nil {
		object.Put(key, v)
	}
	return err
}
