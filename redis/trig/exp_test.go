package trig

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestPow compares powers with square roots and exact products.
func TestPow(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	for range 10_000 {
		x := math.Exp(draw.NormFloat64() * 100)
		if got := Pow(x, 0.5); got != math.Sqrt(x) {
			t.Errorf("%v ^ 0.5 is %v, want %v", x, got, math.Sqrt(x))
		}
		x, n := draw.Float64()*20-10, 3+draw.IntN(20)
		if n%2 == 0 { // about half the results then lie in the middle of two floats
			x, n = float64(131072+2*draw.IntN(16384)+1), 3
		}
		exact := exactly(1)
		for range n {
			exact.SetPrec(2000).Mul(exact, exactly(x))
		}
		if got, want := Pow(x, float64(n)), rounded(exact); got != want {
			t.Errorf("%v ^ %v is %v, want %v", x, n, got, want)
		}
	}
	for _, c := range [][3]float64{
		{2, -1074, math.SmallestNonzeroFloat64}, {2, -1075, 0}, {-2, 3, -8}, {10, 308, 1e308}, {10, -320, 1e-320}, {10, 309, math.Inf(1)},
		{0, -1, math.Inf(1)}, {0, 5, 0}, {5, 0, 1}, {1, math.Inf(1), 1}, {-1, math.Inf(1), 1}, {0.5, math.Inf(1), 0}, {math.Inf(-1), 3, math.Inf(-1)}, {1 + 0x1p-52, 1, 1 + 0x1p-52},
	} {
		if got := Pow(c[0], c[1]); got != c[2] {
			t.Errorf("%v ^ %v is %v, want %v", c[0], c[1], got, c[2])
		}
	}
	if !math.IsNaN(Pow(-8, 1.0/3)) || !math.IsNaN(Pow(math.NaN(), 1)) {
		t.Error("a power that is not a number")
	}
}

// TestExpAndLog holds exponentials and logarithms against the sum of the series.
func TestExpAndLog(t *testing.T) {
	exactExp := func(x *big.Float) *big.Float {
		term, all := exactly(1), exactly(1)
		for i := 1; term.Sign() != 0 && term.MantExp(nil) > -300; i++ {
			term.Mul(term, x).Quo(term, exactly(float64(i)))
			all.Add(all, term)
		}
		return all
	}
	draw := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		x := draw.NormFloat64() * 10
		if got, want := Exp(x), rounded(exactExp(exactly(x))); got != want {
			t.Errorf("e ^ %v is %v, want %v", x, got, want)
		}
		x = math.Exp(draw.NormFloat64() * math.Exp(-10*draw.Float64()))
		y := Log(x)
		middle := func(to float64) *big.Float {
			m := new(big.Float).SetPrec(bits).Add(exactly(y), exactly(math.Nextafter(y, to)))
			return exactExp(m.Quo(m, exactly(2)))
		}
		if x != 1 && (middle(-1e9).Cmp(exactly(x)) >= 0 || middle(1e9).Cmp(exactly(x)) <= 0) {
			t.Errorf("the logarithm of %v is %v", x, y)
		}
	}
	inf := math.Inf(1)
	for _, c := range [][2]float64{
		{Exp(1), math.E}, {Exp(-745), 5e-324}, {Exp(-800), 0}, {Exp(-inf), 0}, {Exp(inf), inf}, {Exp(709.9), inf}, {Log(1), 0}, {Log(2), math.Ln2}, {Log(10), math.Ln10}, {Log(0), -inf}, {Log(inf), inf},
		{Log10(1000), 3}, {Log10(1e-5), -5}, {Log10(0), -inf}, {Acos(-1), math.Pi}, {Acos(1), 0}, {Atan(1), math.Pi / 4}, {Atan(-inf), -math.Pi / 2}, {Atan2(1, -1), 3 * math.Pi / 4}, {Atan2(1e-320, 1), 1e-320}, {Atan2(1e300, 1e-300), math.Pi / 2},
		{Sinh(1), 1.1752011936438014}, {Cosh(1), 1.5430806348152437}, {Tanh(1), 0.7615941559557649}, {Sinh(-711), -inf}, {Cosh(711), inf}, {Tanh(-30), -1}, {Sinh(0), 0}, {Tan(1), 1.5574077246549023},
	} {
		if c[0] != c[1] {
			t.Errorf("got %v, want %v", c[0], c[1])
		}
	}
	for _, f := range []func(float64) float64{Exp, Log, Log10, Sinh, Cosh, Tanh, Tan, Acos, Atan} {
		if !math.IsNaN(f(math.NaN())) {
			t.Error("NaN has a value")
		}
	}
}
