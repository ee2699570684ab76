package rdb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
)

// Limits of the compact forms. They are Redis's defaults.
const (
	compactSet     = 512  // integers
	compactStrings = 128  // members of other sets
	compactHash    = 128  // fields
	compactZSet    = 128  // members
	compactElement = 64   // bytes
	nodeSize       = 8192 // bytes per node of a list, unless one element is larger
)

// appendLength appends a length or another number.
func appendLength(out []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(out, byte(n))
	case n < 1<<14:
		return append(out, length14<<6|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(out, length32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(out, length64), n)
}

// appendBytes appends a string, a small integer in compact form.
func appendBytes(out, b []byte) []byte {
	n, ok := integer(b)
	switch {
	case ok && int64(int8(n)) == n:
		return append(out, lengthEncoded<<6|encodedInt8, byte(n))
	case ok && int64(int16(n)) == n:
		return binary.LittleEndian.AppendUint16(append(out, lengthEncoded<<6|encodedInt16), uint16(n))
	case ok && int64(int32(n)) == n:
		return binary.LittleEndian.AppendUint32(append(out, lengthEncoded<<6|encodedInt32), uint32(n))
	}
	return append(appendLength(out, uint64(len(b))), b...)
}

// appendValue appends the type of v and v. Only a string or a stream may be empty.
func appendValue(out []byte, v Value) []byte { return v.append(out) }

// integer parses a decimal integer in canonical form: formatting it gives the same text.
func integer(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil && bytes.Equal(decimal(n), b)
}

func (s String) append(out []byte) []byte { return appendBytes(append(out, typeString), s) }

func (l List) append(out []byte) []byte {
	nodes, n := l.appendNodes(nil)
	return append(appendLength(append(out, typeQuicklist2), n), nodes...)
}

// appendNodes appends the list's nodes, and returns their number.
func (l List) appendNodes(out []byte) (_ []byte, nodes uint64) {
	for node := range l.nodes() {
		out = appendBytes(appendLength(out, packedNode), node())
		nodes++
	}
	return out, nodes
}

// packedNode marks a list node that is a listpack.
const packedNode = 2

// nodes yields a function per node that builds its listpack. A large element has its own node.
func (l List) nodes() iter.Seq[func() []byte] {
	return func(yield func(func() []byte) bool) {
		for start, end := 0, 0; start < len(l); start = end {
			node := newListpack()
			pack := node.end
			if end = start + 1; len(l[start]) > nodeSize {
				pack = func() []byte {
					node = newListpackFor(l[start])
					node.add(l[start])
					return node.end()
				}
			} else {
				node.add(l[start])
				for ; end < len(l) && len(node.b)+len(l[end]) <= nodeSize; end++ {
					node.add(l[end])
				}
			}
			if !yield(pack) {
				return
			}
		}
	}
}

func (s Set) append(out []byte) []byte {
	if b := s.intset(); b != nil {
		return appendBytes(append(out, typeSetIntset), b)
	}
	return s.appendMembers(appendLength(append(out, typeSet), uint64(len(s))))
}

// dump encodes the set as Redis 7.2 and later do.
func (s Set) dump() []byte {
	small := len(s) <= compactStrings && s.intset() == nil
	p := newListpack()
	for _, m := range s {
		small = small && len(m) <= compactElement
		if !small {
			return s.append(nil)
		}
		p.add(m)
	}
	return appendBytes([]byte{typeSetListpack}, p.end())
}

func (s Set) appendMembers(out []byte) []byte {
	for _, m := range s {
		out = appendBytes(out, m)
	}
	return out
}

// intset returns the set as an intset, or nil if it is too large or not all integers.
func (s Set) intset() []byte {
	if len(s) > compactSet {
		return nil
	}
	ints := make([]int64, len(s))
	for i, m := range s {
		var ok bool
		if ints[i], ok = integer(m); !ok {
			return nil
		}
	}
	slices.Sort(ints)
	width := 2
	for _, n := range ints {
		switch {
		case int64(int32(n)) != n:
			width = 8
		case int64(int16(n)) != n:
			width = max(width, 4)
		}
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(width))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(ints)))
	for _, n := range ints {
		out = append(out, binary.LittleEndian.AppendUint64(nil, uint64(n))[:width]...)
	}
	return out
}

func (h Hash) append(out []byte) []byte {
	small, first := len(h) <= compactHash, h.firstExpiry()
	for _, f := range h {
		small = small && len(f.Name) <= compactElement && len(f.Value) <= compactElement
	}
	switch {
	case first > 0:
		return h.appendExpiry(out, first)
	case small:
		p := newListpack()
		for _, f := range h {
			p.add(f.Name)
			p.add(f.Value)
		}
		return appendBytes(append(out, typeHashListpack), p.end())
	}
	out = appendLength(append(out, typeHash), uint64(len(h)))
	for _, f := range h {
		out = appendBytes(appendBytes(out, f.Name), f.Value)
	}
	return out
}

