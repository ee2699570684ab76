package resp

import "errors"

// ErrUnbalanced is the error for unbalanced quotes, or a closing quote without a space after
// it.
var ErrUnbalanced = errors.New("unbalanced quotes")

// SplitLine splits a line into words as redis-cli and inline commands do. Words are separated
// by spaces; "…" accepts the escapes \n \r \t \b \a \" \\ and \xhh, and '…' only \'. A blank
// line has no words.
func SplitLine(line string) ([][]byte, error) {
	var words [][]byte
	i := 0
	for {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return words, nil
		}
		word, n, err := splitWord(line[i:])
		if err != nil {
			return nil, err
		}
		words = append(words, word)
		i += n
	}
}

func splitWord(s string) (word []byte, n int, err error) {
	word = []byte{}
	for n < len(s) && !endsWord(s[n]) {
		switch s[n] {
		case '"', '\'':
			part, used, err := splitQuoted(s[n:])
			if err != nil {
				return nil, 0, err
			}
			word = append(word, part...)
			n += used
			if n < len(s) && !isSpace(s[n]) {
				return nil, 0, ErrUnbalanced
			}
		case 0:
			return word, len(s), nil
		default:
			word = append(word, s[n])
			n++
		}
	}
	return word, n, nil
}

// splitQuoted parses the quoted string at the start of s.
func splitQuoted(s string) (part []byte, n int, err error) {
	quote := s[0]
	for n = 1; n < len(s); n++ {
		switch {
		case s[n] == quote:
			return part, n + 1, nil
		case s[n] != '\\' || n+1 == len(s):
			part = append(part, s[n])
		case quote == '\'':
			if s[n+1] == '\'' {
				n++
			}
			part = append(part, s[n])
		default:
			var b byte
			b, n = unescape(s, n)
			part = append(part, b)
		}
	}
	return nil, 0, ErrUnbalanced
}

// unescape parses the escape whose backslash is s[n], and returns its byte and its last
// position.
func unescape(s string, n int) (byte, int) {
	if s[n+1] == 'x' && n+3 < len(s) {
		hi, ok1 := hexDigit(s[n+2])
		lo, ok2 := hexDigit(s[n+3])
		if ok1 && ok2 {
			return hi<<4 | lo, n + 3
		}
	}
	n++
	switch s[n] {
	case 'n':
		return '\n', n
	case 'r':
		return '\r', n
	case 't':
		return '\t', n
	case 'b':
		return '\b', n
	case 'a':
		return '\a', n
	}
	return s[n], n
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// endsWord reports whether c ends an unquoted word: only some white space does.
func endsWord(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// isSpace is C's isspace in the C locale.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
