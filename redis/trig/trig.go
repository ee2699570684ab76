// Package trig computes correctly rounded sines, powers, logarithms and related functions.
// Package math may return the second or third nearest float: between opposite points of the
// earth, that is 20 cm. Results have 75 bits before rounding to 53, so about one argument in a
// million may still get the second nearest float.
package trig

import (
	"math"
	"math/big"
	"sync"
)

// The parts of π/2; each part continues the digits of the previous one.
const (
	halfPi1 = 0x1.921fb54442d18p+0
	halfPi2 = 0x1.1a62633145c07p-54
	halfPi3 = math.Pi/2 - halfPi1 - halfPi2
)

const (
	// Below tiny, the next term of a series is lost in rounding.
	tiny = 0x1p-27
	// Above far, the parts of π/2 are not precise enough. No position on earth needs such an
	// argument.
	far = 0x1p20
)

// Sin returns the sine of x radians.
func Sin(x float64) float64 {
	switch a := math.Abs(x); {
	case a < tiny:
		return x
	case a <= math.MaxFloat64:
		return shiftedSin(x, 0)
	}
	return math.NaN()
}

// Cos returns the cosine of x radians.
func Cos(x float64) float64 {
	if math.Abs(x) <= math.MaxFloat64 {
		return shiftedSin(x, 1)
	}
	return math.NaN()
}

// Tan returns the tangent of x radians.
func Tan(x float64) float64 {
	switch a := math.Abs(x); {
	case a < tiny:
		return x
	case a <= math.MaxFloat64:
		angle, n := reduced(x)
		return shiftedSinPair(angle, n).over(shiftedSinPair(angle, n+1)).rounded()
	}
	return math.NaN()
}

// Acos returns the arc cosine of x in radians, NaN when x is not between -1 and 1.
func Acos(x float64) float64 {
	quarter := pair{halfPi1, halfPi2}
	double := func(p pair) pair { return pair{2 * p.high, 2 * p.low} }
	switch a := math.Abs(x); {
	case a == 0:
		return halfPi1
	case a <= 0.5:
		return quarter.plus(arc(pair{high: x}).minus()).rounded()
	case a < 1 && x > 0:
		return double(arc(root((1 - x) / 2))).rounded()
	case a < 1:
		return double(quarter.plus(arc(root((1 + x) / 2)).minus())).rounded()
	case x == 1:
		return 0
	case x == -1:
		return 2 * halfPi1
	}
	return math.NaN()
}

// Atan returns the arc tangent of x in radians.
func Atan(x float64) float64 {
	if math.Abs(x) < tiny {
		return x
	}
	return Atan2(x, 1)
}

// Atan2 returns the angle of the point (x, y) in radians.
func Atan2(y, x float64) float64 {
	angle := math.Atan2(y, x)
	if x == 0 || y == 0 || math.IsNaN(angle) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return angle
	}
	// Scaling the larger to about 1 avoids overflow and underflow of the products. If the smaller
	// is then below 2^-900, package math's angle is the quotient.
	_, e := math.Frexp(max(math.Abs(x), math.Abs(y)))
	x, y = math.Ldexp(x, -e), math.Ldexp(y, -e)
	if min(math.Abs(x), math.Abs(y)) < 0x1p-900 {
		return angle
	}
	rest, n := reduced(angle)
	s, c := shiftedSinPair(rest, n), shiftedSinPair(rest, n+1)
	across := c.times(pair{high: y}).plus(s.times(pair{high: x}).minus())
	return angle + across.rounded()/(c.high*x+s.high*y)
}

// Asin returns the arc sine of x in radians, NaN when x is not between -1 and 1.
func Asin(x float64) float64 {
	var y float64
	switch a := math.Abs(x); {
	case a < tiny:
		return x
	case a <= 0.5:
		y = arc(pair{high: a}).rounded()
	case a < 1: // by the half angle: a sine near 1 determines its angle poorly
		half := arc(root((1 - a) / 2))
		y = pair{halfPi1, halfPi2}.plus(pair{-2 * half.high, -2 * half.low}).rounded()
	case a == 1:
		y = halfPi1
	default:
		return math.NaN()
	}
	return math.Copysign(y, x)
}

