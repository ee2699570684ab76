package resp

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends v as one JSON value, like redis-cli's --json, but always valid. An error
// is {"error":…}, bytes that are not UTF-8 are {"base64":…}, and "inf", "-inf" and "nan" are
// strings. A map is an object; a key that is not a string becomes a string with its JSON, so
// bytes become "{\"base64\":\"…\"}". Text that looks the same is encoded as bytes, too:
// distinct keys stay distinct.
func AppendJSON(out []byte, v Value) []byte {
	switch v.Kind {
	case Null, NullArray:
		return append(out, "null"...)
	case Error:
		out = appendJSONString(append(out, `{"error":`...), v.Str)
		return append(out, '}')
	case Int:
		return strconv.AppendInt(out, v.Int, 10)
	case Double:
		return appendJSONDouble(out, v)
	case Bool:
		return strconv.AppendBool(out, v.Int != 0)
	case BigNumber:
		if isJSONInteger(v.Str) {
			return append(out, v.Str...)
		}
		return appendJSONString(out, v.Str)
	case Map, PairMap:
		return appendJSONObject(out, v.Elems)
	case Scored:
		return AppendJSON(out, pairArray(v.Elems))
	case Array, Set, Push:
		out = append(out, '[')
		for i, e := range v.Elems {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendJSON(out, e)
		}
		return append(out, ']')
	}
	if !utf8.Valid(v.Str) {
		return appendJSONBytes(out, v.Str)
	}
	return appendJSONString(out, v.Str)
}

// bytesPrefix begins the JSON of bytes that are not text.
const bytesPrefix = `{"base64":"`

func appendJSONBytes(out, b []byte) []byte {
	return append(AppendBase64(append(out, bytesPrefix...), b), `"}`...)
}

// AppendBase64 appends b in base64, without quotes.
func AppendBase64(out, b []byte) []byte { return base64.StdEncoding.AppendEncode(out, b) }

func appendJSONKey(out []byte, key Value) []byte {
	text := AppendJSON(nil, key)
	switch {
	case text[0] != '"':
		return appendJSONString(out, text)
	case bytes.HasPrefix(key.Str, []byte(bytesPrefix)):
		return appendJSONString(out, appendJSONBytes(nil, key.Str))
	}
	return append(out, text...)
}

func appendJSONObject(out []byte, elems []Value) []byte {
	out = append(out, '{')
	for i := 0; i+1 < len(elems); i += 2 {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendJSONKey(out, elems[i]), ':')
		out = AppendJSON(out, elems[i+1])
	}
	return append(out, '}')
}

func appendJSONDouble(out []byte, v Value) []byte {
	text := v.doubleText()
	switch {
	case math.IsInf(v.Float, 0) || math.IsNaN(v.Float):
		return appendJSONString(out, []byte(FormatDouble(v.Float)))
	case !IsJSONNumber(text): // a server may format a number differently
		return append(out, FormatDouble(v.Float)...)
	}
	return append(out, text...)
}

// IsJSONNumber reports whether text is a number of JSON.
func IsJSONNumber(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("-"))
	whole := digits(text)
	if whole == 0 || whole > 1 && text[0] == '0' {
		return false
	}
	text = text[whole:]
	if len(text) > 0 && text[0] == '.' {
		n := digits(text[1:])
		if n == 0 {
			return false
		}
		text = text[1+n:]
	}
	if len(text) > 0 && text[0]|0x20 == 'e' {
		text = text[1:]
		if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		n := digits(text)
		return n > 0 && n == len(text)
	}
	return len(text) == 0
}

// digits counts the digits that text begins with.
func digits(text []byte) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

func isJSONInteger(digits []byte) bool {
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(digits) == 1 || len(digits) > 1 && digits[0] != '0'
}

// appendJSONString quotes s.
func appendJSONString(out, s []byte) []byte {
	return append(AppendJSONText(append(out, '"'), s), '"')
}

// AppendJSONText appends s as the inside of a JSON string, with the fewest escapes that JSON
// allows. Bytes that are not UTF-8 become U+FFFD.
func AppendJSONText(out, s []byte) []byte {
	const digits = "0123456789abcdef"
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		switch c := s[i]; {
		case r == utf8.RuneError && n == 1:
			out = utf8.AppendRune(out, utf8.RuneError)
		case n > 1 && Visible(r):
			out = append(out, s[i:i+n]...)
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c == '\f':
			out = append(out, `\f`...)
		case c == '\b':
			out = append(out, `\b`...)
		case c != 0x7f && !Visible(r):
			out = append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
		default:
			out = append(out, c)
		}
		i += n
	}
	return out
}
