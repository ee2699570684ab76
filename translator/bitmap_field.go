package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// overflowMode selects how BITFIELD handles a number that does not fit.
type overflowMode byte

const (
	overflowWrap overflowMode = iota
	overflowSaturate
	overflowFail
)

// fieldOp is one operation of BITFIELD.
type fieldOp struct {
	kind     byte // 'g' get, 's' set, 'i' increment
	signed   bool
	bits     int
	at       int64 // offset of the first bit
	operand  int64
	overflow overflowMode
}

func bitfield(c *Call) Plan {
	ops, bad := c.parseFields()
	if bad != "" {
		return fail(bad)
	}
	end := int64(0) // after the last written byte
	for _, op := range ops {
		if op.kind != 'g' {
			end = max(end, op.end())
		}
	}
	if end == 0 {
		return c.readFields(ops)
	}
	first, last := fieldSpan(ops)
	return readThen(func(r *store.Result) Plan {
		v := decodeRange(r)
		if v.IsError() {
			return answer(v)
		}
		r.Work.Grow(max(int64(len(v.Str)), end-first))
		value := make([]byte, max(int64(len(v.Str)), end-first))
		copy(value, v.Str)
		reply, changed := runFields(value, ops, r.Work)
		if !changed && len(value) == len(v.Str) {
			return answer(reply)
		}
		return write(always(reply), c.splice(c.Args[1], first, value[:end-first])...)
	}, c.rangeStmt(c.Args[1], first, last))
}

// fieldSpan returns the first and the last byte that the operations touch, and makes their offsets relative to the
// first.
func fieldSpan(ops []fieldOp) (first, last int64) {
	first = maxString
	for _, op := range ops {
		first, last = min(first, op.at/8), max(last, op.end()-1)
	}
	for i := range ops {
		ops[i].at -= 8 * first
	}
	return first, last
}

func bitfieldRO(c *Call) Plan {
	ops, bad := c.parseFields()
	if bad != "" {
		return fail(bad)
	}
	for _, op := range ops {
		if op.kind != 'g' {
			return fail("ERR BITFIELD_RO only supports the GET subcommand")
		}
	}
	return c.readFields(ops)
}

func (c *Call) readFields(ops []fieldOp) Plan {
	first, last := fieldSpan(ops)
	return read(func(r *store.Result) resp.Value {
		v := decodeRange(r)
		if v.IsError() {
			return v
		}
		reply, _ := runFields(v.Str, ops, r.Work)
		return reply
	}, c.rangeStmt(c.Args[1], first, last))
}

// end returns the index of the byte after the field.
func (op fieldOp) end() int64 { return (op.at + int64(op.bits) + 7) / 8 }

// parseFields parses the operations from argument 2 on.
func (c *Call) parseFields() (ops []fieldOp, bad string) {
	mode := overflowWrap
	for i := 2; i < len(c.Args); {
		left := len(c.Args) - i - 1
		op := fieldOp{overflow: mode}
		switch {
		case c.is(i, "GET") && left >= 2:
			op.kind = 'g'
		case c.is(i, "SET") && left >= 3:
			op.kind = 's'
		case c.is(i, "INCRBY") && left >= 3:
			op.kind = 'i'
		case c.is(i, "OVERFLOW") && left >= 1:
			switch {
			case c.is(i+1, "WRAP"):
				mode = overflowWrap
			case c.is(i+1, "SAT"):
				mode = overflowSaturate
			case c.is(i+1, "FAIL"):
				mode = overflowFail
			default:
				return nil, "ERR Invalid OVERFLOW type specified"
			}
			i += 2
			continue
		default:
			return nil, errSyntax
		}
		if bad := op.parse(c.Args[i+1:]); bad != "" {
			return nil, bad
		}
		ops = append(ops, op)
		i += 4
		if op.kind == 'g' {
			i--
		}
	}
	return ops, ""
}

