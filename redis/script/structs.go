package script

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/meowdis/meowdis/redis/lua"
)

var structFunctions = map[string]lua.GoFunction{"pack": structPack, "unpack": structUnpack, "size": structSize}

// layout parses the format of struct's functions.
type layout struct {
	s      *lua.State
	format string
	pos    int
	big    bool
	align  int
	total  int // bytes so far
	limit  int // bytes that unpack has
}

const maxAlign = 8

func newLayout(s *lua.State, format string) *layout {
	format, _, _ = strings.Cut(format, "\x00")
	return &layout{s: s, format: format, align: 1, limit: math.MaxInt}
}

func (l *layout) number(otherwise int) int {
	if l.pos >= len(l.format) || l.format[l.pos] < '0' || l.format[l.pos] > '9' {
		return otherwise
	}
	n := 0
	for l.pos < len(l.format) && l.format[l.pos] >= '0' && l.format[l.pos] <= '9' {
		if n > (math.MaxInt32-9)/10 {
			l.s.Throw("integral size overflow")
		}
		n = n*10 + int(l.format[l.pos]-'0')
		l.pos++
	}
	return n
}

// next parses one option: its letter, its size and its padding. It also handles the options that only change a
// setting.
func (l *layout) next() (c byte, size, pad int, ok bool) {
	for l.pos < len(l.format) {
		c = l.format[l.pos]
		l.pos++
		if strings.IndexByte(" <>!", c) < 0 {
			size = l.size(c) // its error comes first
		}
		if l.total < 0 || l.total > l.limit {
			l.s.BadArgument(2, "data string too short")
		}
		switch c {
		case ' ':
		case '>':
			l.big = true
		case '<':
			l.big = false
		case '!':
			a := l.number(maxAlign)
			if a <= 0 || a&(a-1) != 0 {
				l.s.Throwf("alignment %d is not a power of 2", a)
			}
			l.align = a
		default:
			align := size
			if align == 0 || c == 'x' || c == 'c' || c == 's' || c == 'b' || c == 'B' {
				return c, size, 0, true
			}
			align = min(align, l.align)
			return c, size, -l.total & (align - 1), true
		}
	}
	return 0, 0, 0, false
}

func (l *layout) size(c byte) int {
	switch c {
	case 'b', 'B', 'x':
		return 1
	case 'h', 'H':
		return 2
	case 'l', 'L', 'T', 'd':
		return 8
	case 'f':
		return 4
	case 's':
		return 0
	case 'c':
		return l.number(1)
	case 'i', 'I':
		n := l.number(4)
		if n > 32 {
			l.s.Throwf("integral size %d is larger than limit of %d", n, 32)
		}
		return n
	}
	return 0 // pack and unpack refuse the option
}

// unknown raises the error for an unknown option.
func (l *layout) unknown(c byte) {
	l.s.BadArgument(1, "invalid format option '"+string([]byte{c})+"'")
}

func (l *layout) ordered(b []byte) []byte {
	if l.big {
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	return b
}

// integer returns the low size bytes of a number; bytes beyond the eighth are 0.
func (l *layout) integer(n float64, size int) []byte {
	v := lua.Unsigned(n)
	b := make([]byte, size)
	for i := range min(size, 8) {
		b[i] = byte(v >> (8 * i))
	}
	return l.ordered(b)
}

func structPack(s *lua.State, args []lua.Value) []lua.Value {
	l := newLayout(s, s.CheckString(args, 1))
	args = append(args[:len(args):len(args)], lua.Nil) // the reference implementation ends them with nil
	out := s.Buffer()
	defer out.Close()
	arg := 2
	for {
		c, size, pad, ok := l.next()
		if !ok {
			break
		}
		for range pad {
			out.Byte(0)
		}
		switch c {
		case 'x':
			out.Byte(0)
		case 'f':
			out.Bytes(l.ordered(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(s.CheckNumber(args, arg))))))
			arg++
		case 'd':
			out.Bytes(l.ordered(binary.LittleEndian.AppendUint64(nil, math.Float64bits(s.CheckNumber(args, arg)))))
			arg++
		case 'c', 's':
			text := s.CheckString(args, arg)
			if c == 's' || size == 0 {
				size = len(text)
			}
			if len(text) < size {
				s.BadArgument(arg+1, "string too short")
			}
			arg++
			out.String(text[:size])
			if c == 's' {
				out.Byte(0)
			}
		default:
			if strings.IndexByte("bBhHlLTiI", c) < 0 {
				l.unknown(c)
			}
			out.Bytes(l.integer(s.CheckNumber(args, arg), size))
			arg++
		}
		l.total = out.Len()
	}
	return s.One(out.Value())
}

