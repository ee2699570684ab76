package lua

import (
	"fmt"
	"strings"
)

// Tokens are single characters or these values.
const (
	tEOF = 256 + iota
	tName
	tString
	tNumber
	tConcat
	tDots
	tEq
	tGe
	tLe
	tNe
	tAnd
	tBreak
	tDo
	tElse
	tElseif
	tEnd
	tFalse
	tFor
	tFunction
	tIf
	tIn
	tLocal
	tNil
	tNot
	tOr
	tRepeat
	tReturn
	tThen
	tTrue
	tUntil
	tWhile
)

var tokenNames = [...]string{
	"<eof>", "<name>", "<string>", "<number>", "..", "...", "==", ">=", "<=", "~=",
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
	"repeat", "return", "then", "true", "until", "while",
}

var keywords = func() map[string]int {
	m := map[string]int{}
	for i, name := range tokenNames[tAnd-tEOF:] {
		m[name] = tAnd + i
	}
	return m
}()

type lexer struct {
	chunk string // the source's name in messages
	src   string
	pos   int
	begin int // start of the current token
	line  int

	token    int
	s        string // value of a name or string token
	n        float64
	lastLine int // line of the previous token

	grow   func(bytes int)
	tokens int // since the last call of grow

	ahead struct {
		there bool
		tokenInfo
	}
}

type tokenInfo struct {
	token, begin, pos, line int
	s                       string
	n                       float64
}

func tokenName(t int) string {
	switch {
	case t >= tEOF:
		return tokenNames[t-tEOF]
	case t < ' ' || t == 0x7f:
		return fmt.Sprintf("char(%d)", t)
	}
	return string([]byte{byte(t)})
}

// chunkName returns the name of a source in messages: the name of "=name" and "@name", else the
// source, shortened. As in C, a zero byte ends it.
func chunkName(name string) string {
	const size = 80
	name, _, _ = strings.Cut(name, "\x00")
	switch {
	case strings.HasPrefix(name, "="):
		return name[1:min(len(name), size)]
	case strings.HasPrefix(name, "@"):
		name = name[1:]
		if room := size - len(" '...' ") - 1; len(name) > room {
			return "..." + name[len(name)-room:]
		}
		return name
	}
	room := size - len(` [string "..."] `) - 1
	line, _, more := strings.Cut(name, "\n")
	if i := strings.IndexByte(line, '\r'); i >= 0 {
		line, more = line[:i], true
	}
	if len(line) > room {
		line, more = line[:room], true
	}
	if more {
		line += "..."
	}
	return `[string "` + line + `"]`
}

// fail stops the parser with an error. near is the offending text, or "".
func (l *lexer) fail(msg, near string) {
	if near != "" {
		msg += " near '" + near + "'"
	}
	panic(&Error{Value: String(fmt.Sprintf("%s:%d: %s", l.chunk, l.line, msg)), syntax: true})
}

func (l *lexer) failHere(msg string) {
	near := tokenName(l.token)
	if l.token == tString { // with its escapes replaced, as in the buffer of Redis's lexer
		quote := 1
		if l.src[l.begin] == '[' {
			quote = strings.IndexByte(l.src[l.begin+1:], '[') + 2
		}
		near = cut(l.src[l.begin:l.begin+quote] + l.s + l.src[l.pos-quote:l.pos])
	} else if l.token == tName || l.token == tNumber {
		near = cut(l.src[l.begin:l.pos])
	} else if l.token == 0 {
		near = ""
	}
	l.fail(msg, near)
}

func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

func (l *lexer) next() {
	l.lastLine = l.line
	if l.ahead.there {
		a := l.ahead.tokenInfo
		l.token, l.begin, l.pos, l.line, l.s, l.n = a.token, a.begin, a.pos, a.line, a.s, a.n
		l.ahead.there = false
		return
	}
	l.token = l.scan()
}

// lookahead returns the token after the current one.
func (l *lexer) lookahead() int {
	now := tokenInfo{l.token, l.begin, l.pos, l.line, l.s, l.n}
	then := l.scan()
	l.ahead.there, l.ahead.tokenInfo = true, tokenInfo{then, l.begin, l.pos, l.line, l.s, l.n}
	l.token, l.begin, l.pos, l.line, l.s, l.n = now.token, now.begin, now.pos, now.line, now.s, now.n
	return then
}

func (l *lexer) newline() {
	c := l.src[l.pos]
	l.pos++
	if d := l.peek(0); (d == '\n' || d == '\r') && d != c && l.pos < len(l.src) {
		l.pos++
	}
	l.line++
}

// The memory of a compiled chunk: copies of its source in strings, and the tree and the closures of its tokens.
const (
	copiesOfSource = 3
	tokenBytes     = 240
	tokensPerGrow  = 64
)

func (l *lexer) scan() int {
	if l.tokens++; l.tokens == tokensPerGrow {
		l.tokens = 0
		l.grow(tokensPerGrow * tokenBytes)
	}
	for l.pos < len(l.src) {
		l.begin = l.pos
		c := l.src[l.pos]
		switch {
		case c == '\n' || c == '\r':
			l.newline()
		case isSpace(c):
			l.pos++
		case c == '-' && l.peek(1) == '-':
			l.comment()
		case c == '[':
			if level := l.bracket(); level >= 0 {
				l.long(level, false)
				return tString
			} else if level < -1 {
				l.pos += -level
				l.fail("invalid long string delimiter", cut(l.src[l.begin:l.pos]))
			}
			l.pos++
			return '['
		case c == '"' || c == '\'':
			l.quoted(c)
			return tString
		case isDigit(c) || c == '.' && isDigit(l.peek(1)):
			l.number()
			return tNumber
		case isAlpha(c) || c == '_':
			return l.name()
		default:
			return l.symbol(c)
		}
	}
	l.begin = l.pos
	return tEOF
}

