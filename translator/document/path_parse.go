package document

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxFilterDepth is how deep a path may nest filters and parentheses.
const maxFilterDepth = 64

// What the parser of paths expects, as its errors say it.
const (
	wantStep     = "'.', '['"
	wantName     = "<name>, '*', '['"
	wantSelector = "'<string>[,<string>,...]', '<number>', ['start:end:steps'], '*'"
	wantOperand  = "<path>, <string>, <number>, 'true', 'false', 'null', '('"
)

// ParsePath reads a JSONPath or a legacy path. An error is a reply.
func ParsePath(text string) (*Path, error) {
	if !utf8.ValidString(text) {
		return nil, errNotUTF8
	}
	p := pathParser{text: jsonPath(text), at: 1}
	steps, err := p.steps()
	if err == nil && p.at < len(p.text) {
		err = p.fail(wantStep)
	}
	if err != nil {
		return nil, err
	}
	return &Path{Text: text, Legacy: len(text) == 0 || text[0] != '$', steps: steps}, nil
}

type pathParser struct {
	text  string
	at    int
	depth int // of filters and parentheses
}

// fail is the error that something else is expected at p.at.
func (p *pathParser) fail(want string) error {
	return errors.New(oneLine(fmt.Sprintf("Error occurred on position %d, \"%s ---->>>> %s\", expected one of the following: %s.",
		p.at, p.text[:p.at], p.text[p.at:], want)))
}

// oneLine keeps what a user wrote from ending an error reply.
func oneLine(s string) string {
	b := []byte(s)
	for i, ch := range b {
		if ch == '\r' || ch == '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}

func (p *pathParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// has steps over the token if it comes next.
func (p *pathParser) has(token string) bool {
	if len(p.text)-p.at < len(token) || p.text[p.at:p.at+len(token)] != token {
		return false
	}
	p.at += len(token)
	return true
}

func (p *pathParser) space() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.at++
	}
}

// steps reads as many steps as there are: .name ..name .* [...] .[...]
func (p *pathParser) steps() ([]step, error) {
	var steps []step
	for {
		s := step{}
		dotted := p.has(".")
		if dotted {
			s.deep = p.has(".")
		} else if p.peek() != '[' {
			return steps, nil
		}
		var err error
		switch {
		case p.peek() == '[':
			s.pick, err = p.brackets()
		case p.has("*"):
			s.pick = []selector{{kind: byWildcard}}
		default:
			from := p.at
			for p.at < len(p.text) && inName(p.text[p.at]) {
				p.at++
			}
			if p.at == from {
				err = p.fail(wantName)
			}
			s.pick = []selector{{kind: byName, name: p.text[from:p.at]}}
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
}

// inName tells whether a name may hold the byte without quotes.
func inName(ch byte) bool {
	return ch >= utf8.RuneSelf || ch == '_' || ch == '-' || ch == '$' || isDigit(ch) || 'a' <= ch|0x20 && ch|0x20 <= 'z'
}

// brackets reads "[…]": selectors with commas between them, or one filter.
func (p *pathParser) brackets() ([]selector, error) {
	p.at++
	var all []selector
	for {
		p.space()
		s, err := p.selector()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
		p.space()
		switch {
		case p.has("]"):
			return all, nil
		case !p.has(","):
			return nil, p.fail("',', ']'")
		}
	}
}

func (p *pathParser) selector() (selector, error) {
	switch ch := p.peek(); {
	case p.has("*"):
		return selector{kind: byWildcard}, nil
	case ch == '"' || ch == '\'':
		name, err := p.quoted()
		return selector{kind: byName, name: name}, err
	case p.has("?"):
		p.space()
		filter, err := p.either()
		return selector{kind: byFilter, filter: filter}, err
	case ch == ':' || ch == '-' || isDigit(ch):
		return p.indexOrSlice()
	}
	return selector{}, p.fail(wantSelector)
}

// indexOrSlice reads 1 or -1, or a slice such as 1:3, :-1 or ::2.
func (p *pathParser) indexOrSlice() (selector, error) {
	s := slice{step: 1}
	var step *int
	parts := []**int{&s.start, &s.end, &step}
	for i, part := range parts {
		p.space()
		if p.peek() == '-' || isDigit(p.peek()) {
			n, err := p.integer()
			if err != nil {
				return selector{}, err
			}
			*part = &n
		}
		p.space()
		if i == len(parts)-1 {
			break
		}
		if !p.has(":") {
			if i == 0 {
				return selector{kind: byIndex, index: *s.start}, nil
			}
			break
		}
	}
	if step != nil {
		if s.step = *step; s.step <= 0 {
			return selector{}, p.fail("a positive step")
		}
	}
	return selector{kind: bySlice, slice: s}, nil
}

func (p *pathParser) integer() (int, error) {
	from := p.at
	p.has("-")
	for isDigit(p.peek()) {
		p.at++
	}
	n, err := strconv.ParseInt(p.text[from:p.at], 10, 64)
	if err != nil {
		p.at = from
		return 0, p.fail("<number>")
	}
	return int(n), nil
}

// quoted reads a string in single or double quotes, with JSON's escapes and \'.
func (p *pathParser) quoted() (string, error) {
	quote, from := p.peek(), p.at
	literal := []byte{'"'} // the same as a JSON string
	for p.at++; p.at < len(p.text); p.at++ {
		switch ch := p.text[p.at]; {
		case ch == quote:
			p.at++
			v, err := parse(append(literal, '"'), 0)
			if err != nil {
				p.at = from
				return "", p.fail("<string>")
			}
			return v.Str, nil
		case ch == '\\' && p.at+1 < len(p.text):
			p.at++
			if p.text[p.at] != '\'' {
				literal = append(literal, '\\')
			}
			literal = append(literal, p.text[p.at])
		case ch == '"':
			literal = append(literal, '\\', '"')
		default:
			literal = append(literal, ch)
		}
	}
	return "", p.fail(string(quote))
}
