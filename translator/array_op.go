package translator

import (
	"math/big"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/longdouble"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// slotPage limits the values that a command reads at a time to process them in Go. It is small, since that
// processing cannot be interrupted.
const slotPage = 100

// walk calls visit with the values of a range, a page at a time, until it returns false. The reply is the result of
// done. A missing key has no values.
func (c *Call) walk(s slotRange, visit func(index uint64, value []byte, w *store.Work) bool, done func() resp.Value) Plan {
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) > 0 && string(r.Rows[0][0][0].Bytes()) != arrayType {
			return answer(wrongType)
		}
		var last uint64
		for _, row := range r.Rows[1] {
			last = indexOf(row[0])
			if !visit(last, row[1].Bytes(), r.Work) {
				return answer(done())
			}
		}
		rest := s
		switch {
		case len(r.Rows[1]) < slotPage:
			return answer(done())
		case s.back && last > s.from:
			rest.to = last - 1
		case !s.back && last < s.to:
			rest.from = last + 1
		default:
			return answer(done())
		}
		return c.walk(rest, visit, done)
	}, c.typeOf(key), c.slots(key, s, slotPage))
}

// Counting does not read the values into Go.
const (
	sqlCountSlots   = `SELECT count(*)` + sqlInSlotRange
	sqlCountMatches = sqlCountSlots + ` AND value = ?6`
)

// numberFolds holds the operations on numbers, bitFolds the operations on integers. Both skip other values, and reply
// nil if no value remains.
var numberFolds = map[string]func(x, y *big.Float) *big.Float{
	"SUM": func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(longdouble.Bits).Add(x, y) },
	"MIN": func(x, y *big.Float) *big.Float {
		if y.Cmp(x) < 0 {
			return y
		}
		return x
	},
	"MAX": func(x, y *big.Float) *big.Float {
		if y.Cmp(x) > 0 {
			return y
		}
		return x
	},
}

var bitFolds = map[string]func(x, y int64) int64{
	"AND": func(x, y int64) int64 { return x & y },
	"OR":  func(x, y int64) int64 { return x | y },
	"XOR": func(x, y int64) int64 { return x ^ y },
}

// arop visits the range upwards, whatever the order of its ends.
func arop(c *Call) Plan {
	s, ok := parseSlotRange(c.Args[2], c.Args[3])
	if !ok {
		return fail(errArrayIndex)
	}
	s.back = false
	key, count := c.Args[1], checkType(arrayType, resp.Zero, intOf(1))
	op, n := upper(c.Args[4]), len(c.Args)
	numbers, bits := numberFolds[op], bitFolds[op]
	switch {
	case op != "MATCH" && op != "USED" && numbers == nil && bits == nil:
		return fail("ERR unknown operation")
	case op == "MATCH" && n != 6:
		return fail("ERR MATCH requires a value argument")
	case op != "MATCH" && n != 5:
		return answer(commands.WrongArity(c.Command))
	case op == "MATCH":
		return read(count, c.typeOf(key), c.stmt(sqlCountMatches, key, pos(s.from), pos(s.to), store.Bytes(c.Args[5])))
	case op == "USED":
		return read(count, c.typeOf(key), c.stmt(sqlCountSlots, key, pos(s.from), pos(s.to)))
	case numbers != nil:
		return fold(c, s, numbers, finite, func(f *big.Float) resp.Value { return resp.MakeBulk(longdouble.Format(f)) })
	}
	return fold(c, s, bits, truncated, resp.MakeInt)
}

// fold combines the values that parse accepts.
func fold[T any](c *Call, s slotRange, combine func(x, y T) T, parse func([]byte) (T, bool), reply func(T) resp.Value) Plan {
	var result T
	found := false
	return c.walk(s, func(_ uint64, value []byte, w *store.Work) bool {
		w.Step(stepsPerSlot + len(value))
		x, ok := parse(value)
		switch {
		case !ok:
		case !found:
			result, found = x, true
		default:
			result = combine(result, x)
		}
		return true
	}, func() resp.Value {
		if !found {
			return resp.Nil
		}
		return reply(result)
	})
}

// finite parses a number that is not infinite.
func finite(b []byte) (*big.Float, bool) {
	f, ok := longdouble.Parse(b)
	return f, ok && !f.IsInf()
}

// truncated parses a number as an integer, without its fraction. It fails for a number beyond 64 bits.
func truncated(b []byte) (int64, bool) {
	if n, ok := parseInt(b); ok {
		return n, true
	}
	f, ok := finite(b)
	if !ok {
		return 0, false
	}
	whole, _ := f.Int(nil)
	return whole.Int64(), whole.IsInt64()
}
