package lua

import "strings"

const (
	maxCaptures = 32
	escape      = '%'

	unclosed = -1 // length of a capture without an end
	position = -2 // length of a position capture
)

// matcher matches one pattern against positions of one string.
type matcher struct {
	s        *State
	src, pat string
	captures []capturing
	space    [8]capturing
	depth    int
}

type capturing struct{ at, length int }

const maxMatchDepth = 1 << 16 // C's stack would overflow

func newMatcher(s *State, src, pat string) *matcher {
	m := &matcher{s: s, src: src, pat: cut(pat)}
	m.captures = m.space[:0]
	return m
}

// start matches the pattern from p at position i of the string, and returns the end of the match, or -1.
func (m *matcher) start(i, p int) int {
	m.captures, m.depth = m.captures[:0], 0
	return m.match(i, p)
}

func (m *matcher) match(i, p int) int {
	if m.depth++; m.depth > maxMatchDepth {
		m.s.Throw("pattern too complex")
	}
	defer func() { m.depth-- }()
	for {
		m.s.step()
		switch {
		case p == len(m.pat):
			return i
		case m.pat[p] == '(':
			return m.open(i, p+1)
		case m.pat[p] == ')':
			return m.close(i, p+1)
		case m.pat[p] == '$' && p+1 == len(m.pat):
			if i < len(m.src) {
				return -1
			}
			return i
		case m.isEscaped(p):
			i, p = m.escaped(i, p+1)
		default:
			end := m.classEnd(p)
			if end < len(m.pat) && strings.IndexByte("?*+-", m.pat[end]) >= 0 {
				var matched bool
				if i, matched = m.repeated(i, p, end); matched {
					return i
				}
				p = end + 1
			} else if i < len(m.src) && m.single(m.src[i], p, end) {
				i, p = i+1, end
			} else {
				return -1
			}
		}
		if i < 0 {
			return -1
		}
	}
}

// isEscaped reports whether %b, %f or a capture's number is at p.
func (m *matcher) isEscaped(p int) bool {
	return m.pat[p] == escape && p+1 < len(m.pat) && (m.pat[p+1] == 'b' || m.pat[p+1] == 'f' || isDigit(m.pat[p+1]))
}

// escaped matches %b, %f or a capture's number, whose letter is at p. It returns the end of the match, or -1, and the rest
// of the pattern.
func (m *matcher) escaped(i, p int) (after, rest int) {
	switch c := m.pat[p]; c {
	case 'b':
		return m.balance(i, p+1), p + 3
	case 'f':
		return m.frontier(i, p+1)
	default:
		return m.back(i, c), p + 1
	}
}

// frontier matches an empty string between a character outside the set at p and one in it.
func (m *matcher) frontier(i, p int) (after, rest int) {
	if p >= len(m.pat) || m.pat[p] != '[' {
		m.s.Throw("missing '[' after '%f' in pattern")
	}
	end := m.classEnd(p)
	var before, here byte
	if i > 0 {
		before = m.src[i-1]
	}
	if i < len(m.src) {
		here = m.src[i]
	}
	if m.inSet(before, p, end-1) || !m.inSet(here, p, end-1) {
		return -1, end
	}
	return i, end
}

// repeated matches the class at p, repeated as the character at end says, and the rest of the pattern. matched is false
// if nothing matched with "?": the caller then matches the rest at i.
func (m *matcher) repeated(i, p, end int) (after int, matched bool) {
	one := i < len(m.src) && m.single(m.src[i], p, end)
	switch m.pat[end] {
	case '?':
		if one {
			if r := m.match(i+1, end+1); r >= 0 {
				return r, true
			}
		}
		return i, false
	case '*':
		return m.matchLongest(i, p, end), true
	case '+':
		if !one {
			return -1, true
		}
		return m.matchLongest(i+1, p, end), true
	default:
		return m.matchShortest(i, p, end), true
	}
}

func (m *matcher) matchLongest(i, p, end int) int {
	n := 0
	for i+n < len(m.src) && m.single(m.src[i+n], p, end) {
		n++
	}
	for ; n >= 0; n-- {
		if r := m.match(i+n, end+1); r >= 0 {
			return r
		}
	}
	return -1
}

func (m *matcher) matchShortest(i, p, end int) int {
	for {
		if r := m.match(i, end+1); r >= 0 {
			return r
		}
		if i >= len(m.src) || !m.single(m.src[i], p, end) {
			return -1
		}
		i++
	}
}

// open begins a capture, whose pattern begins at p.
func (m *matcher) open(i, p int) int {
	if len(m.captures) >= maxCaptures {
		m.s.Throw("too many captures")
	}
	n, what := len(m.captures), unclosed
	if p < len(m.pat) && m.pat[p] == ')' {
		p, what = p+1, position
	}
	m.captures = append(m.captures, capturing{i, what})
	r := m.match(i, p)
	if r < 0 {
		m.captures = m.captures[:n]
	}
	return r
}

