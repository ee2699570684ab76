package fuzz

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestLuaDigits compares the digits of the functions of numbers. The C library rounds most results
// correctly, and another one of some thousand to the second nearest float.
func TestLuaDigits(t *testing.T) {
	s := newLuaSides(t, false)
	if s.theirs.Version().Before("8.0") {
		t.Skip("scripts are compared with Redis 8.0")
	}
	for _, f := range []string{"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "log10", "sinh", "cosh", "tanh", "pow"} {
		const n, mostOther = 2000, 40
		draw := rand.New(rand.NewPCG(1, 2))
		var calls strings.Builder
		for range n {
			x := []float64{float64(draw.IntN(201) - 100), draw.NormFloat64() * 10, draw.Float64()*2 - 1, math.Exp(draw.NormFloat64() * 100)}[draw.IntN(4)]
			fmt.Fprintf(&calls, "%.17g %.17g ", x, draw.NormFloat64()*20)
		}
		script := "local out, f = {}, math." + f + " for x, y in ARGV[1]:gmatch('(%S+) (%S+)') do out[#out+1] = string.format('%.17g', f(x, y)) end return out"
		call := words("EVAL", script, "0", calls.String())
		got, _ := s.ours(call)
		want := s.theirs.Do(call...)
		other := 0
		for i, e := range want.Elems {
			if len(got.Elems) != n || string(got.Elems[i].Str) == string(e.Str) {
				continue
			}
			other++
			a, _ := strconv.ParseFloat(string(got.Elems[i].Str), 64)
			b, _ := strconv.ParseFloat(string(e.Str), 64)
			if apart := math.Abs(a - b); !(apart <= 4e-16*math.Abs(b)*2) {
				t.Errorf("%s: call %d is %s, and %s in Redis", f, i, got.Elems[i].Str, e.Str)
			}
		}
		t.Logf("%s: %d of %d differ", f, other, len(want.Elems))
		if len(want.Elems) != n || len(got.Elems) != n || other > mostOther {
			t.Errorf("%s: %d of %d results differ, %.200q", f, other, n, got.Str)
		}
	}
}
