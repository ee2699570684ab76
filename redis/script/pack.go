package script

import (
	"encoding/binary"
	"math"

	"github.com/meowdis/meowdis/redis/lua"
)

const maxPackDepth = 16

// maxStack limits the arguments and results of a function, as the stack of the reference implementation does.
const maxStack = 8000

func packLibrary() *lua.Table {
	t := lua.Library(map[string]lua.GoFunction{
		"pack": packPack, "unpack": packUnpack, "unpack_one": packUnpackOne, "unpack_limit": packUnpackLimit,
	})
	t.SetField("_NAME", lua.String("cmsgpack"))
	t.SetField("_VERSION", lua.String("lua-cmsgpack 0.4.0"))
	t.SetField("_COPYRIGHT", lua.String("Copyright (C) 2012, Redis Ltd."))
	t.SetField("_DESCRIPTION", lua.String("MessagePack C implementation for Lua"))
	return t
}

func packPack(s *lua.State, args []lua.Value) []lua.Value {
	if len(args) == 0 {
		s.BadArgument(0, "MessagePack pack needs input.")
	}
	out := s.Buffer()
	defer out.Close()
	for _, v := range args {
		packValue(out, v, 0)
	}
	return s.One(out.Value())
}

func packValue(out *lua.Buffer, v lua.Value, depth int) {
	switch typ := v.Type(); {
	case typ == "string":
		text, _ := v.AsString()
		out.Bytes(packHead(out.Scratch[:0], len(text), 0xa0, 31, 0xd9, 0xda, 0xdb))
		out.String(text)
	case typ == "boolean" && v.Truth():
		out.Byte(0xc3)
	case typ == "boolean":
		out.Byte(0xc2)
	case typ == "number":
		n, _ := v.AsNumber()
		out.Bytes(packNumber(out.Scratch[:0], n))
	case typ == "table" && depth < maxPackDepth:
		packTable(out, v.AsTable(), depth+1)
	default:
		out.Byte(0xc0)
	}
}

