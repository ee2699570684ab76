package filter

import (
	"bytes"
)

// maxNumber limits the bytes of a number.
const maxNumber = 255

// scanner reads the tokens of an expression.
type scanner struct {
	text []byte
	at   int
	last step // the previous token, if any is set
	any  bool
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isMark(c byte) bool  { return c != 0 && bytes.IndexByte([]byte("+-*%/!()<>=|&"), c) >= 0 }
func isName(c byte) bool  { return isAlpha(c) || isDigit(c) || c == '_' || c == '-' }

// peek returns the byte at offset i from here, 0 at the end.
func (s *scanner) peek(i int) byte {
	if s.at+i >= len(s.text) {
		return 0
	}
	return s.text[s.at+i]
}

func (s *scanner) skipSpace() {
	for isSpace(s.peek(0)) {
		s.at++
	}
}

// next reads a token, nil at the end. ok is false for an invalid token; at is then the position that Redis reports.
func (s *scanner) next() (t *step, ok bool) {
	s.skipSpace()
	var got step
	c := s.peek(0)
	// A minus belongs to the number, except after an operand.
	negative := c == '-' && isDigit(s.peek(1)) && (!s.any || s.last.op != none && s.last.op != closeParen)
	switch {
	case s.at == len(s.text):
		return nil, true
	case isDigit(c) || negative:
		got.value, ok = s.number()
	case c == '"' || c == '\'':
		got.value, ok = s.quoted()
	case c == '.' && (isName(s.peek(1)) || s.at+1 == len(s.text)):
		got, ok = s.field(), true
	case c == '[':
		got.value, ok = s.tuple()
	case isAlpha(c) || isMark(c):
		got, ok = s.operator()
	}
	if !ok {
		return nil, false
	}
	s.last, s.any = got, true
	return &got, true
}

func (s *scanner) number() (value, bool) {
	from := s.at
	for c := s.peek(0); isDigit(c) || c == '.' || c == 'e' || c == 'E' || c == '-' && s.at == from; c = s.peek(0) {
		if s.at-from == maxNumber {
			return value{}, false
		}
		s.at++
	}
	f, ok := parseNumber(s.text[from:s.at])
	return value{kind: number, number: f}, ok
}

// quoted reads a string. A backslash protects a quote, and remains in the string.
func (s *scanner) quoted() (value, bool) {
	quote := s.peek(0)
	s.at++
	from := s.at
	for s.at < len(s.text) {
		switch c := s.peek(0); {
		case c == '\\' && s.at+1 < len(s.text):
			s.at++
		case c == quote:
			s.at++
			return value{kind: text, text: s.text[from : s.at-1]}, true
		}
		s.at++
	}
	return value{}, false
}

func (s *scanner) field() step {
	s.at++
	from := s.at
	for isName(s.peek(0)) {
		s.at++
	}
	return step{selector: true, value: value{text: s.text[from:s.at]}}
}

// tuple reads numbers and strings in brackets.
func (s *scanner) tuple() (value, bool) {
	s.at++
	t := value{kind: tuple}
	for {
		s.skipSpace()
		var elem value
		var ok bool
		switch c := s.peek(0); {
		case c == ']':
			s.at++
			return t, true
		case isDigit(c) || c == '-':
			elem, ok = s.number()
		case c == '"' || c == '\'':
			elem, ok = s.quoted()
		}
		if !ok {
			return t, false
		}
		t.elems = append(t.elems, elem)
		s.skipSpace()
		switch s.peek(0) {
		case ',':
			s.at++
		case ']':
		default:
			return t, false
		}
	}
}

// operator reads null, or the longest operator at this position.
func (s *scanner) operator() (step, bool) {
	rest, best, found := s.text[s.at:], 0, none
	if bytes.HasPrefix(rest, []byte("null")) && !isAlpha(s.peek(4)) {
		s.at += 4
		return step{}, true
	}
	for _, o := range operators {
		if len(o.text) > best && bytes.HasPrefix(rest, []byte(o.text)) {
			best, found = len(o.text), o.op
		}
	}
	s.at += best
	for found == none && (isAlpha(s.peek(0)) || isMark(s.peek(0))) {
		s.at++
	}
	return step{op: found}, found != none
}