func (m *matcher) close(i, p int) int {
	n := len(m.captures) - 1
	for ; n >= 0 && m.captures[n].length != unclosed; n-- {
	}
	if n < 0 {
		m.s.Throw("invalid pattern capture")
	}
	m.captures[n].length = i - m.captures[n].at
	r := m.match(i, p)
	if r < 0 {
		m.captures[n].length = unclosed
	}
	return r
}

func (m *matcher) balance(i, p int) int {
	if p+1 >= len(m.pat) {
		m.s.Throw("unbalanced pattern")
	}
	if i >= len(m.src) || m.src[i] != m.pat[p] {
		return -1
	}
	opening, closing, depth := m.pat[p], m.pat[p+1], 1
	for i++; i < len(m.src); i++ {
		switch m.src[i] {
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		case opening:
			depth++
		}
	}
	return -1
}

func (m *matcher) back(i int, digit byte) int {
	n := int(digit) - '1'
	if n < 0 || n >= len(m.captures) || m.captures[n].length == unclosed {
		m.s.Throw("invalid capture index")
	}
	c := m.captures[n]
	if c.length >= 0 && strings.HasPrefix(m.src[i:], m.src[c.at:c.at+c.length]) {
		return i + c.length
	}
	return -1
}

// classEnd returns the end of the single-character class at p.
func (m *matcher) classEnd(p int) int {
	c := m.pat[p]
	p++
	switch c {
	case escape:
		if p >= len(m.pat) {
			m.s.Throw("malformed pattern (ends with '%')")
		}
		return p + 1
	case '[':
		if p < len(m.pat) && m.pat[p] == '^' {
			p++
		}
		for {
			if p >= len(m.pat) {
				m.s.Throw("malformed pattern (missing ']')")
			}
			c := m.pat[p]
			p++
			if c == escape && p < len(m.pat) {
				p++
			}
			if p < len(m.pat) && m.pat[p] == ']' {
				return p + 1
			}
		}
	}
	return p
}

func (m *matcher) single(c byte, p, end int) bool {
	switch m.pat[p] {
	case '.':
		return true
	case escape:
		return inClass(c, m.pat[p+1])
	case '[':
		return m.inSet(c, p, end-1)
	}
	return m.pat[p] == c
}

// inSet reports whether c is in the set that begins at p and whose "]" is at end.
func (m *matcher) inSet(c byte, p, end int) bool {
	found := true
	p++
	if m.pat[p] == '^' {
		found = false
		p++
	}
	for ; p < end; p++ {
		switch {
		case m.pat[p] == escape:
			p++
			if inClass(c, m.pat[p]) {
				return found
			}
		case m.pat[p+1] == '-' && p+2 < end:
			if m.pat[p] <= c && c <= m.pat[p+2] {
				return found
			}
			p += 2
		case m.pat[p] == c:
			return found
		}
	}
	return !found
}

func inClass(c, class byte) bool {
	var in bool
	switch class | 0x20 {
	case 'a':
		in = isAlpha(c)
	case 'c':
		in = c < ' ' || c == 0x7f
	case 'd':
		in = isDigit(c)
	case 'l':
		in = isLower(c)
	case 'p':
		in = isPunct(c)
	case 's':
		in = isSpace(c)
	case 'u':
		in = isUpper(c)
	case 'w':
		in = isAlpha(c) || isDigit(c)
	case 'x':
		in = isHex(c)
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	if !isAlpha(class) {
		return class == c
	}
	return in != isUpper(class)
}

// capture returns the n-th capture of a match at [i, end), or the whole match if n is 0 and the pattern has no
// captures.
func (m *matcher) capture(n, i, end int) Value {
	if n >= len(m.captures) {
		if n != 0 {
			m.s.Throw("invalid capture index")
		}
		return m.piece(i, end)
	}
	c := m.captures[n]
	switch c.length {
	case unclosed:
		m.s.Throw("unfinished capture")
	case position:
		return Number(float64(c.at + 1))
	}
	return m.piece(c.at, c.at+c.length)
}

func (m *matcher) piece(i, end int) Value {
	m.s.Grow(32)
	return String(m.src[i:end])
}

// all returns the captures of a match. With whole, a match without captures returns itself.
func (m *matcher) all(i, end int, whole bool) []Value {
	n := len(m.captures)
	if n == 0 && whole {
		n = 1
	}
	vs := make([]Value, n)
	for k := range vs {
		vs[k] = m.capture(k, i, end)
	}
	return vs
}
