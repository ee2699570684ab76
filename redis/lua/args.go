package lua

import (
	"fmt"
	"math"
)

// What Go functions ask of their arguments, which are counted from 1 on.

// Arg is the n-th argument, or Nil.
func Arg(args []Value, n int) Value {
	if n <= len(args) {
		return args[n-1]
	}
	return Nil
}

// WrongType raises that the n-th argument has another type than the one that is named.
func (s *State) WrongType(args []Value, n int, want string) {
	got := "no value"
	if n <= len(args) {
		got = args[n-1].Type()
	}
	s.BadArgument(n, want+" expected, got "+got)
}

// CheckString is the n-th argument as a string, which a number can be, too.
func (s *State) CheckString(args []Value, n int) string {
	text, ok := Arg(args, n).Text()
	if !ok {
		s.WrongType(args, n, "string")
	}
	return text
}

// CheckNumber is the n-th argument as a number, which a string can be, too.
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

// CheckTable is the n-th argument, a table.
func (s *State) CheckTable(args []Value, n int) *Table {
	t := Arg(args, n).AsTable()
	if t == nil {
		s.WrongType(args, n, "table")
	}
	return t
}

// CheckFunction is the n-th argument, a function.
func (s *State) CheckFunction(args []Value, n int) Value {
	v := Arg(args, n)
	if v.AsFunction() == nil {
		s.WrongType(args, n, "function")
	}
	return v
}

// CheckAny is the n-th argument, which must be there.
func (s *State) CheckAny(args []Value, n int) Value {
	if n > len(args) {
		s.BadArgument(n, "value expected")
	}
	return args[n-1]
}

// Throwf is Throw with a format.
func (s *State) Throwf(format string, args ...any) { s.Throw(fmt.Sprintf(format, args...)) }

// Integer is a number without its fraction; one that no int64 can be is the smallest.
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
