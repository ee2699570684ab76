package model

import (
	"encoding/binary"
	"math"
)

// elementBytes maps a vector's type to the bytes of one number.
var elementBytes = map[string]int{"FLOAT32": 4, "FLOAT64": 8, "FLOAT16": 2, "BFLOAT16": 2, "INT8": 1, "UINT8": 1}

// DecodeVector returns the numbers of a vector's little-endian bytes; nil if their number is wrong.
func DecodeVector(vectorType, blob string) []float64 {
	size := elementBytes[vectorType]
	if size == 0 || len(blob)%size != 0 {
		return nil
	}
	out := make([]float64, len(blob)/size)
	for i := range out {
		b := []byte(blob[i*size : (i+1)*size])
		switch vectorType {
		case "FLOAT64":
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case "FLOAT32":
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case "BFLOAT16":
			out[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
		case "FLOAT16":
			out[i] = half(binary.LittleEndian.Uint16(b))
		case "INT8":
			out[i] = float64(int8(b[0]))
		default:
			out[i] = float64(b[0])
		}
	}
	return out
}

// half returns the value of an IEEE half-precision number.
func half(bits uint16) float64 {
	sign, exponent, fraction := 1.0, int(bits>>10&31), float64(bits&1023)
	if bits>>15 == 1 {
		sign = -1
	}
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// Distance returns the distance of two vectors of one length by a metric: L2 is the sum of squares, IP 1 less the inner
// product, and COSINE 1 less the cosine. Smaller is nearer.
func Distance(metric string, a, b []float64) float64 {
	var dot, squares, normA, normB float64
	for i := range a {
		dot += a[i] * b[i]
		squares += (a[i] - b[i]) * (a[i] - b[i])
		normA += a[i] * a[i]
		normB += b[i] * b[i]
	}
	switch metric {
	case "L2":
		return squares
	case "COSINE":
		if normA == 0 || normB == 0 {
			return 1
		}
		return 1 - dot/math.Sqrt(normA*normB)
	}
	return 1 - dot
}
