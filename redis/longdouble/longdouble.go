// Package longdouble computes with C's long double of x86, which Redis uses for float
// increments.
package longdouble

import (
	"bytes"
	"math/big"

	"github.com/meowdis/meowdis/redis/commands"
)

// Redis computes INCRBYFLOAT and HINCRBYFLOAT in x86's long double: 64 bits of mantissa, 15 of
// exponent. A big.Float of that precision rounds the same way, but has no limit on the
// exponent.
const (
	Bits        = 64    // of the mantissa: the precision of a big.Float
	MaxExponent = 16384 // every finite value is below 2^this

	// strtold reads at most this many bytes of a Redis argument.
	maxLength = 5*1024 - 1
)

// Half of the least long double: results up to this round to zero.
var halfSmallest = new(big.Float).SetMantExp(big.NewFloat(1), -16446)

// Parse parses a long double as strictly as Redis's string2ld. It accepts all forms of strtold
// (decimal, hexadecimal, infinity), but no surrounding space, no NaN, and no overflow or
// underflow.
func Parse(b []byte) (*big.Float, bool) {
	if len(b) == 0 || len(b) > maxLength {
		return nil, false
	}
	negative := b[0] == '-'
	if negative || b[0] == '+' {
		b = b[1:]
	}
	var f *big.Float
	switch {
	case commands.Is(b, "INF") || commands.Is(b, "INFINITY"):
		f = new(big.Float).SetInf(false)
	case len(b) > 1 && b[0] == '0' && b[1]|0x20 == 'x':
		f = parseDigits(b[2:], 16)
	default:
		f = parseDigits(b, 10)
	}
	if f == nil {
		return nil, false
	}
	if negative {
		f.Neg(f)
	}
	return f, true
}

// parseDigits parses digits, a point and an exponent (a power of ten after "e", or of two
// after "p" in base 16). It returns nil for other text and for values outside the range of a
// long double.
func parseDigits(b []byte, base int) *big.Float {
	digits, rest, scale, ok := splitMantissa(b, base)
	if !ok {
		return nil
	}
	exponent, ok := parseExponent(rest, base)
	if !ok {
		return nil
	}
	mantissa, _ := new(big.Int).SetString(string(digits), base)
	if mantissa.Sign() == 0 {
		return new(big.Float).SetPrec(Bits)
	}
	// Every number below is exact, except for one rounding by Quo or SetInt.
	var f *big.Float
	if base == 16 {
		f = new(big.Float).SetPrec(Bits).SetInt(mantissa)
		f.SetMantExp(f, exponent-4*scale)
	} else {
		f = scaled(mantissa, exponent-scale)
	}
	if f.MantExp(nil) > MaxExponent || f.Cmp(halfSmallest) <= 0 {
		return nil
	}
	return f
}

// scaled returns n times ten to the power of e.
func scaled(n *big.Int, e int) *big.Float {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil)
	f := new(big.Float).SetPrec(Bits)
	if e >= 0 {
		return f.SetInt(power.Mul(power, n))
	}
	return f.Quo(new(big.Float).SetInt(n), new(big.Float).SetInt(power))
}

// splitMantissa splits off the mantissa of b: its digits without the point, the number of
// digits after the point, and the rest. At least one digit is required.
func splitMantissa(b []byte, base int) (digits, rest []byte, scale int, ok bool) {
	point := false
	i := 0
	for ; i < len(b); i++ {
		switch {
		case b[i] == '.' && !point:
			point = true
		case isDigit(b[i], base):
			digits = append(digits, b[i])
			if point {
				scale++
			}
		default:
			return digits, b[i:], scale, len(digits) > 0
		}
	}
	return digits, nil, scale, len(digits) > 0
}

func isDigit(ch byte, base int) bool {
	return '0' <= ch && ch <= '9' || base == 16 && 'a' <= ch|0x20 && ch|0x20 <= 'f'
}

// parseExponent parses "e5" or "p-5"; no exponent means 0. It limits exponents that stay out
// of range for any mantissa of 5119 digits.
func parseExponent(b []byte, base int) (int, bool) {
	const far = 40_000
	if len(b) == 0 {
		return 0, true
	}
	letter := byte('e')
	if base == 16 {
		letter = 'p'
	}
	digits := bytes.TrimLeft(b[1:], "+-")
	if b[0]|0x20 != letter || len(digits) == 0 || len(b)-len(digits) > 2 {
		return 0, false
	}
	n := 0
	for _, ch := range digits {
		if !isDigit(ch, 10) {
			return 0, false
		}
		n = min(n*10+int(ch-'0'), far)
	}
	if b[1] == '-' {
		n = -n
	}
	return n, true
}

// Add returns x+y. ok is false if the sum is not finite.
func Add(x, y *big.Float) (*big.Float, bool) {
	if x.IsInf() || y.IsInf() {
		return nil, false
	}
	sum := new(big.Float).SetPrec(Bits).Add(x, y)
	return sum, sum.MantExp(nil) <= MaxExponent
}

// Format formats a finite f as Redis does for users: 17 digits after the point, without
// trailing zeros or "-0".
func Format(f *big.Float) []byte {
	out := f.Append(nil, 'f', 17)
	out = bytes.TrimRight(out, "0")
	out = bytes.TrimSuffix(out, []byte("."))
	if string(out) == "-0" {
		return out[1:]
	}
	return out
}
