package trig

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const bits = 400

// exactSine is the sine of x, whose absolute value is at most 100, to more than 200 bits.
func exactSine(x *big.Float) *big.Float {
	square := new(big.Float).SetPrec(bits).Mul(x, x)
	term := new(big.Float).SetPrec(bits).Set(x)
	all := new(big.Float).SetPrec(bits).Set(x)
	for i := int64(2); term.Sign() != 0 && term.MantExp(nil) > -300; i += 2 {
		term.Mul(term, square).Quo(term, big.NewFloat(float64(i*(i+1)))).Neg(term)
		all.Add(all, term)
	}
	return all
}

func exactly(f float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(f) }

// exactCosine is 1 - 2 sin²(x/2).
func exactCosine(x *big.Float) *big.Float {
	s := exactSine(new(big.Float).SetPrec(bits).Quo(x, exactly(2)))
	s.Mul(s, s).Mul(s, exactly(2))
	return s.Sub(exactly(1), s)
}

func rounded(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// isArcSine reports whether y is the float nearest to the arc sine of x.
func isArcSine(y, x float64) bool {
	middle := func(other float64) *big.Float {
		m := new(big.Float).SetPrec(bits).Add(exactly(y), exactly(math.Nextafter(y, other)))
		return exactSine(m.Quo(m, exactly(2)))
	}
	return y > math.Pi/2-1e-8 && x == 1 || middle(-10).Cmp(exactly(x)) < 0 && middle(10).Cmp(exactly(x)) > 0
}

// hardSines, hardCosines and hardArcs have results that lie within 0.00001 units of the last
// place from the middle of two floats: the more digits are computed wrong, the sooner
// they are rounded to the other one.
var (
	hardSines   = []float64{0x1.1652606c64b87p+1, 0x1.ee1b9d0c90183p+0, 0x1.073715f7d0c78p+0}
	hardCosines = []float64{0x1.6ff241cbbec3dp-1, 0x1.8beb40357e652p-3, 0x1.354976563c244p-1, 0x1.99e33b0a19941p-2}
	hardArcs    = []float64{0x1.1454cd57bf6fcp-3, 0x1.4479664c34716p-1, 0x1.45f2ece27138ap-2, 0x1.9a0f805d5da28p-2}
)

// arguments are angles of every size, and next to the multiples of a quarter of π.
func arguments(draw *rand.Rand) []float64 {
	args := []float64{0, 0x1p-27, 0x1.fffp-28, 1e-300, math.SmallestNonzeroFloat64}
	for i := 1.0; i < 16; i++ {
		at := i * math.Pi / 4
		args = append(args, at, math.Nextafter(at, 0), math.Nextafter(at, 100), at+1e-9, at-1e-5)
	}
	args = append(append(args, hardSines...), hardCosines...)
	for range 10_000 {
		args = append(args, draw.Float64()*7, math.Exp(-30*draw.Float64()))
	}
	return args
}

func TestSineAndCosine(t *testing.T) {
	for _, x := range arguments(rand.New(rand.NewPCG(1, 2))) {
		if got, want := Sin(x), rounded(exactSine(exactly(x))); got != want || Sin(-x) != -want {
			t.Errorf("the sine of %v is %v and of its opposite %v, want %v", x, got, Sin(-x), want)
		}
		if got, want := Cos(x), rounded(exactCosine(exactly(x))); got != want || Cos(-x) != want {
			t.Errorf("the cosine of %v is %v and of its opposite %v, want %v", x, got, Cos(-x), want)
		}
	}
}

func TestArcSine(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	args := []float64{0x1p-27, 0x1.fffp-28, 0.5, math.Nextafter(0.5, 1), math.Nextafter(1, 0), 1}
	args = append(args, hardArcs...)
	for range 10_000 {
		small := math.Exp(-40 * draw.Float64())
		args = append(args, draw.Float64(), small, 1-small)
	}
	for _, x := range args {
		if got := Asin(x); !isArcSine(got, x) || Asin(-x) != -got {
			t.Errorf("the arc sine of %v is %v, and of its opposite %v", x, got, Asin(-x))
		}
	}
}

func TestEdges(t *testing.T) {
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	for _, x := range []float64{nan, inf, -inf} {
		if !math.IsNaN(Sin(x)) || !math.IsNaN(Cos(x)) || !math.IsNaN(Asin(x)) {
			t.Errorf("%v: %v %v %v", x, Sin(x), Cos(x), Asin(x))
		}
	}
	if !math.IsNaN(Asin(math.Nextafter(1, 2))) {
		t.Error("more than 1 has an arc sine")
	}
	if !math.Signbit(Sin(zero)) || !math.Signbit(Asin(zero)) {
		t.Error("the sign of -0 is lost")
	}
	if Sin(1e22) != -0.8522008497671888 || Sin(-1e22) != 0.8522008497671888 || Cos(1e22) != 0.523214785395139 || Tan(1e22) != -1.6287782256068988 {
		t.Errorf("a far angle: %v %v %v", Sin(1e22), Cos(1e22), Tan(1e22))
	}
}

func BenchmarkSin(b *testing.B) {
	for b.Loop() {
		Sin(1.1)
	}
}

func BenchmarkAsin(b *testing.B) {
	for b.Loop() {
		Asin(0.7)
	}
}
