package lua

import (
	"math"

	"github.com/meowdis/meowdis/redis/trig"
)

// random implements drand48. Redis uses 31 of its bits.
type random struct{ x uint64 }

func (r *random) seed(n int32) { r.x = uint64(uint32(n))<<16 + 0x330E }

func (r *random) next() int32 {
	r.x = (r.x*0x5DEECE66D + 0xB) & (1<<48 - 1)
	return int32(r.x >> 17)
}

// SeedRandom seeds math.random.
func (s *State) SeedRandom(n int32) { s.random.seed(n) }

func mathOf(f func(float64) float64) GoFunction {
	return func(s *State, args []Value) []Value {
		x := s.CheckNumber(args, 1)
		return s.One(Number(checked(f(x), x, x)))
	}
}

// mathOfPlus does the same as mathOf for functions whose invalid result has no sign in the C library.
func mathOfPlus(f func(float64) float64) GoFunction {
	return func(s *State, args []Value) []Value {
		x := s.CheckNumber(args, 1)
		r := f(x)
		if r != r {
			r = math.Copysign(math.NaN(), x)
			if x == x {
				r = math.NaN()
			}
		}
		return s.One(Number(r))
	}
}

func mathOf2(f func(a, b float64) float64) GoFunction {
	return func(s *State, args []Value) []Value {
		y := s.CheckNumber(args, 2) // first, as in the reference implementation
		x := s.CheckNumber(args, 1)
		return s.One(Number(f(x, y)))
	}
}

func mathPow(s *State, args []Value) []Value {
	y := s.CheckNumber(args, 2) // first, as in the reference implementation
	return s.One(Number(power(s.CheckNumber(args, 1), y)))
}

var mathFunctions = map[string]GoFunction{
	"abs": mathAbs, "acos": mathOfPlus(trig.Acos), "asin": mathOfPlus(trig.Asin), "atan": mathOf(trig.Atan),
	"ceil": mathOf(math.Ceil), "cos": mathOf(trig.Cos), "cosh": mathOf(trig.Cosh), "exp": mathOf(trig.Exp),
	"floor": mathOf(math.Floor), "log": mathOf(trig.Log), "log10": mathOfPlus(trig.Log10), "sin": mathOf(trig.Sin),
	"sinh": mathOf(trig.Sinh), "sqrt": mathOf(math.Sqrt), "tan": mathOf(trig.Tan), "tanh": mathOf(trig.Tanh),
	"deg":   mathOf(func(x float64) float64 { return x / (math.Pi / 180) }),
	"rad":   mathOf(func(x float64) float64 { return x * (math.Pi / 180) }),
	"atan2": mathOf2(angle), "pow": mathPow, "fmod": mathOf2(remainder), "mod": mathOf2(remainder),
	"frexp": mathFrexp, "ldexp": mathLdexp, "modf": mathModf, "max": mathMax, "min": mathMin,
	"random": mathRandom, "randomseed": mathRandomSeed,
}

func mathAbs(s *State, args []Value) []Value {
	return s.One(Number(math.Abs(s.CheckNumber(args, 1))))
}

func mathFrexp(s *State, args []Value) []Value {
	m, e := math.Frexp(s.CheckNumber(args, 1))
	return []Value{Number(m), Number(float64(e))}
}

func mathLdexp(s *State, args []Value) []Value {
	exponent := s.CheckInt(args, 2) // first, as in the reference implementation
	return s.One(Number(math.Ldexp(s.CheckNumber(args, 1), exponent)))
}

func mathModf(s *State, args []Value) []Value {
	x := s.CheckNumber(args, 1)
	if math.IsInf(x, 0) {
		return []Value{Number(x), Number(math.Copysign(0, x))}
	}
	whole := math.Trunc(x)
	return []Value{Number(whole), Number(math.Copysign(x-whole, x))}
}

func mathMax(s *State, args []Value) []Value {
	most := s.CheckNumber(args, 1)
	for i := 2; i <= len(args); i++ {
		if n := s.CheckNumber(args, i); n > most {
			most = n
		}
	}
	return s.One(Number(most))
}

func mathMin(s *State, args []Value) []Value {
	least := s.CheckNumber(args, 1)
	for i := 2; i <= len(args); i++ {
		if n := s.CheckNumber(args, i); n < least {
			least = n
		}
	}
	return s.One(Number(least))
}

func mathRandom(s *State, args []Value) []Value {
	r := float64(s.random.next()%math.MaxInt32) / math.MaxInt32
	low, high := 1, 0
	switch len(args) {
	case 0:
		return s.One(Number(r))
	case 1:
		if high = s.CheckInt(args, 1); high < 1 {
			s.BadArgument(1, "interval is empty")
		}
	case 2:
		low, high = s.CheckInt(args, 1), s.CheckInt(args, 2)
		if low > high {
			s.BadArgument(2, "interval is empty")
		}
	default:
		s.Throw("wrong number of arguments")
	}
	return s.One(Number(math.Floor(r*float64(high-low+1)) + float64(low)))
}

func mathRandomSeed(s *State, args []Value) []Value {
	s.random.seed(int32(s.CheckInt(args, 1)))
	return nil
}
