package hyperloglog

import (
	"fmt"
	"math"
	"strings"
)

// Operations lists the operations of a sparse HyperLogLog: "z" and "Z" for runs of zeros, "v"
// for a value and its run.
func (h Sketch) Operations() string {
	terminated := append(h[:len(h):len(h)], 0) // completes a truncated operation
	var b strings.Builder
	for at := headerSize; at < len(h); {
		value, run, size := terminated.sparseOp(at)
		switch {
		case value > 0:
			fmt.Fprintf(&b, "v:%d,%d ", value, run)
		case size == 2:
			fmt.Fprintf(&b, "Z:%d ", run)
		default:
			fmt.Fprintf(&b, "z:%d ", run)
		}
		at += size
	}
	return strings.TrimSuffix(b.String(), " ")
}

// selfTestBytes limits sparse sketches in SelfTest to Redis's default size.
const selfTestBytes = 3000

// SelfTest runs the checks of PFSELFTEST with random numbers. bad describes the first failure.
func SelfTest(random func() uint64) (bad string) {
	if bad := testRegisters(random); bad != "" {
		return bad
	}
	return testEstimates(random)
}

// testRegisters raises random registers, and checks every register in each encoding.
func testRegisters(random func() uint64) (bad string) {
	sparse, dense := New(), New()
	if err := dense.ToDense(); err != nil {
		return err.Error()
	}
	var want Union
	for range 2 * Registers {
		x := random()
		index, rank := int(x%Registers), byte(x>>32&63)
		want[index] = max(want[index], rank)
		for _, h := range []*Sketch{&sparse, &dense} {
			if _, err := h.Raise(index, rank, selfTestBytes); err != nil {
				return err.Error()
			}
		}
	}
	for _, h := range []Sketch{sparse, dense} {
		var got Union
		if err := got.Merge(h); err != nil {
			return err.Error()
		}
		for i := range want {
			if got[i] != want[i] {
				return fmt.Sprintf("Register %d should be %d but is %d", i, want[i], got[i])
			}
		}
	}
	return ""
}

// testEstimates counts few to many elements, and checks that estimates are within six standard
// errors.
func testEstimates(random func() uint64) (bad string) {
	const most = 100_000
	h := New()
	for n, next := 1, 1; n <= most; n++ {
		if _, err := h.Add(fmt.Appendf(nil, "%d:%d", n, random()), selfTestBytes); err != nil {
			return err.Error()
		}
		if n < next {
			continue
		}
		next *= 10
		var all Union
		if err := all.Merge(h); err != nil {
			return err.Error()
		}
		got, allowed := all.Count(), math.Ceil(6*1.04/math.Sqrt(Registers)*float64(n))
		if math.Abs(float64(got)-float64(n)) > allowed {
			return fmt.Sprintf("Too big error. card:%d estimate:%d", n, got)
		}
	}
	return ""
}
