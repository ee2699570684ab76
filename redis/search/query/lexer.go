package query

import "strings"

type kind int

const (
	eof kind = iota
	term
	number
	inf
	quoted   // "…" or '…'; text is between the quotes
	wildcard // w'…'; text is between the quotes
	prefix   // text*
	suffix   // *text
	infix    // *text*
	modifier // @name
	param    // $name
	arrow    // =>
	compare  // == != > >= < <=
	or
	lparen
	rparen
	lbrace
	rbrace
	lbracket
	rbracket
	colon
	semicolon
	minus
	tilde
	star
	percent
	squote // dialect 1 has no single quotes
	quote  // a quote without its end
)

var single = map[byte]kind{
	'|': or, '(': lparen, ')': rparen, '{': lbrace, '}': rbrace, '[': lbracket, ']': rbracket, ':': colon,
	';': semicolon, '-': minus, '~': tilde, '*': star, '%': percent,
}

type token struct {
	kind kind
	pos  int    // of its first byte
	end  int    // after its last byte
	text string // without sigils and quotes, still escaped
	near string // what an error message shows
	body kind   // what an affix is made of: term, number, quoted or param
}

// lexer cuts a query into tokens.
type lexer struct {
	in      string
	at      int
	dialect int
	near    string // the text of the last token that has one: punctuation repeats it in error messages
}

// next returns the next token, and skips the punctuation that has no meaning.
func (l *lexer) next() token {
	for l.at < len(l.in) {
		if t, ok := l.scan(); ok {
			l.at = t.end
			if t.near == "" {
				t.near = l.near
			}
			l.near = t.near
			return t
		}
		l.at++
	}
	return token{kind: eof, pos: len(l.in), end: len(l.in), near: l.near}
}

// scan returns the token at the current position; ok is false if the byte there has no meaning.
func (l *lexer) scan() (t token, ok bool) {
	in, at := l.in, l.at
	c := in[at]
	if c == '*' {
		return l.starred(), true
	}
	if t, ok := l.word(at); ok {
		if t.end < len(in) && in[t.end] == '*' && t.kind != inf {
			return token{kind: prefix, pos: at, end: t.end + 1, text: t.text, near: t.text, body: t.kind}, true
		}
		return t, true
	}
	switch {
	case c == '@':
		if end := termEnd(in, at+1); end > at+1 {
			name := in[at+1 : end]
			return token{kind: modifier, pos: at, end: end, text: name, near: name}, true
		}
	case c == '=' && strings.HasPrefix(in[at:], "=>"):
		return token{kind: arrow, pos: at, end: at + 2, near: in[at+1 : min(at+3, len(in))]}, true
	case l.dialect > 1 && (c == '=' || c == '!' || c == '<' || c == '>'):
		if op := comparison(in[at:]); op != "" {
			return token{kind: compare, pos: at, end: at + len(op), text: op}, true
		}
	case c == '"':
		return token{kind: quote, pos: at, end: at + 1}, true
	case c == '\'' && l.dialect > 1:
		return token{kind: squote, pos: at, end: at + 1}, true
	}
	if c == '-' && l.dialect == 1 && at+1 < len(in) && in[at+1] != '+' {
		if end := numberEnd(in, at+1); end > at+1 {
			return token{kind: number, pos: at, end: end, text: in[at:end], near: in[at:end]}, true
		}
	}
	if k, known := single[c]; known {
		return token{kind: k, pos: at, end: at + 1}, true
	}
	return t, false
}

// starred returns the token that begins with a star: a suffix, an infix, or the star alone.
func (l *lexer) starred() token {
	at := l.at
	w, ok := l.word(at + 1)
	if !ok || w.kind == inf && w.text[0] != 'i' && w.text[0] != 'I' || w.kind == wildcard {
		return token{kind: star, pos: at, end: at + 1}
	}
	t := token{kind: suffix, pos: at, end: w.end, text: w.text, near: w.text, body: w.kind}
	if w.end < len(l.in) && l.in[w.end] == '*' {
		t.kind, t.end = infix, w.end+1
	}
	return t
}

