package trig

import "math"

// pair is an unrounded sum of two floats: low is at most half a unit in the last place of
// high. It has twice the digits of a float.
type pair struct{ high, low float64 }

func (a pair) rounded() float64 { return a.high + a.low }
func (a pair) minus() pair      { return pair{-a.high, -a.low} }

// sum returns a + b, exactly.
func sum(a, b float64) pair {
	high := a + b
	rest := high - a
	return pair{high, (a - (high - rest)) + (b - rest)}
}

// product returns a * b, exactly.
func product(a, b float64) pair {
	high := a * b
	return pair{high, math.FMA(a, b, -high)}
}

// plus returns a + b. If they nearly cancel, the last bits are lost.
func (a pair) plus(b pair) pair {
	s := sum(a.high, b.high)
	return sum(s.high, s.low+(a.low+b.low))
}

func (a pair) times(b pair) pair {
	p := product(a.high, b.high)
	return sum(p.high, p.low+math.FMA(a.high, b.low, float64(a.low*b.high)))
}

// quotient returns a / b.
func quotient(a, b float64) pair {
	high := a / b
	return pair{high, math.FMA(-high, b, a) / b}
}

// over returns a / b.
func (a pair) over(b pair) pair {
	q := a.high / b.high
	rest := a.plus(b.times(pair{high: -q}))
	return sum(q, rest.high/b.high)
}

// root returns the square root of a, which is not 0.
func root(a float64) pair {
	high := math.Sqrt(a)
	return pair{high, math.FMA(-high, high, a) / (2 * high)}
}
