package lua

import (
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/trig"
)

// FormatNumber formats a number as Lua does: 14 digits, without trailing zeros.
func FormatNumber(n float64) string {
	if i := int64(n); float64(i) == n && i > -1e14 && i < 1e14 && (i != 0 || !math.Signbit(n)) {
		return strconv.FormatInt(i, 10)
	}
	return string(appendG(nil, n, 14))
}

// appendG formats as C's %.*g.
func appendG(b []byte, n float64, precision int) []byte {
	if s := special(n); s != "" {
		return append(b, s...)
	}
	return strconv.AppendFloat(b, n, 'g', max(precision, 1), 64)
}

// special returns C's text for an infinity or a NaN, and "" for a finite number.
func special(n float64) string {
	s := ""
	switch {
	case math.IsNaN(n):
		s = "nan"
	case math.IsInf(n, 0):
		s = "inf"
	default:
		return ""
	}
	if math.Signbit(n) {
		s = "-" + s
	}
	return s
}

// invalid is the NaN of an invalid operation, which prints as "-nan".
var invalid = math.Float64frombits(0xFFF8000000000000)

// checked returns the result r of an operation on a and b. If the operation created a NaN, it becomes the same
// NaN on every machine.
func checked(r, a, b float64) float64 {
	if r != r {
		switch {
		case a != a:
			return a
		case b != b:
			return b
		}
		return invalid
	}
	return r
}

// angle returns atan2 of y and x, which is x if both are NaN.
func angle(y, x float64) float64 { return checked(trig.Atan2(y, x), x, y) }

func remainder(a, b float64) float64 { return checked(math.Mod(a, b), a, b) }

// modulo returns a % b, with the sign of b.
func modulo(a, b float64) float64 { return checked(a-math.Floor(a/b)*b, a, b) }

func power(a, b float64) float64 {
	if b == 2 {
		return a * a
	}
	if a != a && math.Abs(math.Mod(b, 2)) == 1 {
		a = math.Copysign(a, 1) // as glibc does for an odd exponent
	}
	return checked(trig.Pow(a, b), a, b)
}

const spaces = " \t\n\v\f\r"

// ParseNumber parses a number as Lua does: decimal or hexadecimal, with spaces around it. It stops at a zero
// byte.
func ParseNumber(s string) (float64, bool) {
	if len(s) > 0 && len(s) < 16 && s[0] >= '0' && s[0] <= '9' && (len(s) == 1 || s[1]|0x20 != 'x') {
		n, i := int64(0), 0
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			n = n*10 + int64(s[i]-'0')
		}
		if i == len(s) {
			return float64(n), true
		}
	}
	s = strings.TrimLeft(cut(s), spaces)
	n, rest, ok := ScanNumber(s)
	if !ok || strings.Trim(rest, spaces) != "" {
		return 0, false
	}
	return n, true
}

// ScanNumber works like C's strtod: it parses the longest number at the start of s.
func ScanNumber(s string) (n float64, rest string, ok bool) {
	body := strings.TrimPrefix(s, "-")
	negative := len(body) < len(s)
	if !negative {
		body = strings.TrimPrefix(s, "+")
	}
	lower := strings.ToLower(body[:min(len(body), 8)])
	switch {
	case strings.HasPrefix(lower, "infinity"):
		n, rest = math.Inf(1), body[8:]
	case strings.HasPrefix(lower, "inf"):
		n, rest = math.Inf(1), body[3:]
	case strings.HasPrefix(lower, "nan"):
		n, rest = math.Float64frombits(0x7FF8000000000000), body[3:]
	default:
		end, literal := numeral(body)
		if end == 0 {
			return 0, s, false
		}
		n, _ = strconv.ParseFloat(literal, 64)
		rest = body[end:]
	}
	if negative {
		n = math.Copysign(n, -1)
	}
	return n, rest, true
}

// skip returns the index of the first byte of s from i on that is not in class.
func skip(s string, i int, class func(byte) bool) int {
	for i < len(s) && class(s[i]) {
		i++
	}
	return i
}

// numeral returns the length of an unsigned number, and its text for ParseFloat.
func numeral(s string) (end int, literal string) {
	digit, exponent := isDigit, byte('e')
	i := 0
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && (isHex(s[2]) || s[2] == '.' && len(s) > 3 && isHex(s[3])) {
		digit, exponent, i = isHex, 'p', 2
	}
	begin := i
	i = skip(s, i, digit)
	digits := i - begin
	if i < len(s) && s[i] == '.' {
		end = skip(s, i+1, digit)
		digits += end - (i + 1)
		i = end
	}
	if digits == 0 {
		return 0, ""
	}
	end = i
	if i < len(s) && s[i]|0x20 == exponent {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if after := skip(s, i, isDigit); after > i {
			return after, s[:after]
		}
	}
	literal = s[:end]
	if begin == 2 {
		literal += "p0"
	}
	return end, literal
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isPunct(c byte) bool { return c > ' ' && c < 0x7f && !isAlpha(c) && !isDigit(c) }