// shiftedSin returns the sine of x plus right times π/2.
func shiftedSin(x float64, right int) float64 {
	angle, n := reduced(x)
	return shiftedSinPair(angle, right+n).rounded()
}

// reduced returns x minus n right angles, an angle between -π/4 and π/4.
func reduced(x float64) (angle pair, n int) {
	if math.Abs(x) >= far {
		return reducedFar(x)
	}
	whole := math.Round(x / halfPi1)
	if whole == 0 {
		return pair{high: x}, 0
	}
	first, second := product(-whole, halfPi1), product(-whole, halfPi2)
	a := sum(x+first.high, first.low) // exact, since both have about the same size
	b := sum(a.high, second.high)
	return sum(b.high, a.low+b.low+math.FMA(-whole, halfPi3, second.low)), int(whole)
}

// reducedFar is reduced for x above far.
func reducedFar(x float64) (angle pair, n int) {
	const bits = 1300 // of the largest float, and 200 after the point
	quarter := longHalfPi()
	exact := func(f float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(f) }
	turns, _ := new(big.Float).SetPrec(bits).Add(new(big.Float).SetPrec(bits).Quo(exact(math.Abs(x)), quarter), exact(0.5)).Int(nil)
	rest := exact(math.Abs(x))
	rest.Sub(rest, new(big.Float).SetPrec(bits).Mul(new(big.Float).SetPrec(bits).SetInt(turns), quarter))
	high, _ := rest.Float64()
	low, _ := rest.Sub(rest, exact(high)).Float64()
	n = int(turns.And(turns, big.NewInt(3)).Int64())
	if x < 0 {
		return pair{-high, -low}, -n
	}
	return pair{high, low}, n
}

// longHalfPi returns π/2 with 1300 bits, by Machin's formula: π/4 is 4 arctan(1/5) - arctan(1/239).
var longHalfPi = sync.OnceValue(func() *big.Float {
	const bits = 1400
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	arctan := func(n int64) *big.Int {
		term, all := new(big.Int).Quo(one, big.NewInt(n)), new(big.Int)
		for i := int64(1); term.Sign() != 0; i += 2 {
			all.Add(all, new(big.Int).Quo(term, big.NewInt(i)))
			term.Quo(term, big.NewInt(-n*n))
		}
		return all
	}
	pi := arctan(5)
	pi.Mul(pi, big.NewInt(4)).Sub(pi, arctan(239))
	half := new(big.Float).SetPrec(bits).SetInt(pi.Lsh(pi, 1))
	return half.SetMantExp(half, -bits)
})

// shiftedSinPair returns the sine of angle plus right times π/2.
func shiftedSinPair(angle pair, right int) pair {
	var s pair
	if right&1 == 0 {
		s = sine(angle)
	} else {
		s = cosine(angle)
	}
	if right&2 != 0 {
		s = s.minus()
	}
	return s
}

// The coefficients of the squares in the series of sine and cosine: 1, -1/3!, 1/5!, ... and 1,
// -1/2!, 1/4!, ...
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

// sine and cosine take an angle between -π/4 and π/4.
func sine(angle pair) pair   { return angle.plus(angle.times(series(angle, &sineFactors))) }
func cosine(angle pair) pair { return pair{high: 1}.plus(series(angle, &cosineFactors)) }

// series sums the powers of the angle's square times their factors, without the first factor,
// which is 1. Terms from the fifth on are small enough for a single float.
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

// arc returns the arc sine of s <= 1/2: package math's result, refined by one Newton step that
// doubles its digits.
func arc(s pair) pair {
	y := math.Asin(s.high)
	missing := s.plus(sine(pair{high: y}).minus())
	return sum(y, missing.rounded()/math.Cos(y))
}
