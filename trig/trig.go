// Package trig computes sines, cosines and arc sines that are rounded correctly, where those of package
// math may be the second or third nearest float: between opposite places of the earth that is 20 cm.
// A result has 75 bits before it is rounded to 53, so that one argument in some million may
// still get the second nearest float.
package trig

import "math"

// The parts of π/2, each of which goes on where the one before ends.
const (
	halfPi1 = 0x1.921fb54442d18p+0
	halfPi2 = 0x1.1a62633145c07p-54
	halfPi3 = math.Pi/2 - halfPi1 - halfPi2
)

const (
	// tiny is the argument below which the next term of a series is lost in rounding.
	tiny = 0x1p-27
	// far is the argument above which the parts of π/2 do not suffice. No place on
	// earth has one.
	far = 0x1p20
)

// Sin returns the sine of x radians. That of an x above a million is package math's.
func Sin(x float64) float64 {
	switch a := math.Abs(x); {
	case a < tiny:
		return x
	case a < far:
		return turned(x, 0)
	}
	return math.Sin(x)
}

// Cos returns the cosine of x radians. That of an x above a million is package math's.
func Cos(x float64) float64 {
	if math.Abs(x) < far {
		return turned(x, 1)
	}
	return math.Cos(x)
}

// Asin returns the arc sine of x in radians, NaN when x is not between -1 and 1.
func Asin(x float64) float64 {
	var y float64
	switch a := math.Abs(x); {
	case a < tiny:
		return x
	case a <= 0.5:
		y = arc(pair{high: a}).rounded()
	case a < 1: // by the half angle, as a sine near 1 says little about its angle
		half := arc(root((1 - a) / 2))
		y = pair{halfPi1, halfPi2}.plus(pair{-2 * half.high, -2 * half.low}).rounded()
	case a == 1:
		y = halfPi1
	default:
		return math.NaN()
	}
	return math.Copysign(y, x)
}

// turned is the sine of x and some right angles.
func turned(x float64, right int) float64 {
	n := math.Round(x / halfPi1)
	angle := pair{high: x}
	if n != 0 {
		first, second := product(-n, halfPi1), product(-n, halfPi2)
		a := sum(x+first.high, first.low) // no bit of the sum is lost, as both are about the same
		b := sum(a.high, second.high)
		angle = sum(b.high, a.low+b.low+math.FMA(-n, halfPi3, second.low))
	}
	var s pair
	if right += int(n); right&1 == 0 {
		s = sine(angle)
	} else {
		s = cosine(angle)
	}
	if right&2 != 0 {
		s = s.minus()
	}
	return s.rounded()
}

// The factors of the powers of a square in the series of sine and cosine: 1, -1/3!,
// 1/5!, ... and 1, -1/2!, 1/4!, ...
var (
	sineFactors   = factors(1)
	cosineFactors = factors(0)
)

func factors(first float64) (f [13]pair) {
	factorial, sign := 1.0, 1.0
	for i := range f {
		f[i] = quotient(sign, factorial)
		n := float64(2*i) + first
		factorial, sign = factorial*(n+1)*(n+2), -sign
	}
	return f
}

// sine and cosine are those of an angle between -π/4 and π/4.
func sine(angle pair) pair   { return angle.plus(angle.times(series(angle, &sineFactors))) }
func cosine(angle pair) pair { return pair{high: 1}.plus(series(angle, &cosineFactors)) }

// series is the sum of the powers of the angle's square by their factors, without
// the first, which is 1. Those from the fifth on are so small that a float has bits
// enough.
func series(angle pair, factors *[13]pair) pair {
	square := angle.times(angle)
	s := factors[len(factors)-1].high
	for i := len(factors) - 2; i >= 5; i-- {
		s = math.FMA(s, square.high, factors[i].high)
	}
	all := pair{high: s}
	for i := 4; i >= 1; i-- {
		all = factors[i].plus(square.times(all))
	}
	return square.times(all)
}

// arc is the arc sine of s, at most half: that of package math, and then one step of
// Newton's, which doubles its digits.
func arc(s pair) pair {
	y := math.Asin(s.high)
	missing := s.plus(sine(pair{high: y}).minus())
	return sum(y, missing.rounded()/math.Cos(y))
}
