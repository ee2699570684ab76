package translator

import (
	"math"

	"github.com/meowdis/meowdis/store"
)

const (
	errScoreBounds = "ERR min or max is not a float"
	errLexBounds   = "ERR min or max not valid string range item"
)

// rangeBy selects the type of the ends of a range.
type rangeBy byte

const (
	byAny   rangeBy = iota // selected by options
	byRank                 // positions, the last one included, negative from the end
	byScore                // "1.5", "(1.5", "-inf"
	byLex                  // "[a", "(a", "-", "+"
)

// zsetSpan holds a range of a sorted set. Its ends are in ascending order unless they are ranks.
type zsetSpan struct {
	by rangeBy

	start, stop int64 // by rank

	min, max float64 // by score, both included

	from  []byte // by lex: the least possible member
	to    []byte // the last one; nil for no end
	notTo bool   // to is excluded

	empty bool // the range cannot have elements
}

// parseSpan parses the ends of a range; bad is the error text.
func parseSpan(by rangeBy, min, max []byte) (s zsetSpan, bad string) {
	s.by = by
	ok := true
	switch by {
	case byScore:
		ok, bad = s.scores(min, max), errScoreBounds
	case byLex:
		ok, bad = s.lex(min, max), errLexBounds
	default:
		var ok2 bool
		s.start, ok = parseInt(min)
		s.stop, ok2 = parseInt(max)
		ok, bad = ok && ok2, errNotInteger
	}
	if ok {
		bad = ""
	}
	return s, bad
}

// scores parses bounds of scores. An exclusive end becomes the next double, inclusive.
func (s *zsetSpan) scores(min, max []byte) bool {
	var minOpen, maxOpen, ok1, ok2 bool
	s.min, minOpen, ok1 = scoreBound(min)
	s.max, maxOpen, ok2 = scoreBound(max)
	s.empty = minOpen && math.IsInf(s.min, 1) || maxOpen && math.IsInf(s.max, -1)
	if minOpen {
		s.min = math.Nextafter(s.min, math.Inf(1))
	}
	if maxOpen {
		s.max = math.Nextafter(s.max, math.Inf(-1))
	}
	return ok1 && ok2
}

func scoreBound(b []byte) (f float64, open, ok bool) {
	if len(b) > 0 && b[0] == '(' {
		b, open = b[1:], true
	}
	f, ok = looseFloat(b)
	return f, open, ok
}

// lex parses bounds of members. The least member above m is m followed by a NUL, where a range that excludes m begins.
func (s *zsetSpan) lex(min, max []byte) bool {
	from, ok1 := lexBound(min)
	to, ok2 := lexBound(max)
	s.empty = from.sign > 0 || to.sign < 0
	s.from, s.to, s.notTo = from.member, to.member, to.open
	if from.open {
		s.from = append(from.member[:len(from.member):len(from.member)], 0)
	}
	return ok1 && ok2
}

type lexEnd struct {
	sign   int    // -1 for "-", 1 for "+"
	member []byte // nil with a sign
	open   bool
}

func lexBound(b []byte) (e lexEnd, ok bool) {
	if len(b) == 0 {
		return e, false
	}
	rest := b[1:]
	alone := len(rest) == 0 || rest[0] == 0 // as a C string
	switch b[0] {
	case '-':
		return lexEnd{sign: -1}, alone
	case '+':
		return lexEnd{sign: 1}, alone
	case '(', '[':
		return lexEnd{member: rest, open: b[0] == '('}, true
	}
	return e, false
}

// maxLength is greater than the number of elements of any key, and exact as a double.
const maxLength = 1 << 52

// clampLength limits a number of elements, or a position, to the range of possible values.
func clampLength(n int64) int64 { return max(-maxLength, min(n, maxLength)) }

// args returns the arguments for the ends, from ?4 on.
func (s zsetSpan) args() []store.Value {
	switch s.by {
	case byScore:
		return []store.Value{store.Float(s.min), store.Float(s.max)}
	case byLex:
		var to, not store.Value
		if s.to != nil {
			to = store.Bytes(s.to)
		}
		if s.notTo {
			not = to
		}
		return []store.Value{store.Bytes(s.from), to, not}
	}
	return []store.Value{store.Int(clampLength(s.start)), store.Int(clampLength(s.stop))}
}
