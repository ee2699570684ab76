package script

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/lua"
)

type jsonReader struct {
	s   *lua.State
	set *jsonSettings
	src string
	pos int

	kind  string // kind of the token in errors
	begin int
	value lua.Value
}

func (set *jsonSettings) jsonDecode(s *lua.State, args []lua.Value) []lua.Value {
	if len(args) != 1 {
		s.BadArgument(1, "expected 1 argument")
	}
	r := &jsonReader{s: s, set: set, src: s.CheckString(args, 1)}
	if len(r.src) >= 2 && (r.src[0] == 0 || r.src[1] == 0) {
		s.Throw("JSON parser does not support UTF-16 or UTF-32")
	}
	r.src, _, _ = strings.Cut(r.src, "\x00") // where the parser of Redis, which is C, ends
	defer s.Built(len(s.Roots))
	r.next()
	v := r.parse(0)
	r.next()
	if r.kind != "T_END" {
		r.failExpected("the end")
	}
	return s.One(v)
}

func (r *jsonReader) failExpected(what string) {
	r.s.Throw("Expected " + what + " but found " + r.kind + " at character " + strconv.Itoa(r.begin+1))
}

func (r *jsonReader) parse(depth int) lua.Value {
	switch r.kind {
	case "T_STRING", "T_NUMBER", "T_BOOLEAN", "T_NULL":
		return r.value
	case "T_OBJ_BEGIN":
		return r.object(depth + 1)
	case "T_ARR_BEGIN":
		return r.array(depth + 1)
	}
	r.failExpected("value")
	return lua.Nil
}

func (r *jsonReader) checkDepth(depth int) {
	if depth > min(r.set.decodeDepth, maxJSONDepth) {
		r.s.Throw("Found too many nested data structures (" + strconv.Itoa(depth) + ") at character " + strconv.Itoa(r.pos))
	}
}

func (r *jsonReader) object(depth int) lua.Value {
	r.checkDepth(depth)
	t := r.s.Table(0, 0)
	defer r.s.Built(len(r.s.Roots) - 1)
	r.next()
	if r.kind == "T_OBJ_END" {
		return lua.Of(t)
	}
	for {
		if r.kind != "T_STRING" {
			r.failExpected("object key string")
		}
		key := r.value
		if r.next(); r.kind != "T_COLON" {
			r.failExpected("colon")
		}
		r.next()
		r.s.Set(t, key, r.parse(depth))
		switch r.next(); r.kind {
		case "T_OBJ_END":
			return lua.Of(t)
		case "T_COMMA":
			r.next()
		default:
			r.failExpected("comma or object end")
		}
	}
}

func (r *jsonReader) array(depth int) lua.Value {
	r.checkDepth(depth)
	t := r.s.Table(0, 0)
	defer r.s.Built(len(r.s.Roots) - 1)
	r.next()
	if r.kind == "T_ARR_END" {
		return lua.Of(t)
	}
	for i := 1; ; i++ {
		r.s.Set(t, lua.Number(float64(i)), r.parse(depth))
		switch r.next(); r.kind {
		case "T_ARR_END":
			return lua.Of(t)
		case "T_COMMA":
			r.next()
		default:
			r.failExpected("comma or array end")
		}
	}
}

var jsonPunctuation = map[byte]string{
	'{': "T_OBJ_BEGIN", '}': "T_OBJ_END", '[': "T_ARR_BEGIN", ']': "T_ARR_END", ',': "T_COMMA", ':': "T_COLON",
}

// next reads the next token.
func (r *jsonReader) next() {
	for r.pos < len(r.src) && strings.IndexByte(" \t\n\r", r.src[r.pos]) >= 0 {
		r.pos++
	}
	r.begin = r.pos
	if r.pos >= len(r.src) {
		r.kind = "T_END"
		return
	}
	c := r.src[r.pos]
	if kind, ok := jsonPunctuation[c]; ok {
		r.kind = kind
		r.pos++
		return
	}
	rest := r.src[r.pos:]
	word := func(text, kind string, v lua.Value) bool {
		if strings.HasPrefix(rest, text) {
			r.kind, r.value, r.pos = kind, v, r.pos+len(text)
			return true
		}
		return false
	}
	switch {
	case c == '"':
		r.string()
	case c == '-' || c >= '0' && c <= '9':
		if !r.set.decodeInvalid && invalidNumber(rest) {
			r.kind = "invalid number"
			return
		}
		r.number()
	case word("true", "T_BOOLEAN", lua.True), word("false", "T_BOOLEAN", lua.False), word("null", "T_NULL", null):
	case r.set.decodeInvalid && invalidNumber(rest):
		r.number()
	default:
		r.kind = "invalid token"
	}
}

// invalidNumber reports whether a number is not valid JSON: hexadecimal, with a leading plus or leading zeros,
// an infinity, or NaN.
func invalidNumber(s string) bool {
	if strings.HasPrefix(s, "+") {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if s == "" {
		return false
	}
	if s[0] == '0' && len(s) > 1 {
		return s[1]|0x20 == 'x' || s[1] >= '0' && s[1] <= '9'
	}
	if s[0] >= '0' && s[0] <= '9' {
		return false
	}
	lower := strings.ToLower(s[:min(3, len(s))])
	return lower == "inf" || lower == "nan"
}

func (r *jsonReader) number() {
	n, rest, ok := lua.ScanNumber(r.src[r.pos:])
	if !ok {
		r.kind = "invalid number"
		return
	}
	r.pos = len(r.src) - len(rest)
	r.kind, r.value = "T_NUMBER", lua.Number(n)
}

func (r *jsonReader) string() {
	b := r.s.Buffer()
	defer b.Close()
	i := r.pos + 1
	for {
		if i >= len(r.src) {
			r.kind, r.begin = "unexpected end of string", i
			return
		}
		c := r.src[i]
		switch {
		case c == '"':
			r.kind, r.value, r.pos = "T_STRING", b.Value(), i+1
			return
		case c != '\\':
			n := strings.IndexAny(r.src[i:], `"\`)
			if n < 0 {
				n = len(r.src) - i
			}
			b.String(r.src[i : i+n])
			i += n
			continue
		}
		e := byte(0)
		if i+1 < len(r.src) {
			e = r.src[i+1]
		}
		if e == 'u' {
			code, n := jsonUnicode(r.src[i:])
			if n == 0 {
				r.kind, r.begin = "invalid unicode escape code", i
				return
			}
			b.Bytes(utf8.AppendRune(b.Scratch[:0], code))
			i += n
			continue
		}
		k := strings.IndexByte("btnfr\"\\/", e)
		if k < 0 || e == 0 {
			r.kind, r.begin = "invalid escape code", i
			return
		}
		b.Byte("\b\t\n\f\r\"\\/"[k])
		i += 2
	}
}

// jsonUnicode parses one escape, or the two of a surrogate pair. n is 0 for an invalid one.
func jsonUnicode(s string) (code rune, n int) {
	four := func(s string) (rune, bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		v, err := strconv.ParseUint(s[2:6], 16, 16)
		return rune(v), err == nil
	}
	code, ok := four(s)
	switch {
	case !ok || code >= 0xDC00 && code <= 0xDFFF:
		return 0, 0
	case code >= 0xD800 && code <= 0xDBFF:
		low, ok := four(s[6:])
		if !ok || low < 0xDC00 || low > 0xDFFF {
			return 0, 0
		}
		return (code-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12
	}
	return code, 6
}
