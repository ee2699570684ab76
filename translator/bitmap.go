package translator

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var bitmapTranslations = translations{
	{"SETBIT", setbit},
	{"GETBIT", getbit},
	{"BITCOUNT", bitcount},
	{"BITPOS", bitpos},
	{"BITOP", bitop},
	{"BITFIELD", bitfield},
	{"BITFIELD_RO", bitfieldRO},
}

const errBitOffset = "ERR bit offset is not an integer or out of range"

// maxBit limits bit offsets: a string has at most 512 MB.
const maxBit = 512 << 23

// bitOffset parses a bit offset.
func bitOffset(b []byte) (int64, bool) {
	n, ok := parseInt(b)
	return n, ok && n >= 0 && n < maxBit
}

func setbit(c *Call) Plan {
	at, ok := bitOffset(c.Args[2])
	if !ok {
		return fail(errBitOffset)
	}
	on, ok := parseInt(c.Args[3])
	if !ok || on&^1 != 0 {
		return fail("ERR bit is not an integer or out of range")
	}
	return readThen(func(r *store.Result) Plan {
		v := decodeRange(r)
		if v.IsError() {
			return answer(v)
		}
		old := byteOf(v)
		mask := byte(0x80) >> (at % 8)
		b := old &^ mask
		if on == 1 {
			b = old | mask
		}
		reply := resp.Zero
		if old&mask != 0 {
			reply = resp.One
		}
		if len(v.Str) > 0 && b == old {
			return answer(reply)
		}
		return write(always(reply), c.splice(c.Args[1], at/8, []byte{b})...)
	}, c.rangeStmt(c.Args[1], at/8, at/8))
}

// byteOf returns the byte that was read, 0 beyond the end.
func byteOf(v resp.Value) byte {
	if len(v.Str) == 0 {
		return 0
	}
	return v.Str[0]
}

func getbit(c *Call) Plan {
	at, ok := bitOffset(c.Args[2])
	if !ok {
		return fail(errBitOffset)
	}
	return read(func(r *store.Result) resp.Value {
		v := decodeRange(r)
		if v.IsError() {
			return v
		}
		return resp.MakeInt(int64(byteOf(v) >> (7 - at%8) & 1))
	}, c.rangeStmt(c.Args[1], at/8, at/8))
}

// bitRange holds the parsed words [start [end [BYTE|BIT]]].
type bitRange struct {
	start, end, unit int64 // unit: 1 for bits, 8 for bytes
	reversed         bool  // both ends count from the end of the string, and start is after end
}

// parseBitRange parses the words; bad is the error text. BITCOUNT checks the end before the unit, BITPOS after it.
func parseBitRange(words [][]byte, counting bool) (r bitRange, bad string) {
	r = bitRange{end: -1, unit: 8}
	unitOK, startOK, endOK := true, true, true
	if len(words) > 0 {
		r.start, startOK = parseInt(words[0])
	}
	if len(words) > 1 {
		r.end, endOK = parseInt(words[1])
	}
	if len(words) > 2 {
		bits := wordIs(words[2], "BIT")
		unitOK = bits || wordIs(words[2], "BYTE")
		if bits {
			r.unit = 1
		}
	}
	switch {
	case !startOK, counting && !endOK:
		return r, errNotInteger
	case !unitOK:
		return r, errSyntax
	case !endOK:
		return r, errNotInteger
	}
	r.reversed = r.start < 0 && r.end < 0 && r.start > r.end
	return r, ""
}

// of returns the range of bits in a string of n bytes, from inclusive to exclusive. An empty range has from >= to.
func (r bitRange) of(n int64) (from, to int64) {
	size := n * 8 / r.unit
	start, end := r.start, r.end
	if start < 0 {
		start = max(0, start+size)
	}
	if end < 0 {
		end = max(0, end+size)
	}
	end = min(end, size-1)
	if start > end {
		return 0, 0
	}
	return start * r.unit, (end + 1) * r.unit
}

func bitcount(c *Call) Plan {
	if len(c.Args) == 3 || len(c.Args) > 5 {
		return fail(errSyntax)
	}
	bits, bad := parseBitRange(c.Args[2:], true)
	if bad != "" {
		return fail(bad)
	}
	return read(func(r *store.Result) resp.Value {
		v := decodeString(r)
		switch {
		case v.IsError():
			return v
		case v.IsNull() || bits.reversed:
			return resp.Zero
		}
		from, to := bits.of(int64(len(v.Str)))
		return resp.MakeInt(countBits(v.Str, from, to, r.Work))
	}, c.stmt(sqlGet, c.Args[1]))
}

// scanChunk limits the bits searched or counted between two charges, each of one step per word.
const scanChunk = 1 << 16

// countBits counts the bits that are 1, word by word.
func countBits(b []byte, from, to int64, w *store.Work) (n int64) {
	for ; from < to && from%8 != 0; from++ {
		n += int64(bitAt(b, from))
	}
	for from+64 <= to {
		w.Step(scanChunk / 64)
		for end := min(to, from+scanChunk); from+64 <= end; from += 64 {
			n += int64(bits.OnesCount64(binary.NativeEndian.Uint64(b[from/8:])))
		}
	}
	for ; from < to; from++ {
		n += int64(bitAt(b, from))
	}
	return n
}

func bitAt(b []byte, i int64) byte { return b[i/8] >> (7 - i%8) & 1 }

func bitpos(c *Call) Plan {
	bit, ok := parseInt(c.Args[2])
	if !ok {
		return fail(errNotInteger)
	}
	if bit != 0 && bit != 1 {
		return fail("ERR The bit argument must be 1 or 0.")
	}
	if len(c.Args) > 6 {
		return fail(errSyntax)
	}
	bits, bad := parseBitRange(c.Args[3:], false)
	if bad != "" {
		return fail(bad)
	}
	return read(func(r *store.Result) resp.Value {
		v := decodeString(r)
		switch {
		case v.IsNull():
			return resp.MakeInt(-bit)
		case v.IsError():
			return v
		}
		from, to := bits.of(int64(len(v.Str)))
		return resp.MakeInt(findBit(v.Str, byte(bit), from, to, len(c.Args) > 4, r.Work))
	}, c.stmt(sqlGet, c.Args[1]))
}

// findBit returns the first bit in the range that equals bit, or -1. Zeros follow the end of a string: a search for 0
// without an end finds the first bit after it.
func findBit(b []byte, bit byte, from, to int64, ended bool, w *store.Work) int64 {
	if from >= to {
		return -1
	}
	i := from
	for ; i < to && i%8 != 0; i++ {
		if bitAt(b, i) == bit {
			return i
		}
	}
	flip := uint64(0) // turns the bits to find into 1
	if bit == 0 {
		flip = math.MaxUint64
	}
	for i+64 <= to {
		w.Step(scanChunk / 64)
		for end := min(to, i+scanChunk); i+64 <= end; i += 64 {
			if word := binary.BigEndian.Uint64(b[i/8:]) ^ flip; word != 0 {
				return i + int64(bits.LeadingZeros64(word))
			}
		}
	}
	for ; i < to; i++ {
		if bitAt(b, i) == bit {
			return i
		}
	}
	if bit == 0 && !ended {
		return to
	}
	return -1
}
