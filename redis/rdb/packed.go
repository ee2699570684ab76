package rdb

import "encoding/binary"

// Redis stores each small collection as one string: a listpack, or before version 10 a ziplist
// or a zipmap. String elements share the memory of the whole.

const (
	packedEnd = 0xff

	// Redis packs collections up to some hundred elements, or a configured number. An element may
	// take one byte, and a few bytes may decompress to a string of the largest size.
	maxPacked = 1 << 22
)

// packed holds the unread part of a packed collection.
type packed []byte

func (p *packed) take(n uint64) []byte {
	must(n <= uint64(len(*p)))
	b := (*p)[:n:n]
	*p = (*p)[n:]
	return b
}

func (p *packed) byte() byte { return p.take(1)[0] }

// ended reports whether the end mark follows after this number of elements. The mark must be
// the last byte.
func (p *packed) ended(elements int) bool {
	must(len(*p) > 0 && elements <= maxPacked)
	if (*p)[0] != packedEnd {
		return false
	}
	must(len(*p) == 1)
	return true
}

// listpack reads the elements of a listpack: its size, the number of elements, or 65535 for
// more, and each element followed by its length, for walking backwards.
func listpack(b []byte) [][]byte {
	must(len(b) > listpackHeader && uint64(binary.LittleEndian.Uint32(b)) == uint64(len(b)))
	count := int(binary.LittleEndian.Uint16(b[4:]))
	p := packed(b[listpackHeader:])
	var all [][]byte
	for !p.ended(len(all)) {
		before := len(p)
		all = append(all, p.listpackElement())
		size := before - len(p)
		back := p.take(uint64(backLength(size)))
		must(string(back) == string(appendBackLength(nil, size)))
	}
	must(len(all) == count || count == manyElements)
	return all
}

const (
	listpackHeader = 4 + 2
	manyElements   = 65535
)

// The high bits of an element's first byte are its type.
const (
	packInt16 = 0xf1 + iota
	packInt24
	packInt32
	packInt64
)

func (p *packed) listpackElement() []byte {
	b := p.byte()
	switch {
	case b < 0x80:
		return decimal(int64(b))
	case b < 0xc0:
		return p.take(uint64(b & 0x3f))
	case b < 0xe0: // 13 bits
		n := int64(b&0x1f)<<8 | int64(p.byte())
		return decimal(n << 51 >> 51)
	case b < 0xf0:
		return p.take(uint64(b&0x0f)<<8 | uint64(p.byte()))
	}
	switch b {
	case 0xf0:
		return p.take(uint64(binary.LittleEndian.Uint32(p.take(4))))
	case packInt16:
		return decimal(signed(p.take(2)))
	case packInt24:
		return decimal(signed(p.take(3)))
	case packInt32:
		return decimal(signed(p.take(4)))
	case packInt64:
		return decimal(signed(p.take(8)))
	}
	failFormat()
	return nil
}

// backLength returns the number of bytes of the length after an element, seven bits each. The
// limits are Redis's, which wastes the last values.
func backLength(size int) int {
	switch {
	case size <= 127:
		return 1
	case size < 16383:
		return 2
	case size < 2097151:
		return 3
	case size < 268435455:
		return 4
	}
	return 5
}

func appendBackLength(out []byte, size int) []byte {
	for i := backLength(size) - 1; i >= 0; i-- {
		b := byte(size>>(7*i)) & 127
		if i < backLength(size)-1 {
			b |= 128
		}
		out = append(out, b)
	}
	return out
}

// ziplist reads the elements of a ziplist: its size, the offset of the last element, the
// number of elements, or 65535 for more, and each element preceded by the length of the
// previous one.
func ziplist(b []byte) [][]byte {
	const header = 4 + 4 + 2
	must(len(b) > header && uint64(binary.LittleEndian.Uint32(b)) == uint64(len(b)))
	count := int(binary.LittleEndian.Uint16(b[8:]))
	p := packed(b[header:])
	var all [][]byte
	previous, at, last := 0, header, header
	for !p.ended(len(all)) {
		before := len(p)
		length := int(p.byte())
		if length == 254 {
			length = int(binary.LittleEndian.Uint32(p.take(4)))
		}
		must(length == previous)
		all = append(all, p.ziplistElement())
		previous = before - len(p)
		last, at = at, at+previous
	}
	must(uint64(binary.LittleEndian.Uint32(b[4:])) == uint64(last))
	must(len(all) == count || count == manyElements)
	return all
}

func (p *packed) ziplistElement() []byte {
	b := p.byte()
	switch b >> 6 {
	case 0:
		return p.take(uint64(b & 0x3f))
	case 1:
		return p.take(uint64(b&0x3f)<<8 | uint64(p.byte()))
	case 2:
		return p.take(uint64(binary.BigEndian.Uint32(p.take(4))))
	}
	switch b {
	case 0xc0:
		return decimal(signed(p.take(2)))
	case 0xd0:
		return decimal(signed(p.take(4)))
	case 0xe0:
		return decimal(signed(p.take(8)))
	case 0xf0:
		return decimal(signed(p.take(3)))
	case 0xfe:
		return decimal(signed(p.take(1)))
	}
	must(0xf1 <= b && b <= 0xfd)
	return decimal(int64(b&0x0f) - 1)
}

// zipmap reads the fields and values of a zipmap: their number, or 254 for more, and each one
// preceded by its length. A value is followed by unused bytes, and their number precedes it.
func zipmap(b []byte) [][]byte {
	p := packed(b)
	count := int(p.byte())
	var all [][]byte
	for !p.ended(len(all)) {
		all = append(all, p.take(p.zipmapLength()))
		length, unused := p.zipmapLength(), uint64(p.byte())
		all = append(all, p.take(length))
		p.take(unused)
	}
	must(len(all) == 2*count || count == 254)
	return all
}

func (p *packed) zipmapLength() uint64 {
	b := p.byte()
	must(b < 255)
	if b < 254 {
		return uint64(b)
	}
	return uint64(binary.LittleEndian.Uint32(p.take(4)))
}