// packHead writes a length: in one byte up to small, or in one of the sizes with a code.
func packHead(out []byte, n int, fix byte, small int, one, two, four byte) []byte {
	switch {
	case n <= small:
		return append(out, fix|byte(n))
	case n <= 0xff && one != 0:
		return append(out, one, byte(n))
	case n <= 0xffff:
		return binary.BigEndian.AppendUint16(append(out, two), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(out, four), uint32(n))
}

func packNumber(out []byte, f float64) []byte {
	n := int64(lua.Integer(f))
	if float64(n) != f {
		if float64(float32(f)) == f {
			return binary.BigEndian.AppendUint32(append(out, 0xca), math.Float32bits(float32(f)))
		}
		return binary.BigEndian.AppendUint64(append(out, 0xcb), math.Float64bits(f))
	}
	switch {
	case n >= 0 && n <= 127, n < 0 && n >= -32:
		return append(out, byte(n))
	case n >= 0 && n <= 0xff:
		return append(out, 0xcc, byte(n))
	case n >= 0 && n <= 0xffff:
		return binary.BigEndian.AppendUint16(append(out, 0xcd), uint16(n))
	case n >= 0 && n <= 0xffffffff:
		return binary.BigEndian.AppendUint32(append(out, 0xce), uint32(n))
	case n >= 0:
		return binary.BigEndian.AppendUint64(append(out, 0xcf), uint64(n))
	case n >= -128:
		return append(out, 0xd0, byte(n))
	case n >= -32768:
		return binary.BigEndian.AppendUint16(append(out, 0xd1), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(out, 0xd2), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(out, 0xd3), uint64(n))
}

func packTable(out *lua.Buffer, t *lua.Table, depth int) {
	count, most, array := 0, 0.0, true
	for k, _, _ := t.Next(lua.Nil); !k.IsNil(); k, _, _ = t.Next(k) {
		n, ok := k.AsNumber()
		array = array && ok && n > 0 && n == math.Floor(n)
		most = math.Max(most, n)
		count++
	}
	if array && int(most) == count {
		out.Bytes(packHead(out.Scratch[:0], count, 0x90, 15, 0, 0xdc, 0xdd))
		for i := 1; i <= count; i++ {
			packValue(out, t.Index(i), depth)
		}
		return
	}
	out.Bytes(packHead(out.Scratch[:0], count, 0x80, 15, 0, 0xde, 0xdf))
	for k, v, _ := t.Next(lua.Nil); !k.IsNil(); k, v, _ = t.Next(k) {
		packValue(out, k, depth)
		packValue(out, v, depth)
	}
}

type packReader struct {
	s     *lua.State
	src   string
	pos   int
	depth int
}

func packUnpack(s *lua.State, args []lua.Value) []lua.Value {
	return packValues(s, len(args), s.CheckString(args, 1), 0, 0)
}

func packUnpackOne(s *lua.State, args []lua.Value) []lua.Value {
	return packValues(s, len(args), s.CheckString(args, 1), 1, s.OptInt(args, 2, 0))
}

func packUnpackLimit(s *lua.State, args []lua.Value) []lua.Value {
	src, limit := s.CheckString(args, 1), s.CheckInt(args, 2)
	return packValues(s, len(args), src, limit, s.OptInt(args, 3, 0))
}

// packValues reads up to limit values from an offset. With a limit the first result is the offset after them,
// or -1 at the end.
func packValues(s *lua.State, args int, src string, limit, offset int) []lua.Value {
	switch all := limit == 0 && offset == 0; {
	case offset < 0 || limit < 0:
		s.Throwf("Invalid request to unpack with offset of %d and limit of %d.", offset, len(src))
	case offset > len(src):
		s.Throwf("Start offset %d greater than input length %d.", offset, len(src))
	case all:
		limit = math.MaxInt
	}
	r := &packReader{s: s, src: src, pos: offset}
	var vs []lua.Value
	defer s.Built(len(s.Roots))
	for r.pos < len(src) && len(vs) < limit {
		if args+len(vs) >= maxStack {
			s.Throw("stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)")
		}
		v := r.value()
		s.Building(v)
		vs = append(vs, v)
	}
	if limit == math.MaxInt {
		return vs
	}
	next := float64(r.pos)
	if r.pos == len(src) {
		next = -1
	}
	return append([]lua.Value{lua.Number(next)}, vs...)
}

func (r *packReader) take(n int) string {
	if n > len(r.src)-r.pos {
		r.s.Throw("Missing bytes in input.")
	}
	r.pos += n
	return r.src[r.pos-n : r.pos]
}

func (r *packReader) uint(n int) (v uint64) {
	for _, c := range []byte(r.take(n)) {
		v = v<<8 | uint64(c)
	}
	return v
}

func (r *packReader) string(n int) lua.Value {
	text := r.take(n)
	r.s.Grow(n)
	return lua.String(text)
}

func (r *packReader) value() lua.Value {
	c := r.take(1)[0]
	switch {
	case c <= 0x7f:
		return lua.Number(float64(c))
	case c >= 0xe0:
		return lua.Number(float64(int8(c)))
	case c <= 0x8f:
		return r.table(int(c&15), true)
	case c <= 0x9f:
		return r.table(int(c&15), false)
	case c <= 0xbf:
		return r.string(int(c & 31))
	}
	switch c {
	case 0xc0:
		return lua.Nil
	case 0xc2:
		return lua.False
	case 0xc3:
		return lua.True
	case 0xd9:
		return r.string(int(r.uint(1)))
	case 0xda:
		return r.string(int(r.uint(2)))
	case 0xdb:
		return r.string(int(r.uint(4)))
	case 0xca:
		return lua.Number(float64(math.Float32frombits(uint32(r.uint(4)))))
	case 0xcb:
		return lua.Number(math.Float64frombits(r.uint(8)))
	case 0xcc, 0xcd, 0xce, 0xcf:
		return lua.Number(float64(int64(r.uint(1 << (c - 0xcc))))) // Redis pushes a lua_Integer, so 2^63 and above are negative
	case 0xd0:
		return lua.Number(float64(int8(r.uint(1))))
	case 0xd1:
		return lua.Number(float64(int16(r.uint(2))))
	case 0xd2:
		return lua.Number(float64(int32(r.uint(4))))
	case 0xd3:
		return lua.Number(float64(int64(r.uint(8))))
	case 0xdc, 0xde:
		return r.table(int(r.uint(2)), c == 0xde)
	case 0xdd, 0xdf:
		return r.table(int(r.uint(4)), c == 0xdf)
	}
	r.s.Throw("Bad data format in input.")
	return lua.Nil
}

// maxUnpackDepth limits how deep values may be nested.
const maxUnpackDepth = 10_000

func (r *packReader) table(n int, pairs bool) lua.Value {
	if r.depth++; r.depth > maxUnpackDepth {
		r.s.Throw("Bad data format in input.")
	}
	defer func() { r.depth-- }()
	t := r.s.Table(0, 0)
	defer r.s.Built(len(r.s.Roots) - 1)
	for i := 1; i <= n; i++ {
		k := lua.Number(float64(i))
		if pairs {
			k = r.value()
		}
		v := r.value()
		if f, isNumber := k.AsNumber(); k.IsNil() || isNumber && f != f {
			r.s.Raise("table index is nil")
		}
		r.s.Set(t, k, v)
	}
	return lua.Of(t)
}
