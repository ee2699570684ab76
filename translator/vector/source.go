package vector

import (
	"encoding/binary"
	"math"
)

// Record builds a record; see Encode.
func Record(length, scale float32, components []byte) []byte {
	out := make([]byte, Head, Head+len(components))
	binary.LittleEndian.PutUint32(out, math.Float32bits(length))
	binary.LittleEndian.PutUint32(out[4:], math.Float32bits(scale))
	return append(out, components...)
}

// Source returns a vector that Encode turns into the record, except for the last bits of its floats. Decode's result is
// not enough: a quantised vector does not have length one, so its record would have another length and range.
func (k Kind) Source(record []byte, dim int) []float32 {
	length, b := float64(Length(record)), Components(record)
	switch {
	case k == F32:
		return k.Decode(record, dim)
	case k == Bin:
		v := k.Decode(record, dim)
		for i := range v {
			v[i] *= float32(length / math.Sqrt(float64(dim)))
		}
		return v
	case Range(record) == 0:
		return make([]float32, dim)
	}
	unit := float64(Range(record)) / 127 // of a step
	// One greatest component keeps its value. Others may have been rounded up to it.
	shift := shiftToUnit(b, 1/unit, 1)
	if shift > 0 {
		shift = shiftToUnit(b, 1/unit, dim)
	}
	v, stay := make([]float32, dim), true
	for i, c := range b {
		n := float64(int8(c))
		switch {
		case math.Abs(n) == 127 && (stay || shift > 0):
			stay = false
		case n < 0:
			n -= shift
		default:
			n += shift
		}
		v[i] = float32(n * unit * length)
	}
	return v
}

// shiftToUnit returns the distance to move components away from 0, less than half a step, so that the vector becomes
// steps long. Up to stay of the components of 127 are not moved.
func shiftToUnit(components []byte, steps float64, stay int) float64 {
	var n, sum, squares float64
	for _, c := range components {
		f := math.Abs(float64(int8(c)))
		squares += f * f
		if f == 127 && stay > 0 {
			stay--
			continue
		}
		n++
		sum += f
	}
	if n == 0 {
		return 0
	}
	inner := sum*sum - n*(squares-steps*steps)
	shift := (-sum + math.Sqrt(max(0, inner))) / n
	const most = 0.5 - 1e-5 // just below half a step, so that rounding does not make it a whole step
	return max(-most, min(most, shift))
}

// Unproject returns the shortest vector of dim components that Project reduces to v, or as near to v as possible.
func Unproject(v []float32, dim int) []float32 {
	// This is the method of conjugate gradients on the normal equations.
	x, p := make([]float64, dim), make([]float64, dim)
	r := make([]float64, len(v)) // the remaining difference
	for i, f := range v {
		r[i] = float64(f)
	}
	s := hadamard(r, dim)
	copy(p, s)
	norm := dot(s, s)
	for limit := norm * 1e-24; norm > limit && norm > 0; {
		q := hadamard(p, len(v))
		step := norm / dot(q, q)
		for i := range x {
			x[i] += step * p[i]
		}
		for i := range r {
			r[i] -= step * q[i]
		}
		s = hadamard(r, dim)
		before := norm
		if norm = dot(s, s); norm >= before {
			break
		}
		for i := range p {
			p[i] = s[i] + norm/before*p[i]
		}
	}
	out := make([]float32, dim)
	scale := 1 / float64(Weight(dim))
	for i, f := range x {
		out[i] = float32(f * scale)
	}
	return out
}

// hadamard multiplies by the signs of Project's matrix, which is symmetric.
func hadamard(v []float64, dim int) []float64 {
	out := make([]float64, dim)
	for i := range out {
		for j, f := range v {
			if odd(i, j) {
				f = -f
			}
			out[i] += f
		}
	}
	return out
}

func dot(a, b []float64) (sum float64) {
	for i, f := range a {
		sum += f * b[i]
	}
	return sum
}
