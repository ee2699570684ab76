package trig

import "math"

// The parts of the logarithm of 2. The first has 42 bits, so its product with an exponent is exact.
const (
	ln2a = 0x1.62e42fefa38p-1
	ln2b = 0x1.ef35793c7673p-45
	ln2c = math.Ln2 - ln2a - ln2b
)

// Exp returns e raised to x.
func Exp(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x > 710:
		return math.Inf(1)
	case x < -750:
		return 0
	}
	return exponential(pair{high: x})
}

// exponential returns e raised to x, which is between -750 and 710.
func exponential(x pair) float64 {
	k := math.Round(x.high / math.Ln2)
	rest := x
	if k != 0 {
		rest = sum(x.high-k*ln2a, x.low).plus(product(-k, ln2b)).plus(pair{high: -k * ln2c})
	}
	e := pair{high: 1}.plus(expMinus1(rest))
	// The lower bits are unknown. Clearing them keeps a power of a whole number that lies halfway
	// between two floats there, so it rounds to even.
	e.low = e.low + 0x1.8p-33 - 0x1.8p-33
	return scaled(e, int(k))
}

// scaled returns p * 2^k, for a p between a half and 2.
func scaled(p pair, k int) float64 {
	if k >= -1020 {
		return math.Ldexp(p.rounded(), k)
	}
	// The result may be subnormal: one addition rounds to the bits that it has.
	unit := math.Ldexp(1, -1022-k)
	s := sum(unit, p.high)
	return math.Ldexp(s.high+(s.low+p.low)-unit, k)
}

// expMinus1 returns e raised to x less 1, for an x between -0.5 and 0.5.
func expMinus1(x pair) pair {
	const halvings = 5
	x.high, x.low = math.Ldexp(x.high, -halvings), math.Ldexp(x.low, -halvings)
	all := expFactors[len(expFactors)-1]
	for i := len(expFactors) - 2; i >= 0; i-- {
		all = expFactors[i].plus(x.times(all))
	}
	all = x.times(all)
	for range halvings { // (1+a)² - 1 is 2a + a²
		all = pair{2 * all.high, 2 * all.low}.plus(all.times(all))
	}
	return all
}

// expFactors are 1/1!, 1/2!, 1/3!, ...
var expFactors = func() (f [13]pair) {
	factorial := 1.0
	for i := range f {
		factorial *= float64(i + 1)
		f[i] = quotient(1, factorial)
	}
	return f
}()

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	return logarithm(x).rounded()
}

// logarithm returns the natural logarithm of x, which is positive and finite.
func logarithm(x float64) pair {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	// One Newton step doubles the digits of package math's logarithm.
	y := math.Log(m)
	d := pair{high: m - 1}
	e := expMinus1(pair{high: -y})
	l := d.plus(e).plus(d.times(e))
	all := sum(y, l.high)
	all = sum(all.high, all.low+l.low)
	if k != 0 {
		n := float64(k)
		all = sum(n*ln2a, 0).plus(product(n, ln2b).plus(pair{high: n * ln2c})).plus(all)
	}
	return all
}

// Pow returns x raised to y.
func Pow(x, y float64) float64 {
	p := math.Pow(x, y)
	if x == 0 || y == 0 || math.IsNaN(p) || math.Abs(x) == 1 || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return p
	}
	a := logarithm(math.Abs(x))
	if rough := a.high * y; rough > 710 || rough < -750 {
		return p
	}
	e := product(a.high, y)
	e = sum(e.high, e.low+a.low*y)
	return math.Copysign(exponential(e), p)
}