// name scans a name or a keyword.
func (l *lexer) name() int {
	for l.pos < len(l.src) && (isAlpha(l.src[l.pos]) || isDigit(l.src[l.pos]) || l.src[l.pos] == '_') {
		l.pos++
	}
	l.s = l.src[l.begin:l.pos]
	if k, ok := keywords[l.s]; ok {
		return k
	}
	return tName
}

func (l *lexer) symbol(c byte) int {
	two := func(second byte, t int) int {
		l.pos++
		if l.peek(0) == second && l.pos < len(l.src) {
			l.pos++
			return t
		}
		return int(c)
	}
	switch c {
	case '=':
		return two('=', tEq)
	case '<':
		return two('=', tLe)
	case '>':
		return two('=', tGe)
	case '~':
		return two('=', tNe)
	case '.':
		if t := two('.', tConcat); t != tConcat {
			return t
		}
		if l.peek(0) == '.' {
			l.pos++
			return tDots
		}
		return tConcat
	}
	l.pos++
	return int(c)
}

func (l *lexer) comment() {
	l.pos += 2
	if l.peek(0) == '[' {
		l.begin = l.pos
		if level := l.bracket(); level >= 0 {
			l.long(level, true)
			return
		}
	}
	for l.pos < len(l.src) && l.src[l.pos] != '\n' && l.src[l.pos] != '\r' {
		l.pos++
	}
}

// bracket returns the level of the long bracket here, -1 for a single "[", and a lower value for an incomplete
// bracket, by its length.
func (l *lexer) bracket() int {
	n := 1
	for l.peek(n) == '=' {
		n++
	}
	switch {
	case l.peek(n) == '[':
		return n - 1
	case n == 1:
		return -1
	}
	return -n
}

func (l *lexer) long(level int, comment bool) {
	l.pos += level + 2
	if c := l.peek(0); c == '\n' || c == '\r' {
		l.newline()
	}
	var b strings.Builder
	closing := "]" + strings.Repeat("=", level) + "]"
	for {
		switch {
		case l.pos >= len(l.src):
			if comment {
				l.fail("unfinished long comment", "<eof>")
			}
			l.fail("unfinished long string", "<eof>")
		case strings.HasPrefix(l.src[l.pos:], closing):
			l.pos += len(closing)
			l.s = b.String()
			return
		case level == 0 && strings.HasPrefix(l.src[l.pos:], "[["):
			l.pos += 2
			l.fail("nesting of [[...]] is deprecated", "[")
		case l.src[l.pos] == '\n' || l.src[l.pos] == '\r':
			l.newline()
			b.WriteByte('\n')
		default:
			b.WriteByte(l.src[l.pos])
			l.pos++
		}
	}
}

func (l *lexer) quoted(quote byte) {
	l.pos++
	from := l.pos
	for l.pos < len(l.src) { // most have no escapes
		c := l.src[l.pos]
		if c == quote {
			l.s = l.src[from:l.pos]
			l.pos++
			return
		}
		if c == '\\' || c == '\n' || c == '\r' {
			break
		}
		l.pos++
	}
	var b strings.Builder
	b.WriteString(l.src[from:l.pos])
	for {
		if l.pos >= len(l.src) {
			l.fail("unfinished string", "<eof>")
		}
		switch c := l.src[l.pos]; c {
		case quote:
			l.pos++
			l.s = b.String()
			return
		case '\n', '\r':
			l.fail("unfinished string", string(quote)+cut(b.String()))
		case '\\':
			l.escape(&b, quote)
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
}

func (l *lexer) escape(b *strings.Builder, quote byte) {
	l.pos++
	if l.pos >= len(l.src) {
		return
	}
	c := l.src[l.pos]
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v"[i])
		l.pos++
		return
	}
	switch {
	case c == '\n' || c == '\r':
		l.newline()
		b.WriteByte('\n')
	case isDigit(c):
		n := 0
		for i := 0; i < 3 && isDigit(l.peek(0)); i++ {
			n = n*10 + int(l.src[l.pos]-'0')
			l.pos++
		}
		if n > 255 {
			l.fail("escape sequence too large", string(quote)+cut(b.String()))
		}
		b.WriteByte(byte(n))
	default:
		b.WriteByte(c)
		l.pos++
	}
}

func (l *lexer) number() {
	for isDigit(l.peek(0)) || l.peek(0) == '.' {
		l.pos++
	}
	// The reference implementation looks for e and E with C's strchr, which finds a NUL, too. The number ends there.
	nul := func() bool { return l.peek(0) == 0 && l.pos < len(l.src) }
	if c := l.peek(0); c|0x20 == 'e' || nul() {
		l.pos++
		if c := l.peek(0); c == '+' || c == '-' || nul() {
			l.pos++
		}
	}
	for c := l.peek(0); isAlpha(c) || isDigit(c) || c == '_'; c = l.peek(0) {
		l.pos++
	}
	n, ok := ParseNumber(l.src[l.begin:l.pos])
	if !ok {
		l.fail("malformed number", l.src[l.begin:l.pos])
	}
	l.n = n
}
