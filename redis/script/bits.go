package script

import (
	"math"
	"math/bits"
	"time"

	"github.com/meowdis/meowdis/redis/lua"
)

var processStart = time.Now()

// osClock returns the time since the start in seconds. In C it is the processor time.
func osClock(s *lua.State, _ []lua.Value) []lua.Value {
	return s.One(lua.Number(math.Floor(time.Since(processStart).Seconds()*1e6) / 1e6))
}

// bitArg returns an argument rounded and truncated to 32 bits.
func bitArg(s *lua.State, args []lua.Value, n int) uint32 {
	x := s.CheckNumber(args, n) + 6755399441055744
	return uint32(math.Float64bits(x))
}

func bitResult(s *lua.State, x uint32) []lua.Value { return s.One(lua.Number(float64(int32(x)))) }

func bitUnary(f func(uint32) uint32) lua.GoFunction {
	return func(s *lua.State, args []lua.Value) []lua.Value { return bitResult(s, f(bitArg(s, args, 1))) }
}

func bitFold(f func(a, b uint32) uint32) lua.GoFunction {
	return func(s *lua.State, args []lua.Value) []lua.Value {
		x := bitArg(s, args, 1)
		for n := len(args); n > 1; n-- {
			x = f(x, bitArg(s, args, n))
		}
		return bitResult(s, x)
	}
}

func bitShift(f func(x uint32, n int) uint32) lua.GoFunction {
	return func(s *lua.State, args []lua.Value) []lua.Value {
		x := bitArg(s, args, 1)
		return bitResult(s, f(x, int(bitArg(s, args, 2)&31)))
	}
}

var bitFunctions = map[string]lua.GoFunction{
	"tobit":   bitUnary(func(x uint32) uint32 { return x }),
	"bnot":    bitUnary(func(x uint32) uint32 { return ^x }),
	"bswap":   bitUnary(bits.ReverseBytes32),
	"band":    bitFold(func(a, b uint32) uint32 { return a & b }),
	"bor":     bitFold(func(a, b uint32) uint32 { return a | b }),
	"bxor":    bitFold(func(a, b uint32) uint32 { return a ^ b }),
	"lshift":  bitShift(func(x uint32, n int) uint32 { return x << n }),
	"rshift":  bitShift(func(x uint32, n int) uint32 { return x >> n }),
	"arshift": bitShift(func(x uint32, n int) uint32 { return uint32(int32(x) >> n) }),
	"rol":     bitShift(bits.RotateLeft32),
	"ror":     bitShift(func(x uint32, n int) uint32 { return bits.RotateLeft32(x, -n) }),
	"tohex":   bitHex,
}

func bitHex(s *lua.State, args []lua.Value) []lua.Value {
	x, n := bitArg(s, args, 1), 8
	digits := hexDigits
	if len(args) > 1 {
		if n = int(int32(bitArg(s, args, 2))); n < 0 {
			n, digits = -n, "0123456789ABCDEF"
		}
	}
	n = min(n, 8)
	b := make([]byte, n)
	for i := n - 1; i >= 0; i, x = i-1, x>>4 {
		b[i] = digits[x&15]
	}
	return s.One(lua.String(string(b)))
}