// parse parses "encoding offset [operand]".
func (op *fieldOp) parse(words [][]byte) (bad string) {
	kind := words[0]
	if len(kind) < 2 || kind[0] != 'i' && kind[0] != 'u' {
		return errFieldType
	}
	n, ok := parseInt(kind[1:])
	op.signed = kind[0] == 'i'
	if !ok || n < 1 || op.signed && n > 64 || !op.signed && n > 63 {
		return errFieldType
	}
	op.bits = int(n)
	offset, scale := words[1], int64(1)
	if len(offset) > 0 && offset[0] == '#' {
		offset, scale = offset[1:], n
	}
	if op.at, ok = parseInt(offset); !ok || op.at < 0 || op.at > maxBit/scale || op.at*scale >= maxBit {
		return errBitOffset
	}
	op.at *= scale
	if op.kind != 'g' {
		if op.operand, ok = parseInt(words[2]); !ok {
			return errNotInteger
		}
	}
	return ""
}

const errFieldType = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."

// runFields runs the operations on value, in place. changed reports whether an operation changed a number.
func runFields(value []byte, ops []fieldOp, w *store.Work) (reply resp.Value, changed bool) {
	replies := make([]resp.Value, len(ops))
	for i, op := range ops {
		w.Step(op.bits)
		var c bool
		replies[i], c = op.run(value)
		changed = changed || c
	}
	return resp.Value{Kind: resp.Array, Elems: replies}, changed
}

func (op fieldOp) run(value []byte) (reply resp.Value, changed bool) {
	old := op.load(value)
	base, delta := old, int64(0)
	switch op.kind {
	case 'g':
		return resp.MakeInt(old), false
	case 's':
		base = op.operand
	case 'i':
		delta = op.operand
	}
	sum, fits := op.add(base, delta)
	if !fits && op.overflow == overflowFail {
		return resp.Nil, false
	}
	op.storeBits(value, uint64(sum))
	changed = op.load(value) != old
	if op.kind == 's' {
		return resp.MakeInt(old), changed
	}
	return resp.MakeInt(sum), changed
}

func (op fieldOp) load(value []byte) int64 {
	var u uint64
	for i := op.at; i < op.at+int64(op.bits); i++ {
		u <<= 1
		if i/8 < int64(len(value)) {
			u |= uint64(bitAt(value, i))
		}
	}
	return op.wrap(u)
}

func (op fieldOp) storeBits(value []byte, u uint64) {
	for i := range op.bits {
		at := op.at + int64(op.bits-1-i)
		mask := byte(0x80) >> (at % 8)
		if u>>i&1 == 1 {
			value[at/8] |= mask
		} else {
			value[at/8] &^= mask
		}
	}
}

// wrap returns the low bits of u, sign-extended.
func (op fieldOp) wrap(u uint64) int64 {
	shift := 64 - op.bits
	if op.signed {
		return int64(u<<shift) >> shift
	}
	return int64(u << shift >> shift)
}

// add returns base+delta under the field's overflow mode, and whether it fits.
func (op fieldOp) add(base, delta int64) (sum int64, fits bool) {
	lowest, highest, over, under := op.beyond(base, delta)
	switch {
	case !over && !under:
		return base + delta, true
	case op.overflow == overflowSaturate && over:
		return highest, false
	case op.overflow == overflowSaturate:
		return lowest, false
	}
	return op.wrap(uint64(base) + uint64(delta)), false
}

// beyond returns the limits of the field and whether base+delta is over or under them. It follows Redis's arithmetic
// (checkSignedBitfieldOverflow in bitops.c): a value set to an unsigned field counts as unsigned, and the distance from
// a very negative number to the upper limit overflows, so the number counts as too large.
func (op fieldOp) beyond(base, delta int64) (lowest, highest int64, over, under bool) {
	if !op.signed {
		highest = int64(uint64(1)<<op.bits - 1)
		over = base > highest || base < 0 || delta > 0 && delta > highest-base
		return 0, highest, over, !over && delta < 0 && delta < -base
	}
	highest = int64(uint64(1)<<(op.bits-1) - 1)
	lowest = -highest - 1
	over = base > highest || (op.bits < 64 || base >= 0 && delta > 0) && delta > highest-base
	under = !over && (base < lowest || (op.bits < 64 || base < 0 && delta < 0) && delta < lowest-base)
	return lowest, highest, over, under
}
