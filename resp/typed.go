package resp

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// AppendTyped appends v as redis-cli prints it on a terminal, without a newline
// at the end. With utf8 printable UTF-8 is shown as it is; without, every byte
// beyond ASCII is \xhh, as in redis-cli.
func AppendTyped(out []byte, v Value, utf8 bool) []byte {
	return bytes.TrimSuffix(appendTyped(out, v, "", utf8), []byte("\n"))
}

func appendTyped(out []byte, v Value, prefix string, utf8 bool) []byte {
	switch v.Kind {
	case Null, NullArray:
		out = append(out, "(nil)"...)
	case Status, Verbatim:
		out = append(out, v.Str...)
	case Error:
		out = append(append(out, "(error) "...), v.Str...)
	case Int:
		out = strconv.AppendInt(append(out, "(integer) "...), v.Int, 10)
	case Double:
		out = append(append(out, "(double) "...), v.doubleText()...)
	case Bool:
		if v.Int != 0 {
			out = append(out, "(true)"...)
		} else {
			out = append(out, "(false)"...)
		}
	case BigNumber:
		out = append(out, v.Str...)
	case Bulk:
		out = AppendQuoted(out, v.Str, utf8)
	case Scored:
		return appendTyped(out, pairArray(v.Elems), prefix, utf8)
	default:
		return appendAggregate(out, v, prefix, utf8)
	}
	return append(out, '\n')
}

func pairArray(elems []Value) Value {
	a := Value{Kind: Array}
	for i := 0; i+1 < len(elems); i += 2 {
		a.Elems = append(a.Elems, MakeArray(elems[i], elems[i+1]))
	}
	return a
}

func appendAggregate(out []byte, v Value, prefix string, utf8 bool) []byte {
	empty, sep := "(empty array)\n", ") "
	count := len(v.Elems)
	switch v.Kind {
	case Map:
		empty, sep, count = "(empty hash)\n", "# ", count/2
	case Set:
		empty, sep = "(empty set)\n", "~ "
	case Push:
		empty = "(empty push)\n"
	}
	if count == 0 {
		return append(out, empty...)
	}
	width := len(strconv.Itoa(count))
	child := prefix + string(bytes.Repeat([]byte(" "), width+2))
	for i := range count {
		if i > 0 {
			out = append(out, prefix...)
		}
		index := strconv.Itoa(i + 1)
		out = append(out, bytes.Repeat([]byte(" "), width-len(index))...)
		out = append(append(out, index...), sep...)
		if v.Kind != Map {
			out = appendTyped(out, v.Elems[i], child, utf8)
			continue
		}
		out = bytes.TrimSuffix(appendTyped(out, v.Elems[2*i], child, utf8), []byte("\n"))
		out = append(out, " => "...)
		value := appendTyped(nil, v.Elems[2*i+1], child, utf8)
		if bytes.IndexByte(value, '\n') < len(value)-1 {
			out = append(append(out, '\n'), child...)
		}
		out = append(out, value...)
	}
	return out
}

// AppendQuoted appends s in double quotes, escaped so that SplitLine reads it
// back.
func AppendQuoted(out, s []byte, asUTF8 bool) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if asUTF8 && c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRune(s[i:]); n > 1 && strconv.IsPrint(r) {
				out = append(out, s[i:i+n]...)
				i += n
				continue
			}
		}
		i++
		switch c {
		case '\\', '"':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		case '\a':
			out = append(out, '\\', 'a')
		case '\b':
			out = append(out, '\\', 'b')
		default:
			if c < ' ' || c > '~' {
				out = append(out, '\\', 'x', digits[c>>4], digits[c&15])
			} else {
				out = append(out, c)
			}
		}
	}
	return append(out, '"')
}