// firstExpiry returns the earliest expiry of a field, or 0 if none expires.
func (h Hash) firstExpiry() (first int64) {
	for _, f := range h {
		if f.ExpiresAt > 0 && (first == 0 || f.ExpiresAt < first) {
			first = f.ExpiresAt
		}
	}
	return first
}

// appendExpiry writes each field preceded by its expiry: 0 for never, or relative to the first
// expiry, plus one.
func (h Hash) appendExpiry(out []byte, first int64) []byte {
	out = binary.LittleEndian.AppendUint64(append(out, typeHashExpiry), uint64(first))
	out = appendLength(out, uint64(len(h)))
	for _, f := range h {
		out = f.appendExpiry(out, first)
	}
	return out
}

func (f *Field) appendExpiry(out []byte, first int64) []byte {
	return appendBytes(appendBytes(f.appendOffset(out, first), f.Name), f.Value)
}

func (f *Field) appendOffset(out []byte, first int64) []byte {
	at := uint64(0)
	if f.ExpiresAt > 0 {
		at = uint64(f.ExpiresAt-first) + 1
	}
	return appendLength(out, at)
}

// sorted returns the members by score and name.
func (z ZSet) sorted() ZSet {
	sorted := slices.Clone(z)
	slices.SortFunc(sorted, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), bytes.Compare(a.Name, b.Name))
	})
	return sorted
}

func (z ZSet) append(out []byte) []byte {
	sorted, small := z.sorted(), len(z) <= compactZSet
	for _, m := range z {
		small = small && len(m.Name) <= compactElement
	}
	if small {
		p := newListpack()
		for _, m := range sorted {
			p.add(m.Name)
			p.add([]byte(resp.FormatDouble(m.Score)))
		}
		return appendBytes(append(out, typeZSetListpack), p.end())
	}
	return sorted.appendMembers(appendLength(append(out, typeZSet2), uint64(len(z))))
}

func (z ZSet) appendMembers(out []byte) []byte {
	for _, m := range z {
		out = binary.LittleEndian.AppendUint64(appendBytes(out, m.Name), math.Float64bits(m.Score))
	}
	return out
}

// listpackWriter builds a listpack.
type listpackWriter struct {
	b     []byte
	count int
}

func newListpack() listpackWriter { return listpackWriter{b: make([]byte, listpackHeader)} }

// newListpackFor allocates space for large elements, so they are copied once.
func newListpackFor(elements ...[]byte) listpackWriter {
	const beside = 16 // bytes of overhead per element
	n := listpackHeader + 1
	for _, e := range elements {
		if len(e) >= nodeSize {
			n += len(e) + beside
		}
	}
	return listpackWriter{b: make([]byte, listpackHeader, n)}
}

// end completes the listpack and returns it.
func (p *listpackWriter) end() []byte {
	p.b = append(p.b, packedEnd)
	binary.LittleEndian.PutUint32(p.b, uint32(len(p.b)))
	binary.LittleEndian.PutUint16(p.b[4:], uint16(min(p.count, manyElements)))
	return p.b
}

// add appends an element.
func (p *listpackWriter) add(e []byte) {
	if n, ok := integer(e); ok {
		p.addInt(n)
		return
	}
	p.element(func(b []byte) []byte {
		switch n := len(e); {
		case n < 1<<6:
			b = append(b, 0x80|byte(n))
		case n < 1<<12:
			b = append(b, 0xe0|byte(n>>8), byte(n))
		default:
			b = binary.LittleEndian.AppendUint32(append(b, 0xf0), uint32(n))
		}
		return append(b, e...)
	})
}

func (p *listpackWriter) addInt(n int64) {
	p.element(func(b []byte) []byte {
		bytes := binary.LittleEndian.AppendUint64(nil, uint64(n))
		switch {
		case 0 <= n && n < 1<<7:
			return append(b, byte(n))
		case -1<<12 <= n && n < 1<<12:
			return append(b, 0xc0|byte(n>>8)&0x1f, byte(n))
		case int64(int16(n)) == n:
			return append(append(b, packInt16), bytes[:2]...)
		case -1<<23 <= n && n < 1<<23:
			return append(append(b, packInt24), bytes[:3]...)
		case int64(int32(n)) == n:
			return append(append(b, packInt32), bytes[:4]...)
		}
		return append(append(b, packInt64), bytes...)
	})
}

// element appends an element written by write, followed by its length.
func (p *listpackWriter) element(write func([]byte) []byte) {
	before := len(p.b)
	p.b = write(p.b)
	p.b = appendBackLength(p.b, len(p.b)-before)
	p.count++
}