// word returns the token at a position if it is one that a star may stand beside.
func (l *lexer) word(at int) (t token, ok bool) {
	in := l.in
	if at >= len(in) {
		return t, false
	}
	c := in[at]
	if c == '$' {
		end := termEnd(in, at+1)
		return token{kind: param, pos: at, end: end, text: in[at+1 : end], near: in[at+1 : end]}, end > at+1
	}
	if l.dialect > 1 {
		switch {
		case c == 'w' && at+1 < len(in) && in[at+1] == '\'':
			if end := quoteEnd(in, at+1); end > 0 {
				return token{kind: wildcard, pos: at, end: end, text: in[at+2 : end-1], near: in[at:end]}, true
			}
		case c == '\'':
			if end := quoteEnd(in, at); end > 0 {
				return token{kind: quoted, pos: at, end: end, text: in[at+1 : end-1], near: in[at+1 : end-1]}, true
			}
		}
	}
	if c == '"' {
		if end := quoteEnd(in, at); end > 0 {
			return token{kind: quoted, pos: at, end: end, text: in[at+1 : end-1], near: in[at+1 : end-1]}, true
		}
		return t, false
	}
	word, num, infinite := termEnd(in, at), numberEnd(in, at), infEnd(in, at)
	end, k := word, term
	if infinite >= end && infinite > at {
		end, k = infinite, inf
	}
	if num >= end && num > at {
		end, k = num, number
	}
	if end == at {
		return t, false
	}
	return token{kind: k, pos: at, end: end, text: in[at:end], near: in[at:end]}, true
}

// termEnd returns where the run of term characters that begins at a position ends.
func termEnd(in string, at int) int {
	for at < len(in) {
		switch c := in[at]; {
		case c == '_' || c >= 0x80 || isAlnum(c):
			at++
		case c == '\\' && at+1 < len(in) && (isPunct(in[at+1]) || isSpace(in[at+1])):
			at += 2
		default:
			return at
		}
	}
	return at
}

// numberEnd returns where the number that begins at a position ends; at if none does.
func numberEnd(in string, at int) int {
	digits := func(i int) int {
		for i < len(in) && in[i] >= '0' && in[i] <= '9' {
			i++
		}
		return i
	}
	start := at
	if at < len(in) && in[at] == '+' {
		at++
	}
	end := digits(at)
	if end == at {
		return start
	}
	if end < len(in) && in[end] == '.' {
		if more := digits(end + 1); more > end+1 {
			end = more
		}
	}
	if end < len(in) && (in[end] == 'e' || in[end] == 'E') {
		exp := end + 1
		if exp < len(in) && (in[exp] == '+' || in[exp] == '-') {
			exp++
		}
		if more := digits(exp); more > exp {
			end = more
		}
	}
	return end
}

// infEnd returns where inf or +inf that begins at a position ends; at if it does not stand there.
func infEnd(in string, at int) int {
	end := at
	if end < len(in) && in[end] == '+' {
		end++
	}
	if len(in)-end >= 3 && strings.EqualFold(in[end:end+3], "inf") {
		return end + 3
	}
	return at
}

// quoteEnd returns the position after the quote that ends the quoted text which begins at a position; 0 if none does.
// The caller must not call it again for the same kind of quote after 0: that keeps the scan linear.
func quoteEnd(in string, at int) int {
	for i := at + 1; i < len(in); i++ {
		switch in[i] {
		case '\\':
			i++
		case in[at]:
			return i + 1
		}
	}
	return 0
}

func comparison(in string) string {
	for _, op := range []string{"==", "!=", ">=", "<=", ">", "<"} {
		if strings.HasPrefix(in, op) {
			return op
		}
	}
	return ""
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isPunct(c byte) bool { return c > ' ' && c < 0x7f && !isAlnum(c) }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// unescape removes the backslashes that keep punctuation and spaces.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (isPunct(s[i+1]) || isSpace(s[i+1])) {
			i++
		}
		out = append(out, s[i])
	}
	return string(out)
}
