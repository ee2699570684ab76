package lua

import (
	"fmt"
	"math"
)

// Checks of a Go function's arguments, which count from 1.

// Arg returns the n-th argument, or Nil.
func Arg(args []Value, n int) Value {
	if n <= len(args) {
		return args[n-1]
	}
	return Nil
}

// WrongType raises the error for an n-th argument that should have the type want.
func (s *State) WrongType(args []Value, n int, want string) {
	got := "no value"
	if n <= len(args) {
		got = args[n-1].Type()
	}
	s.BadArgument(n, want+" expected, got "+got)
}

// CheckString returns the n-th argument, which must be a string or a number, as a string.
func (s *State) CheckString(args []Value, n int) string {
	text, ok := Arg(args, n).Text()
	if !ok {
		s.WrongType(args, n, "string")
	}
	return text
}

// CheckNumber returns the n-th argument, which must be a number or a numeric string, as a number.
func (s *State) CheckNumber(args []Value, n int) float64 {
	f, ok := Arg(args, n).ToNumber()
	if !ok {
		s.WrongType(args, n, "number")
	}
	return f
}

// CheckInteger returns argument n as an integer of 64 bits, without its fraction.
func (s *State) CheckInteger(args []Value, n int) int { return Integer(s.CheckNumber(args, n)) }

// OptInteger is CheckInteger for an argument with a default.
func (s *State) OptInteger(args []Value, n, otherwise int) int {
	if Arg(args, n).IsNil() {
		return otherwise
	}
	return s.CheckInteger(args, n)
}

// CheckInt returns the lower 32 bits of CheckInteger, as C's int has no more.
func (s *State) CheckInt(args []Value, n int) int { return int(int32(s.CheckInteger(args, n))) }

// OptInt is CheckInt for an argument with a default.
func (s *State) OptInt(args []Value, n, otherwise int) int {
	if Arg(args, n).IsNil() {
		return otherwise
	}
	return s.CheckInt(args, n)
}

// CheckTable returns the n-th argument, which must be a table.
func (s *State) CheckTable(args []Value, n int) *Table {
	t := Arg(args, n).AsTable()
	if t == nil {
		s.WrongType(args, n, "table")
	}
	return t
}

// CheckFunction returns the n-th argument, which must be a function.
func (s *State) CheckFunction(args []Value, n int) Value {
	v := Arg(args, n)
	if v.AsFunction() == nil {
		s.WrongType(args, n, "function")
	}
	return v
}

// CheckAny returns the n-th argument, which must be present.
func (s *State) CheckAny(args []Value, n int) Value {
	if n > len(args) {
		s.BadArgument(n, "value expected")
	}
	return args[n-1]
}

// Throwf does the same as Throw with a format.
func (s *State) Throwf(format string, args ...any) { s.Throw(fmt.Sprintf(format, args...)) }

// Integer returns a number without its fraction; a number outside of int64 becomes the smallest one.
func Integer(n float64) int {
	if n >= -(1<<63) && n < 1<<63 {
		return int(n)
	}
	return math.MinInt64
}

// Unsigned returns n as x86-64 converts a double to an unsigned integer of 64 bits: 2^64 and above are 0.
func Unsigned(n float64) uint64 {
	switch {
	case n >= 1<<64:
		return 0
	case n >= 1<<63:
		return uint64(n)
	}
	return uint64(Integer(n))
}

// Int32 returns n as x86-64 converts a double to an integer of 32 bits: the least one if n has more.
func Int32(n float64) int {
	if n > math.MinInt32-1 && n < math.MaxInt32+1 {
		return int(n)
	}
	return math.MinInt32
}
