package text

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Token is a term in a text.
type Token struct {
	Term       string // in lower case, unescaped
	Start, End int    // the bytes of the text that it is made of
	Position   int    // counts from 1; stop words have no position
}

// Tokens returns the tokens of a text. isStopWord is asked about terms in lower case, and nil means no stop words.
func Tokens(source string, isStopWord func(term string) bool) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		position := 0
		for at := 0; at < len(source); {
			if isSeparator(source[at]) {
				at++
				continue
			}
			end := tokenEnd(source, at)
			term := normalize(source[at:end])
			if term != "" && (isStopWord == nil || !isStopWord(term)) {
				position++
				if !yield(Token{term, at, end, position}) {
					return
				}
			}
			at = end
		}
	}
}

// tokenEnd returns where the token that begins at a position ends. A backslash keeps the next byte.
func tokenEnd(source string, at int) int {
	for at < len(source) && !isSeparator(source[at]) {
		if source[at] == '\\' && at+1 < len(source) {
			at++
		}
		at++
	}
	return at
}

// isSeparator reports whether a byte separates tokens. Newlines are control characters, which join the words around them.
func isSeparator(c byte) bool { return separators[c] }

var separators = func() (is [256]bool) {
	for _, c := range []byte(" \t,./(){}[]:;~!@#$%^&*-=+|'`\"<>?") {
		is[c] = true
	}
	return is
}()

// normalize returns a token in lower case, without control characters and the backslashes that escape.
func normalize(raw string) string {
	plain := true
	for i := 0; i < len(raw) && plain; i++ {
		c := raw[i]
		plain = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
	}
	if plain {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) {
			i++
		}
		if c := raw[i]; c >= ' ' && c != 0x7f {
			out = append(out, c)
		}
	}
	return Fold(string(out))
}

// Fold returns a text in lower case by Unicode; bytes that are not UTF-8 stay.
func Fold(s string) string {
	if utf8.ValidString(s) {
		return strings.ToLower(s)
	}
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			out = append(out, s[0])
		} else {
			out = append(out, strings.ToLower(s[:n])...)
		}
		s = s[n:]
	}
	return string(out)
}
