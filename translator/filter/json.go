package filter

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth limits the nesting of a field's arrays.
const maxDepth = 32

// reader walks through the text of a JSON object. It checks skipped values only enough to find their end.
type reader struct {
	text []byte
}

func (r *reader) skipSpace() { r.text = bytes.TrimLeft(r.text, " \t\r\n") }

// take consumes c if it is the next byte after space.
func (r *reader) take(c byte) bool {
	r.skipSpace()
	if len(r.text) == 0 || r.text[0] != c {
		return false
	}
	r.text = r.text[1:]
	return true
}

// field returns the first field with the name in the JSON object. It supports numbers, strings, booleans as 1 and 0,
// null, and arrays of these.
func field(object, name []byte) (value, bool) {
	r := reader{object}
	if len(name) == 0 || !r.take('{') {
		return value{}, false
	}
	for {
		r.skipSpace()
		key, ok := r.quoted()
		if !ok || !r.take(':') {
			return value{}, false
		}
		r.skipSpace()
		if bytes.Equal(key, name) {
			return r.value(0)
		}
		if !r.skipValue() || !r.take(',') {
			return value{}, false
		}
	}
}

// quoted reads a string and returns the raw bytes between its quotes.
func (r *reader) quoted() ([]byte, bool) {
	if len(r.text) == 0 || r.text[0] != '"' {
		return nil, false
	}
	for i := 1; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '"':
			s := r.text[1:i]
			r.text = r.text[i+1:]
			return s, true
		}
	}
	return nil, false
}

// word reads the letters, digits and signs of a number or of true, false or null.
func (r *reader) word() []byte {
	n := 0
	for n < len(r.text) && (isName(r.text[n]) || r.text[n] == '+' || r.text[n] == '.') {
		n++
	}
	w := r.text[:n]
	r.text = r.text[n:]
	return w
}

// skipValue skips a value.
func (r *reader) skipValue() bool {
	if len(r.text) == 0 {
		return false
	}
	switch r.text[0] {
	case '"':
		_, ok := r.quoted()
		return ok
	case '{', '[':
		return r.skipNested()
	}
	_, ok := literal(r.word())
	return ok
}

// skipNested skips an array or an object of any depth.
func (r *reader) skipNested() bool {
	depth := 0
	for len(r.text) > 0 {
		switch r.text[0] {
		case '"':
			if _, ok := r.quoted(); !ok {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		r.text = r.text[1:]
		if depth == 0 {
			return true
		}
	}
	return false
}

// value reads a value. It fails for an object.
func (r *reader) value(depth int) (value, bool) {
	switch {
	case len(r.text) == 0 || r.text[0] == '{':
		return value{}, false
	case r.text[0] == '"':
		s, ok := r.quoted()
		return value{kind: text, text: unescape(s)}, ok
	case r.text[0] == '[':
		return r.array(depth + 1)
	}
	return literal(r.word())
}

func (r *reader) array(depth int) (value, bool) {
	r.take('[')
	t := value{kind: tuple}
	if depth > maxDepth || r.take(']') {
		return t, depth <= maxDepth
	}
	for {
		r.skipSpace()
		elem, ok := r.value(depth)
		if !ok {
			return t, false
		}
		t.elems = append(t.elems, elem)
		if r.take(']') {
			return t, true
		}
		if !r.take(',') {
			return t, false
		}
	}
}

func literal(word []byte) (value, bool) {
	switch string(word) {
	case "true":
		return truth(true), true
	case "false":
		return truth(false), true
	case "null":
		return value{}, true
	}
	if len(word) == 0 || len(word) > maxNumber || isAlpha(word[0]) || word[0] == '.' {
		return value{}, false
	}
	f, ok := parseNumber(word)
	return value{kind: number, number: f}, ok
}

// unescape resolves the escapes of a JSON string.
func unescape(s []byte) []byte {
	at := bytes.IndexByte(s, '\\')
	if at < 0 {
		return s
	}
	out := append([]byte{}, s[:at]...)
	for s = s[at:]; len(s) > 0; {
		if s[0] != '\\' || len(s) == 1 {
			out, s = append(out, s[0]), s[1:]
			continue
		}
		c := s[1]
		s = s[2:]
		switch c {
		case 'n':
			c = '\n'
		case 't':
			c = '\t'
		case 'r':
			c = '\r'
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'u':
			var r rune
			r, s = codePoint(s)
			out = utf8.AppendRune(out, r)
			continue
		}
		out = append(out, c)
	}
	return out
}

// codePoint reads the four digits after \u, and the second half of a surrogate pair.
func codePoint(s []byte) (rune, []byte) {
	r, ok := hexDigits(s)
	if !ok {
		return utf8.RuneError, s
	}
	s = s[4:]
	if utf16.IsSurrogate(r) && len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
		if low, ok := hexDigits(s[2:]); ok {
			return utf16.DecodeRune(r, low), s[6:]
		}
	}
	return r, s
}

func hexDigits(s []byte) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, c := range s[:4] {
		r <<= 4
		switch {
		case isDigit(c):
			r += rune(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r += rune(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return r, true
}
