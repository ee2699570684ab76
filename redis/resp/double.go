package resp

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"sync"
)

// FormatDouble formats f as a reply of Redis 8.0: a whole number up to 2^62 in full, any other
// number with the fewest digits that Grisu2 finds, or "inf", "-inf" or "nan".
func FormatDouble(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	case f == 0 && math.Signbit(f):
		return "-0"
	case math.Abs(f) <= 1<<62 && f == math.Trunc(f):
		return strconv.FormatInt(int64(f), 10)
	}
	return FormatShortest(f)
}

// FormatShortest formats f with the fewest digits that Grisu2 finds. f is finite and not 0.
func FormatShortest(f float64) string {
	digits, exponent := grisu(math.Abs(f))
	text := formatDigits(digits, exponent)
	if f < 0 {
		return "-" + text
	}
	return text
}

// formatDigits formats digits times ten to the power of exponent, in exponent notation if the number
// is long otherwise.
func formatDigits(digits string, exponent int) string {
	n := len(digits)
	first := exponent + n - 1 // exponent of the first digit
	switch distance := max(first, -first); {
	case exponent >= 0 && distance < n+7:
		return digits + strings.Repeat("0", exponent)
	case exponent < 0 && (exponent > -7 || distance < 4):
		if n+exponent > 0 {
			return digits[:n+exponent] + "." + digits[n+exponent:]
		}
		return "0." + strings.Repeat("0", -exponent-n) + digits
	}
	text := digits[:1]
	if n > 1 {
		text += "." + digits[1:]
	}
	if first > 0 {
		return text + "e+" + strconv.Itoa(first)
	}
	return text + "e" + strconv.Itoa(first)
}

// Grisu2 is Florian Loitsch's algorithm from “Printing floating-point numbers quickly and
// accurately with integers” (2010). Redis prints doubles with it, so the digits must match:
// one number in 600 differs from strconv's, with more digits than needed or not the nearest.

// extended is fraction times two to the power of exponent.
type extended struct {
	fraction uint64
	exponent int
}

func (x extended) times(y extended) extended {
	high, low := bits.Mul64(x.fraction, y.fraction)
	return extended{high + low>>63, x.exponent + y.exponent + 64}
}

// normal returns x with the highest bit of the fraction set.
func (x extended) normal() extended {
	shift := bits.LeadingZeros64(x.fraction)
	return extended{x.fraction << shift, x.exponent - shift}
}

// grisu returns digits and a power of ten for f, which must be positive. f is the double
// nearest to their product.
func grisu(f float64) (digits string, exponent int) {
	const mantissa = 52
	pattern := math.Float64bits(f)
	x := extended{pattern & (1<<mantissa - 1), int(pattern >> mantissa)}
	if x.exponent != 0 {
		x.fraction += 1 << mantissa
		x.exponent--
	}
	x.exponent -= 1022 + mantissa

	// The midpoints to the neighbours. Below a power of two, the lower neighbour is nearer.
	high := extended{x.fraction<<1 + 1, x.exponent - 1}.normal()
	low := extended{x.fraction<<1 - 1, x.exponent - 1}
	if x.fraction == 1<<mantissa {
		low = extended{x.fraction<<2 - 1, x.exponent - 2}
	}
	low.fraction <<= low.exponent - high.exponent
	low.exponent = high.exponent

	power, ten := powerFor(high.exponent)
	x, high, low = x.normal().times(power), high.times(power), low.times(power)
	high.fraction--
	low.fraction++
	return generate(x, high, low, -ten)
}

// generate produces digits of high until their value exceeds low, then moves the last digit as
// near to x as possible. The numbers share one exponent, from -60 to -32.
func generate(x, high, low extended, exponent int) (string, int) {
	var digits []byte
	point := -high.exponent // bits after the point
	whole, rest := high.fraction>>point, high.fraction&(1<<point-1)
	delta, distance := high.fraction-low.fraction, high.fraction-x.fraction

	// nearer lowers the last digit, whose weight is unit, while that moves the rest of high nearer
	// to x.
	nearer := func(left, unit, distance, delta uint64) {
		for left < distance && delta-left >= unit && (left+unit < distance || distance-left > left+unit-distance) {
			digits[len(digits)-1]--
			left += unit
		}
	}
	emit := func(digit uint64) {
		if digit > 0 || len(digits) > 0 {
			digits = append(digits, '0'+byte(digit))
		}
	}
	for place, unit := 9, uint64(1_000_000_000); place >= 0; place, unit = place-1, unit/10 {
		emit(whole / unit)
		whole %= unit
		if left := whole<<point + rest; left <= delta {
			nearer(left, unit<<point, distance, delta)
			return string(digits), exponent + place
		}
	}
	for {
		rest, delta, distance = rest*10, delta*10, distance*10
		exponent--
		emit(rest >> point)
		rest &= 1<<point - 1
		if rest < delta {
			nearer(rest, 1<<point, distance, delta)
			return string(digits), exponent
		}
	}
}

const (
	leastPower = -348 // of the powers of ten in the table
	powerStep  = 8
)

// powers holds 10^-348, 10^-340, … 10^340, rounded to 64 bits.
var powers = sync.OnceValue(func() []extended {
	var all []extended
	for e := leastPower; e <= 340; e += powerStep {
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil)
		f := new(big.Float).SetPrec(64)
		if e < 0 {
			f.Quo(big.NewFloat(1), new(big.Float).SetInt(ten))
		} else {
			f.SetInt(ten)
		}
		fraction, _ := new(big.Float).SetMantExp(f, 64-f.MantExp(nil)).Uint64()
		all = append(all, extended{fraction, f.MantExp(nil) - 64})
	}
	return all
})

// powerFor returns a power of ten, and its exponent, that scales a fraction to an exponent
// from -60 to -32. Several may qualify, and the digits depend on the choice.
func powerFor(exponent int) (power extended, ten int) {
	const log2 = 0.30102999566398114 // of base ten
	all := powers()
	i := (int(float64(-(exponent+len(all)))*log2) - leastPower) / powerStep
	for {
		switch at := exponent + all[i].exponent + 64; {
		case at < -60:
			i++
		case at > -32:
			i--
		default:
			return all[i], leastPower + i*powerStep
		}
	}
}
