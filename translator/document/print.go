package document

import (
	"slices"
	"strconv"
	"strings"
)

// Format holds the separators of printed JSON. The zero Format is compact.
type Format struct {
	Indent  string // at the start of a line, once per level
	Newline string // at the end of a line
	Space   string // after the colon
}

// Append appends v in compact form.
func (v *Value) Append(out []byte) []byte { return Format{}.Append(out, v) }

// Append appends v.
func (f Format) Append(out []byte, v *Value) []byte {
	return f.append(slices.Grow(out, v.texts()), v, 0)
}

// Size returns the number of bytes that Append adds for v. If it exceeds most, the result is some number above most.
func (f Format) Size(v *Value, most int64) int64 { return f.size(v, 0, most) }

func (f Format) size(v *Value, level, most int64) int64 {
	const scalar = 24 // longer than any number
	switch v.Kind {
	case String:
		return int64(printedSize(v.Str))
	case Array, Object:
	default:
		return scalar
	}
	inner := int64(len(f.Newline)) + (level+1)*int64(len(f.Indent))
	n := 2 + inner
	for i, e := range v.Elems {
		n += 1 + inner + f.size(e, level+1, most-n)
		if v.Kind == Object {
			n += int64(printedSize(v.Keys[i])+1) + int64(len(f.Space))
		}
		if n > most {
			return n
		}
	}
	return n
}

// texts returns the number of bytes of long strings in v, so that Append can allocate them at once.
func (v *Value) texts() (n int) {
	const long = 1 << 10
	if v.Kind == String && len(v.Str) >= long {
		return printedSize(v.Str) + long
	}
	for i, e := range v.Elems {
		if v.Kind == Object && len(v.Keys[i]) >= long {
			n += printedSize(v.Keys[i]) + long
		}
		n += e.texts()
	}
	return n
}

// printedSize returns the number of bytes that appendString adds for s.
func printedSize(s string) int {
	n := len(s) + len(`""`)
	for i := range len(s) {
		switch c := s[i]; {
		case c >= ' ' && c != '"' && c != '\\':
		case strings.IndexByte("\"\\\b\f\n\r\t", c) >= 0:
			n++
		default:
			n += len(`u0000`)
		}
	}
	return n
}

func (f Format) append(out []byte, v *Value, level int) []byte {
	switch v.Kind {
	case Null:
		return append(out, "null"...)
	case Bool:
		return strconv.AppendBool(out, v.Bool)
	case Int:
		return strconv.AppendInt(out, v.Int, 10)
	case Uint:
		return strconv.AppendUint(out, v.Uint, 10)
	case Float:
		return appendFloat(out, v.Float)
	case String:
		return appendString(out, v.Str)
	}
	brackets := "[]"
	if v.Kind == Object {
		brackets = "{}"
	}
	out = append(out, brackets[0])
	for i, e := range v.Elems {
		if i > 0 {
			out = append(out, ',')
		}
		out = f.line(out, level+1)
		if v.Kind == Object {
			out = append(appendString(out, v.Keys[i]), ':')
			out = append(out, f.Space...)
		}
		out = f.append(out, e, level+1)
	}
	if len(v.Elems) > 0 {
		out = f.line(out, level)
	}
	return append(out, brackets[1])
}

// line begins a line at the level.
func (f Format) line(out []byte, level int) []byte {
	out = append(out, f.Newline...)
	if f.Indent != "" {
		for range level {
			out = append(out, f.Indent...)
		}
	}
	return out
}

// appendFloat appends the shortest digits that parse back to f. It always includes a point or an exponent, so that a
// double stays a double: 2.0, 0.00001, 1e16, 1.5e300.
func appendFloat(out []byte, f float64) []byte {
	text := strconv.FormatFloat(f, 'e', -1, 64)
	if text[0] == '-' {
		out, text = append(out, '-'), text[1:]
	}
	mantissa, exp, _ := strings.Cut(text, "e")
	exponent, _ := strconv.Atoi(exp)
	digits := strings.Replace(mantissa, ".", "", 1)
	switch point := exponent + 1; { // digits before the point
	case digits == "0":
		return append(out, "0.0"...)
	case len(digits) <= point && point <= 16:
		out = append(out, digits...)
		out = append(out, strings.Repeat("0", point-len(digits))...)
		return append(out, ".0"...)
	case 0 < point && point <= 16:
		out = append(out, digits[:point]...)
		return append(append(out, '.'), digits[point:]...)
	case -5 < point && point <= 0:
		out = append(out, "0."...)
		out = append(out, strings.Repeat("0", -point)...)
		return append(out, digits...)
	}
	out = append(append(out, mantissa...), 'e')
	return strconv.AppendInt(out, int64(exponent), 10)
}

// appendString appends a JSON string and escapes as little as possible.
func appendString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= ' ' && s[i] != '"' && s[i] != '\\' {
			continue
		}
		out = append(out, s[from:i]...)
		from = i + 1
		if at := strings.IndexByte("\"\\\b\f\n\r\t", s[i]); at >= 0 {
			out = append(out, '\\', `"\bfnrt`[at])
		} else {
			out = append(out, '\\', 'u', '0', '0', hex[s[i]>>4], hex[s[i]&15])
		}
	}
	return append(append(out, s[from:]...), '"')
}
