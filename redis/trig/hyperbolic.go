package trig

import "math"

// The C library computes these functions from correctly rounded ones in several rounded steps,
// and these formulas repeat the steps. So the last digits equal the C library's and may not be
// the nearest.

// Log10 returns the decimal logarithm of x.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log10(x)
	}
	// With x = m·2^k it is k·log10(2) + log(m)/log(10), and m < 1 where k is negative.
	const (
		log2High = 0x1.34413509f6p-2 // its product with an exponent is exact
		log2Low  = math.Ln2/math.Ln10 - log2High
		inverse  = 1 / math.Ln10
	)
	m, k := math.Frexp(x)
	m, k = 2*m, k-1
	if k < 0 {
		m, k = m/2, k+1
	}
	n := float64(k)
	small := float64(n*log2Low) + float64(inverse*Log(m))
	return small + float64(n*log2High)
}

// Sinh returns the hyperbolic sine of x.
func Sinh(x float64) float64 {
	a, half := math.Abs(x), math.Copysign(0.5, x)
	switch {
	case a < 0x1p-28 || a != a || a > 711:
		return math.Sinh(x)
	case a < 1:
		t := math.Expm1(a)
		return half * (2*t - float64(t*t)/(t+1))
	case a < 22:
		t := math.Expm1(a)
		return half * (t + t/(t+1))
	}
	return math.Copysign(halfExp(a), x)
}

// Cosh returns the hyperbolic cosine of x.
func Cosh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a != a || a > 711:
		return math.Cosh(x)
	case a < math.Ln2/2:
		t := math.Expm1(a)
		w := 1 + t
		return 1 + float64(t*t)/(w+w)
	case a < 22:
		t := Exp(a)
		return float64(0.5*t) + 0.5/t
	}
	return halfExp(a)
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 0x1p-55 || a != a:
		return x
	case a >= 22:
		return math.Copysign(1, x)
	case a >= 1:
		return math.Copysign(1-2/(math.Expm1(2*a)+2), x)
	}
	t := math.Expm1(-2 * a)
	return math.Copysign(-t/(t+2), x)
}

// halfExp returns half of e raised to x, which is positive.
func halfExp(x float64) float64 {
	if x < 709 {
		return 0.5 * Exp(x)
	}
	w := Exp(0.5 * x)
	return float64(0.5*w) * w
}
