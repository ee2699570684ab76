package translator

import (
	"fmt"
	"math"
	"strings"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

var hyperloglogDebugTranslations = translations{
	"PFDEBUG":    pfdebug,
	"PFSELFTEST": pfselftest,
}

// sqlOtherForm puts another form of the same value at a key, which is no change that
// a WATCH notices.
const sqlOtherForm = `UPDATE strings SET value = ?3 WHERE key_id = (SELECT id FROM keys WHERE db = ?1 AND key = ?2)`

// pfdebug looks at the key before it looks at the subcommand. GETREG makes the
// value dense, as it does in Redis.
func pfdebug(c *Call) Plan {
	key := c.Args[2]
	return readThen(func(r *store.Result) Plan {
		h, bad := loadHLL(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case h == nil:
			return fail("ERR The specified key does not exist")
		}
		sparse := !h.dense()
		switch {
		case c.is(1, "ENCODING") && sparse:
			return answer(resp.MakeStatus("sparse"))
		case c.is(1, "ENCODING"):
			return answer(resp.MakeStatus("dense"))
		case c.is(1, "DECODE") && sparse:
			return answer(resp.MakeString(h.operations()))
		case c.is(1, "DECODE"):
			return fail("ERR HLL encoding is not sparse")
		case !c.is(1, "GETREG") && !c.is(1, "TODENSE"):
			return fail("ERR Unknown PFDEBUG subcommand '" + commands.Quote(c.Args[1]) + "'")
		}
		if err := h.toDense(); err != nil {
			return fail(err.Error())
		}
		reply := resp.Zero
		switch {
		case c.is(1, "GETREG"):
			reply = h.registers()
		case sparse:
			reply = resp.One
		}
		if !sparse {
			return answer(reply)
		}
		return write(always(reply), store.Stmt{SQL: sqlOtherForm, Args: append(c.key(key)[:2], store.Bytes(h))})
	}, c.stmt(sqlGet, key))
}

// operations lists the operations of a sparse HyperLogLog: "z" and "Z" are runs
// of zeros, "v" is a value and its run.
func (h hll) operations() string {
	terminated := append(h[:len(h):len(h)], 0) // completes an operation that is cut off
	var b strings.Builder
	for at := hllHeader; at < len(h); {
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

// registers lists the registers of a dense HyperLogLog.
func (h hll) registers() resp.Value {
	all := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, hllRegisters)}
	for i := range all.Elems {
		all.Elems[i] = resp.MakeInt(int64(h.denseAt(i)))
	}
	return all
}

func pfselftest(c *Call) Plan {
	if bad := testRegisters(c.Random); bad != "" {
		return fail("TESTFAILED " + bad)
	}
	if bad := testEstimates(c.Random); bad != "" {
		return fail("TESTFAILED " + bad)
	}
	return answer(resp.OK)
}

// testRegisters raises registers at random, and expects to find every one of them
// as it was left, in each of the encodings.
func testRegisters(random func() uint64) (bad string) {
	sparse, dense := newHLL(), newHLL()
	if err := dense.toDense(); err != nil {
		return err.Error()
	}
	var want registers
	for range 2 * hllRegisters {
		x := random()
		index, rank := int(x%hllRegisters), byte(x>>32&63)
		want[index] = max(want[index], rank)
		for _, h := range []*hll{&sparse, &dense} {
			if _, err := h.raise(index, rank, DefaultLimits.HLLBytes); err != nil {
				return err.Error()
			}
		}
	}
	for _, h := range []hll{sparse, dense} {
		var got registers
		if err := got.merge(h); err != nil {
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

// testEstimates counts elements from a few to many, and expects estimates within
// six standard errors.
func testEstimates(random func() uint64) (bad string) {
	const most = 100_000
	h := newHLL()
	for n, next := 1, 1; n <= most; n++ {
		if _, err := h.add(fmt.Appendf(nil, "%d:%d", n, random()), DefaultLimits.HLLBytes); err != nil {
			return err.Error()
		}
		if n < next {
			continue
		}
		next *= 10
		var all registers
		if err := all.merge(h); err != nil {
			return err.Error()
		}
		got, allowed := all.count(), math.Ceil(6*1.04/math.Sqrt(hllRegisters)*float64(n))
		if math.Abs(float64(got)-float64(n)) > allowed {
			return fmt.Sprintf("Too big error. card:%d estimate:%d", n, got)
		}
	}
	return ""
}
