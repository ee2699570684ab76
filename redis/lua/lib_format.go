package lua

import (
	"math"
	"strconv"
	"strings"
)

// verb is one conversion of string.format.
type verb struct {
	minus, plus, space, sharp, zero bool
	width, precision                int // precision is -1 if it is missing
	c                               byte
}

func stringFormat(s *State, args []Value) []Value {
	format := s.CheckString(args, 1)
	b := s.Buffer()
	defer b.Close()
	arg := 1
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.Byte(format[i])
			continue
		}
		if i++; i < len(format) && format[i] == '%' {
			b.Byte('%')
			continue
		}
		if arg++; arg > len(args) {
			s.BadArgument(arg, "no value")
		}
		v, n := s.verb(format[i:])
		i += n
		s.convert(b, v, args, arg)
	}
	return s.One(b.Value())
}

// verb parses a conversion, and returns its length up to the final character.
func (s *State) verb(f string) (v verb, n int) {
	at := func() byte {
		if n < len(f) {
			return f[n]
		}
		return 0
	}
	for ; n < len(f) && strings.IndexByte("-+ #0", f[n]) >= 0; n++ {
		switch f[n] {
		case '-':
			v.minus = true
		case '+':
			v.plus = true
		case ' ':
			v.space = true
		case '#':
			v.sharp = true
		case '0':
			v.zero = true
		}
	}
	if n >= 6 {
		s.Throw("invalid format (repeated flags)")
	}
	two := func() (d int) {
		for k := 0; k < 2 && isDigit(at()); k++ {
			d = d*10 + int(at()-'0')
			n++
		}
		return d
	}
	v.width, v.precision = two(), -1
	if at() == '.' {
		n++
		v.precision = two()
	}
	if isDigit(at()) {
		s.Throw("invalid format (width or precision too long)")
	}
	v.c = at()
	return v, n
}

func (s *State) convert(b *Buffer, v verb, args []Value, n int) {
	switch v.c {
	case 'c':
		c := byte(Int32(s.CheckNumber(args, n)))
		b.String(cut(v.pad(string([]byte{c}))))
	case 'd', 'i':
		i := Integer(s.CheckNumber(args, n))
		digits := strconv.FormatUint(magnitude(i), 10)
		b.String(v.integer(digits, v.sign(i < 0)))
	case 'o', 'u', 'x', 'X':
		b.String(v.unsigned(Unsigned(s.CheckNumber(args, n))))
	case 'e', 'E', 'f', 'g', 'G':
		b.String(v.float(s.CheckNumber(args, n)))
	case 'q':
		quote(b, s.CheckString(args, n))
	case 's':
		text := s.CheckString(args, n)
		if v.precision < 0 && len(text) >= 100 {
			b.String(text)
			return
		}
		text = cut(text)
		if v.precision >= 0 && len(text) > v.precision {
			text = text[:v.precision]
		}
		b.String(v.pad(text))
	default:
		letter := ""
		if v.c != 0 {
			letter = string([]byte{v.c})
		}
		s.Throw("invalid option '%" + letter + "' to 'format'")
	}
}

func magnitude(i int) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

func (v *verb) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case v.plus:
		return "+"
	case v.space:
		return " "
	}
	return ""
}

func (v *verb) pad(s string) string {
	fill := strings.Repeat(" ", max(v.width-len(s), 0))
	if v.minus {
		return s + fill
	}
	return fill + s
}

// integer pads digits with zeros up to the precision or, with the flag 0, up to the width.
func (v *verb) integer(digits, sign string) string {
	if v.precision == 0 && digits == "0" {
		digits = ""
	}
	least := v.precision
	if v.precision < 0 && v.zero && !v.minus {
		least = v.width - len(sign)
	}
	return v.pad(sign + strings.Repeat("0", max(least-len(digits), 0)) + digits)
}

func (v *verb) unsigned(n uint64) string {
	base, prefix := 10, ""
	switch v.c {
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
		if v.sharp && n != 0 {
			prefix = "0x"
		}
	}
	digits := strconv.FormatUint(n, base)
	if v.c == 'o' && v.sharp && digits[0] != '0' {
		digits = "0" + digits
	}
	s := v.integer(digits, prefix)
	if v.c == 'X' {
		s = strings.ToUpper(s)
	}
	return s
}

func (v *verb) float(n float64) string {
	sign := v.sign(math.Signbit(n))
	digits := special(math.Abs(n))
	finite := digits == ""
	if finite {
		precision := v.precision
		if precision < 0 {
			precision = 6
		}
		digits = v.digits(math.Abs(n), precision)
	}
	if v.c == 'E' || v.c == 'G' {
		digits = strings.ToUpper(digits)
	}
	if v.zero && !v.minus && finite {
		digits = strings.Repeat("0", max(v.width-len(sign)-len(digits), 0)) + digits
	}
	return v.pad(sign + digits)
}

func (v *verb) digits(n float64, precision int) string {
	switch v.c {
	case 'f':
		s := strconv.FormatFloat(n, 'f', precision, 64)
		if v.sharp && precision == 0 {
			s += "."
		}
		return s
	case 'e', 'E':
		s := strconv.FormatFloat(n, 'e', precision, 64)
		if v.sharp && precision == 0 {
			s = strings.Replace(s, "e", ".e", 1)
		}
		return s
	}
	precision = max(precision, 1)
	if !v.sharp {
		return strconv.FormatFloat(n, 'g', precision, 64)
	}
	// With "#" the zeros at the end stay.
	e := strconv.FormatFloat(n, 'e', precision-1, 64)
	exponent, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	if exponent < -4 || exponent >= precision {
		if precision == 1 {
			e = strings.Replace(e, "e", ".e", 1)
		}
		return e
	}
	s := strconv.FormatFloat(n, 'f', precision-1-exponent, 64)
	if !strings.Contains(s, ".") {
		s += "."
	}
	return s
}

func quote(b *Buffer, s string) {
	b.Byte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			b.Byte('\\')
			b.Byte(c)
		case '\r':
			b.String(`\r`)
		case 0:
			b.String(`\000`)
		default:
			b.Byte(c)
		}
	}
	b.Byte('"')
}
