package document

import (
	"errors"
	"math"
)

// Operation computes with two numbers. Two signed integers give an integer,
// anything else a double. An error is a reply: there is no such number.
type Operation func(a, b *Value) (*Value, error)

var (
	errOverflow   = errors.New("ERR numeric overflow")
	errNotANumber = errors.New("ERR result is not a number")
)

// Add is a+b.
func Add(a, b *Value) (*Value, error) {
	return compute(a, b, addIntegers, func(a, b float64) float64 { return a + b })
}

// Multiply is a times b.
func Multiply(a, b *Value) (*Value, error) {
	return compute(a, b, multiplyIntegers, func(a, b float64) float64 { return a * b })
}

// Power is a to the power of b.
func Power(a, b *Value) (*Value, error) { return compute(a, b, power, math.Pow) }

func compute(a, b *Value, integers func(a, b int64) (int64, bool), doubles func(a, b float64) float64) (*Value, error) {
	if a.Kind == Int && b.Kind == Int {
		n, ok := integers(a.Int, b.Int)
		if !ok {
			return nil, errOverflow
		}
		return &Value{Kind: Int, Int: n}, nil
	}
	v, ok := double(doubles(a.Double(), b.Double()))
	if !ok {
		return nil, errNotANumber
	}
	return v, nil
}

func addIntegers(a, b int64) (n int64, ok bool) {
	n = a + b
	return n, (b < 0) == (n < a)
}

func multiplyIntegers(a, b int64) (n int64, ok bool) {
	n = a * b
	return n, a == 0 || n/a == b && !(a == -1 && b == math.MinInt64)
}

// power multiplies, which is quick: but for 0, 1 and -1 it overflows after 63
// rounds at most. A negative power of another number is no integer.
func power(base, exponent int64) (n int64, ok bool) {
	switch {
	case -1 <= base && base <= 1:
		if exponent != 0 {
			exponent = 2 - exponent&1 // the same up to the sign
		}
	case exponent < 0:
		return 0, false
	}
	n = 1
	for range exponent {
		if n, ok = multiplyIntegers(n, base); !ok {
			return 0, false
		}
	}
	return n, true
}

// double is false for infinities and what is no number.
func double(f float64) (*Value, bool) {
	return &Value{Kind: Float, Float: f}, !math.IsNaN(f) && !math.IsInf(f, 0)
}
