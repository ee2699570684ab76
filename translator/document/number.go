package document

import (
	"errors"
	"math"
	"math/big"
)

// Operation computes with two numbers. Two integers from -2^63 to 2^63-1 give such an integer; any other pair gives a
// double. An error is the reply to an impossible computation.
type Operation func(a, b *Value) (*Value, error)

var (
	errOverflow   = errors.New("ERR numeric overflow")
	errNotANumber = errors.New("ERR result is not a number")
)

// Add returns a+b.
func Add(a, b *Value) (*Value, error) {
	return compute(a, b, '+', func(a, b float64) float64 { return a + b })
}

// Multiply returns a*b.
func Multiply(a, b *Value) (*Value, error) {
	return compute(a, b, '*', func(a, b float64) float64 { return a * b })
}

// Power returns a to the power of b.
func Power(a, b *Value) (*Value, error) { return compute(a, b, '^', math.Pow) }

func compute(a, b *Value, op byte, doubles func(a, b float64) float64) (*Value, error) {
	if a.Kind == Int && b.Kind == Int {
		if v, ok := integers(op, a, b); ok && v.Kind == Int {
			return v, nil
		}
		return nil, errOverflow
	}
	v, ok := double(doubles(a.Double(), b.Double()))
	if !ok {
		return nil, errNotANumber
	}
	return v, nil
}

func (v *Value) isInteger() bool { return v.Kind == Int || v.Kind == Uint }

func (v *Value) big() *big.Int {
	if v.Kind == Uint {
		return new(big.Int).SetUint64(v.Uint)
	}
	return big.NewInt(v.Int)
}

// integers computes exactly with two integers. It returns false if the result is not an integer of 64 bits.
func integers(op byte, a, b *Value) (*Value, bool) {
	x, y := a.big(), b.big()
	n := new(big.Int)
	switch op {
	case '+':
		n.Add(x, y)
	case '-':
		n.Sub(x, y)
	case '*':
		n.Mul(x, y)
	case '%':
		if y.Sign() == 0 {
			return nil, false
		}
		n.Rem(x, y)
	default:
		if n = power(x, y); n == nil {
			return nil, false
		}
	}
	switch {
	case n.IsInt64():
		return &Value{Kind: Int, Int: n.Int64()}, true
	case n.IsUint64():
		return &Value{Kind: Uint, Uint: n.Uint64()}, true
	}
	return nil, false
}

// power returns nil if the result is not an integer or needs more than 64 bits. Except for bases of 0, 1 and -1, an
// exponent above 64 is enough to know that.
func power(base, exponent *big.Int) *big.Int {
	if base.IsInt64() && -1 <= base.Int64() && base.Int64() <= 1 {
		if exponent.Sign() != 0 {
			exponent = big.NewInt(2 - int64(exponent.Bit(0))) // the same result with a small exponent
		}
	} else if exponent.Sign() < 0 || exponent.Cmp(big.NewInt(64)) > 0 {
		return nil
	}
	return new(big.Int).Exp(base, exponent, nil)
}

// double returns false for infinities and NaN.
func double(f float64) (*Value, bool) {
	return &Value{Kind: Float, Float: f}, !math.IsNaN(f) && !math.IsInf(f, 0)
}
