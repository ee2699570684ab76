package lua

import "strings"

var stringFunctions map[string]GoFunction

func init() {
	stringFunctions = map[string]GoFunction{
		"byte": stringByte, "char": stringChar, "dump": stringDump, "find": stringFind, "format": stringFormat,
		"gfind": stringGmatch, "gmatch": stringGmatch, "gsub": stringGsub, "len": stringLen, "lower": stringLower,
		"match": stringMatch, "rep": stringRep, "reverse": stringReverse, "sub": stringSub, "upper": stringUpper,
	}
}

func stringLen(s *State, args []Value) []Value {
	return s.One(Number(float64(len(s.CheckString(args, 1)))))
}

// relative converts a position of a script, where -1 is the last character, to a positive one.
func relative(i, length int) int {
	if i < 0 {
		return max(i+length+1, 0)
	}
	return i
}

func stringSub(s *State, args []Value) []Value {
	text := s.CheckString(args, 1)
	from := max(relative(s.CheckInteger(args, 2), len(text)), 1)
	to := min(relative(s.OptInteger(args, 3, -1), len(text)), len(text))
	if from > to {
		return s.One(String(""))
	}
	s.Grow(32)
	return s.One(String(text[from-1 : to]))
}

func mapped(change func(c byte) byte) GoFunction {
	return func(s *State, args []Value) []Value {
		text := s.CheckString(args, 1)
		s.Grow(len(text))
		b := make([]byte, len(text))
		for i := range b {
			b[i] = change(text[i])
		}
		return s.One(stringOf(b))
	}
}

var (
	stringLower = mapped(func(c byte) byte {
		if isUpper(c) {
			return c | 0x20
		}
		return c
	})
	stringUpper = mapped(func(c byte) byte {
		if isLower(c) {
			return c &^ 0x20
		}
		return c
	})
)

func stringReverse(s *State, args []Value) []Value {
	text := s.CheckString(args, 1)
	s.Grow(len(text))
	b := make([]byte, len(text))
	for i := range b {
		b[i] = text[len(text)-1-i]
	}
	return s.One(stringOf(b))
}

func stringRep(s *State, args []Value) []Value {
	text, n := s.CheckString(args, 1), s.CheckInt(args, 2)
	if n <= 0 || text == "" {
		return s.One(String(""))
	}
	if len(text) > s.limit/n {
		s.ThrowValue(String(ErrMemory.Error()))
	}
	s.Grow(len(text) * n)
	return s.One(String(strings.Repeat(text, n)))
}

func stringByte(s *State, args []Value) []Value {
	text := s.CheckString(args, 1)
	from := relative(s.OptInteger(args, 2, 1), len(text))
	to := min(relative(s.OptInteger(args, 3, from), len(text)), len(text))
	from = max(from, 1)
	if from > to {
		return nil
	}
	if to-from+1 > maxResults-len(args) {
		s.Throw("stack overflow (string slice too long)")
	}
	vs := make([]Value, 0, to-from+1)
	for _, c := range []byte(text[from-1 : to]) {
		vs = append(vs, Number(float64(c)))
	}
	return vs
}

func stringChar(s *State, args []Value) []Value {
	s.Grow(len(args))
	b := make([]byte, len(args))
	for i := range args {
		c := s.CheckInt(args, i+1)
		if c < 0 || c > 255 {
			s.BadArgument(i+1, "invalid value")
		}
		b[i] = byte(c)
	}
	return s.One(stringOf(b))
}

func stringDump(s *State, args []Value) []Value {
	s.CheckFunction(args, 1)
	s.Throw("unable to dump given function")
	return nil
}

func stringFind(s *State, args []Value) []Value  { return search(s, args, true) }
func stringMatch(s *State, args []Value) []Value { return search(s, args, false) }

func search(s *State, args []Value, find bool) []Value {
	src, pat := s.CheckString(args, 1), s.CheckString(args, 2)
	init := relative(s.OptInteger(args, 3, 1), len(src)) - 1
	init = min(max(init, 0), len(src))
	if find && (Arg(args, 4).Truth() || !strings.ContainsAny(cut(pat), "^$*+?.([%-")) {
		i := strings.Index(src[init:], pat)
		if i < 0 {
			return s.One(Nil)
		}
		return []Value{Number(float64(init + i + 1)), Number(float64(init + i + len(pat)))}
	}
	p := 0
	if strings.HasPrefix(pat, "^") {
		p = 1
	}
	m := newMatcher(s, src, pat)
	for i := init; i <= len(src); i++ {
		if end := m.start(i, p); end >= 0 {
			if !find {
				return m.all(i, end, true)
			}
			return append([]Value{Number(float64(i + 1)), Number(float64(end))}, m.all(i, end, false)...)
		}
		if p == 1 {
			break
		}
	}
	return s.One(Nil)
}

func stringGmatch(s *State, args []Value) []Value {
	src, pat := s.CheckString(args, 1), s.CheckString(args, 2)
	at := 0
	return s.One(Of(GoFunc("gmatch", func(s *State, _ []Value) []Value {
		m := newMatcher(s, src, pat)
		for i := at; i <= len(src); i++ {
			if end := m.start(i, 0); end >= 0 {
				if at = end; end == i {
					at++
				}
				return m.all(i, end, true)
			}
		}
		at = len(src) + 1
		return s.One(Nil)
	})))
}

func stringGsub(s *State, args []Value) []Value {
	src, pat := s.CheckString(args, 1), s.CheckString(args, 2)
	repl := Arg(args, 3)
	most := s.OptInt(args, 4, len(src)+1)
	switch repl.Type() {
	case "number", "string", "function", "table":
	default:
		s.BadArgument(3, "string/function/table expected")
	}
	p := 0
	if strings.HasPrefix(pat, "^") {
		p = 1
	}
	m := newMatcher(s, src, pat)
	b := s.Buffer()
	defer b.Close()
	i, n := 0, 0
	for n < most {
		end := m.start(i, p)
		if end >= 0 {
			n++
			m.replace(b, repl, i, end)
		}
		switch {
		case end >= 0 && end > i:
			i = end
		case i < len(src):
			b.Byte(src[i])
			i++
		default:
			i++
		}
		if i > len(src) || p == 1 {
			break
		}
	}
	if i < len(src) {
		b.String(src[i:])
	}
	return []Value{b.Value(), Number(float64(n))}
}

// replace writes the replacement of a match.
func (m *matcher) replace(b *Buffer, repl Value, i, end int) {
	var v Value
	switch r := repl.ref.(type) {
	case *Table:
		v = m.s.frames[m.s.depth-1].index(repl, m.capture(0, i, end), 0, nil)
	case *Function:
		v = first(m.s.Invoke(repl, m.all(i, end, true)...))
	default:
		_ = r
		text, _ := repl.Text()
		m.expand(b, text, i, end)
		return
	}
	if !v.Truth() {
		b.String(m.src[i:end])
		return
	}
	text, ok := v.Text()
	if !ok {
		m.s.Throwf("invalid replacement value (a %s)", v.Type())
	}
	b.String(text)
}

func (m *matcher) expand(b *Buffer, text string, i, end int) {
	for k := 0; k < len(text); k++ {
		if text[k] != escape {
			b.Byte(text[k])
			continue
		}
		k++
		c := byte(0)
		if k < len(text) {
			c = text[k]
		}
		switch {
		case !isDigit(c):
			b.Byte(c)
		case c == '0':
			b.String(m.src[i:end])
		default:
			piece, _ := m.capture(int(c-'1'), i, end).Text()
			b.String(piece)
		}
	}
}
