package document

import "math"

// Operation computes with two numbers. False means that there is no finite
// result. Two signed integers give an integer, anything else a double.
type Operation func(a, b *Value) (*Value, bool)

// Add is a+b. A sum of integers beyond 64 bits wraps around.
func Add(a, b *Value) (*Value, bool) {
	if a.Kind == Int && b.Kind == Int {
		return &Value{Kind: Int, Int: a.Int + b.Int}, true
	}
	return double(a.Double() + b.Double())
}

// Multiply is a times b. A product of integers beyond 64 bits wraps around.
func Multiply(a, b *Value) (*Value, bool) {
	if a.Kind == Int && b.Kind == Int {
		return &Value{Kind: Int, Int: a.Int * b.Int}, true
	}
	return double(a.Double() * b.Double())
}

// Power is a to the power of b: an integer as long as it fits 64 bits.
func Power(a, b *Value) (*Value, bool) {
	if a.Kind == Int && b.Kind == Int && b.Int >= 0 {
		if n, ok := power(a.Int, b.Int); ok {
			return &Value{Kind: Int, Int: n}, true
		}
	}
	return double(math.Pow(a.Double(), b.Double()))
}

// power multiplies, which is quick: but for 0, 1 and -1 it overflows after 63
// rounds at most.
func power(base, exponent int64) (int64, bool) {
	if -1 <= base && base <= 1 {
		exponent = min(exponent, 2-exponent%2) // the same up to the sign
	}
	n := int64(1)
	for range exponent {
		if base != 0 && n*base/base != n {
			return 0, false
		}
		n *= base
	}
	return n, true
}

func double(f float64) (*Value, bool) {
	return &Value{Kind: Float, Float: f}, !math.IsNaN(f) && !math.IsInf(f, 0)
}
