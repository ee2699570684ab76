package resp

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// AppendTyped appends v in redis-cli's terminal format, without a final newline. With utf8,
// printable non-ASCII text is unescaped; otherwise each of its bytes is \xhh, as in redis-cli.
// A reply cannot send control sequences to the terminal.
func AppendTyped(out []byte, v Value, utf8 bool) []byte { return typed{utf8: utf8}.reply(out, v) }

// typed prints values with their types.
type typed struct {
	utf8   bool
	colour bool // dim the types and indexes, and show errors in red
}

const (
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

// paint appends text in a colour, if colours are on.
func (t typed) paint(out []byte, colour string, text string) []byte {
	if !t.colour {
		return append(out, text...)
	}
	return append(append(append(out, colour...), text...), plain...)
}

// reply appends a whole reply, without a final newline.
func (t typed) reply(out []byte, v Value) []byte {
	return bytes.TrimSuffix(t.append(out, v, ""), []byte("\n"))
}

func (t typed) append(out []byte, v Value, prefix string) []byte {
	switch v.Kind {
	case Null, NullArray:
		out = t.paint(out, dim, "(nil)")
	case Status, Verbatim, BigNumber:
		out = AppendVisible(out, v.Str)
	case Error:
		out = t.paint(out, red, "(error) "+string(AppendVisible(nil, v.Str)))
	case Int:
		out = strconv.AppendInt(append(t.paint(out, dim, "(integer)"), ' '), v.Int, 10)
	case Double:
		out = append(append(t.paint(out, dim, "(double)"), ' '), v.doubleText()...)
	case Bool:
		if v.Int != 0 {
			out = append(out, "(true)"...)
		} else {
			out = append(out, "(false)"...)
		}
	case Bulk:
		out = AppendQuoted(out, v.Str, t.utf8)
	case Scored:
		return t.append(out, pairArray(v.Elems), prefix)
	default:
		return t.aggregate(out, v, prefix)
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

func (t typed) aggregate(out []byte, v Value, prefix string) []byte {
	empty, sep := "(empty array)", ")"
	count := len(v.Elems)
	switch v.Kind {
	case Map:
		empty, sep, count = "(empty hash)", "#", count/2
	case Set:
		empty, sep = "(empty set)", "~"
	case Push:
		empty = "(empty push)"
	}
	if count == 0 {
		return append(t.paint(out, dim, empty), '\n')
	}
	width := len(strconv.Itoa(count))
	child := prefix + string(bytes.Repeat([]byte(" "), width+2))
	for i := range count {
		if i > 0 {
			out = append(out, prefix...)
		}
		out = t.index(out, i, width, sep)
		if v.Kind != Map {
			out = t.append(out, v.Elems[i], child)
			continue
		}
		out = bytes.TrimSuffix(t.append(out, v.Elems[2*i], child), []byte("\n"))
		out = append(t.paint(append(out, ' '), dim, "=>"), ' ')
		value := t.append(nil, v.Elems[2*i+1], child)
		if bytes.IndexByte(value, '\n') < len(value)-1 {
			out = append(append(out, '\n'), child...)
		}
		out = append(out, value...)
	}
	return out
}

// index appends the number of element i, right-aligned.
func (t typed) index(out []byte, i, width int, sep string) []byte {
	index := strconv.Itoa(i + 1)
	out = append(out, bytes.Repeat([]byte(" "), width-len(index))...)
	return append(t.paint(out, dim, index+sep), ' ')
}

// AppendQuoted appends s in double quotes, escaped so that SplitLine reads it
// back.
func AppendQuoted(out, s []byte, asUTF8 bool) []byte {
	return append(AppendQuotedText(append(out, '"'), s, asUTF8), '"')
}

// AppendQuotedText appends s escaped like AppendQuoted, without the quotes.
func AppendQuotedText(out, s []byte, asUTF8 bool) []byte {
	const digits = "0123456789abcdef"
	for i := 0; i < len(s); {
		c := s[i]
		if asUTF8 && c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRune(s[i:]); n > 1 && Visible(r) {
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
	return out
}