// checkSize throws an error unless data has size bytes at pos.
func checkSize(s *lua.State, data string, pos, size int) {
	if pos < 0 || size < 0 || size > len(data) || pos > len(data)-size {
		s.BadArgument(2, "data string too short")
	}
}

// popSize removes the last of vs, the size of a c0, and returns it.
func popSize(s *lua.State, vs []lua.Value) (int, []lua.Value) {
	n, isNumber := 0.0, false
	if len(vs) > 0 {
		n, isNumber = vs[len(vs)-1].AsNumber()
	}
	if !isNumber {
		s.Throw("format 'c0' needs a previous size")
	}
	return lua.Integer(n), vs[:len(vs)-1]
}

func structUnpack(s *lua.State, args []lua.Value) []lua.Value {
	l := newLayout(s, s.CheckString(args, 1))
	data := s.CheckString(args, 2)
	pos := s.OptInteger(args, 3, 1) - 1
	if pos == -1 {
		s.BadArgument(3, "offset must be 1 or greater")
	}
	l.limit = len(data)
	var vs []lua.Value
	for {
		l.total = pos
		c, size, pad, ok := l.next()
		if !ok {
			break
		}
		pos += pad
		checkSize(s, data, pos, size)
		if len(args)+len(vs)+2 > maxStack {
			s.Throw("stack overflow (too many results)")
		}
		switch c {
		case 'x':
		case 'f':
			vs = append(vs, lua.Number(float64(math.Float32frombits(binary.LittleEndian.Uint32(l.ordered([]byte(data[pos:pos+4])))))))
		case 'd':
			vs = append(vs, lua.Number(math.Float64frombits(binary.LittleEndian.Uint64(l.ordered([]byte(data[pos:pos+8]))))))
		case 'c':
			if size == 0 { // the number before is the length
				size, vs = popSize(s, vs)
				checkSize(s, data, pos, size)
			}
			vs = append(vs, lua.String(data[pos:pos+size]))
		case 's':
			n := strings.IndexByte(data[pos:], 0)
			if n < 0 {
				s.Throw("unfinished string in data")
			}
			vs = append(vs, lua.String(data[pos:pos+n]))
			size = n + 1
		default:
			if strings.IndexByte("bBhHlLTiI", c) < 0 {
				l.unknown(c)
			}
			vs = append(vs, lua.Number(l.decoded([]byte(data[pos:pos+size]), c >= 'a')))
		}
		pos += size
	}
	return append(vs, lua.Number(float64(pos+1)))
}

// decoded returns the integer in the bytes of b.
func (l *layout) decoded(b []byte, signed bool) float64 {
	b = l.ordered(b)
	v := uint64(0)
	for i := min(len(b), 8) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	if !signed {
		return float64(v)
	}
	sign := ^uint64(0) << ((len(b)*8 - 1) & 63) // shifted modulo 64, as x86-64 does beyond eight bytes
	if v&sign != 0 {
		v |= sign
	}
	return float64(int64(v))
}

func structSize(s *lua.State, args []lua.Value) []lua.Value {
	l := newLayout(s, s.CheckString(args, 1))
	for {
		c, size, pad, ok := l.next()
		if !ok {
			return s.One(lua.Number(float64(l.total)))
		}
		switch isAlnum := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'; {
		case !isAlnum:
			l.unknown(c)
		case c == 's':
			s.BadArgument(1, "option 's' has no fixed size")
		case c == 'c' && size == 0:
			s.BadArgument(1, "option 'c0' has no fixed size")
		}
		l.total += pad + size
	}
}
