package resp

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"
)

// Packed holds the elements of a long reply in little memory: a bulk of ten bytes takes eleven, where a Value
// takes 98. It is append-only, and a nil Packed is empty.
type Packed struct {
	pieces [][]byte // rows; none spans two pieces
	order  []place  // nil for the order of Row
	width  int      // elements of a row
	rows   int
	size   int64
}

// place is where a row begins.
type place struct {
	seq        int64
	piece, off uint32
}

// placeBytes is the size of a place.
const placeBytes = 16

// NewPacked returns an empty list of rows with width elements each.
func NewPacked(width int) *Packed { return &Packed{width: width} }

// packedPiece is the length of a piece; a longer row has a piece of its own.
const packedPiece = 256 << 10

// An element begins with a uvarint: packedDouble before eight bytes, or the length of a bulk and packedBulk.
const (
	packedDouble = iota
	packedBulk
)

// Row begins a row, whose elements the caller adds next. size is the number of bytes of its bulks. Rows may be
// sorted by seq later.
func (p *Packed) Row(seq int64, size int) {
	need := size + (p.width+1)*binary.MaxVarintLen64
	if last := len(p.pieces) - 1; last < 0 || cap(p.pieces[last])-len(p.pieces[last]) < need {
		p.pieces = append(p.pieces, make([]byte, 0, max(need, min(packedPiece, int(p.size)+4<<10))))
		p.size += int64(cap(p.pieces[len(p.pieces)-1]))
	}
	p.rows++
	last := &p.pieces[len(p.pieces)-1]
	*last = binary.AppendVarint(*last, seq)
}

// Bulk adds a bulk to the row.
func (p *Packed) Bulk(b []byte) {
	last := &p.pieces[len(p.pieces)-1]
	*last = append(binary.AppendUvarint(*last, uint64(len(b))+packedBulk), b...)
}

// Double adds a double to the row.
func (p *Packed) Double(f float64) {
	last := &p.pieces[len(p.pieces)-1]
	*last = binary.LittleEndian.AppendUint64(append(*last, packedDouble), math.Float64bits(f))
}

// Len returns the number of elements.
func (p *Packed) Len() int {
	if p == nil {
		return 0
	}
	return p.rows * p.width
}

// Size returns the bytes of memory.
func (p *Packed) Size() int64 {
	if p == nil {
		return 0
	}
	return p.size + int64(cap(p.order)*placeBytes)
}

// All returns the elements. A bulk's bytes must not be modified.
func (p *Packed) All() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for at := range p.places() {
			row := p.pieces[at.piece][at.off:]
			_, n := binary.Varint(row)
			row = row[n:]
			for range p.width {
				var v Value
				if v, row = unpack(row); !yield(v) {
					return
				}
			}
		}
	}
}

// places returns the places of the rows, in their order.
func (p *Packed) places() iter.Seq[place] {
	if p.order != nil {
		return slices.Values(p.order)
	}
	return func(yield func(place) bool) {
		for i, piece := range p.pieces {
			for at := 0; at < len(piece); at += p.length(piece[at:]) {
				seq, _ := binary.Varint(piece[at:])
				if !yield(place{seq, uint32(i), uint32(at)}) {
					return
				}
			}
		}
	}
}

// length returns the number of bytes of the row that b begins with.
func (p *Packed) length(b []byte) int {
	_, at := binary.Varint(b)
	for range p.width {
		head, n := binary.Uvarint(b[at:])
		if at += n; head == packedDouble {
			at += 8
		} else {
			at += int(head - packedBulk)
		}
	}
	return at
}

func unpack(b []byte) (v Value, rest []byte) {
	head, n := binary.Uvarint(b)
	if b = b[n:]; head == packedDouble {
		return MakeDouble(math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
	}
	n = int(head - packedBulk)
	return MakeBulk(b[:n:n]), b[n:]
}

// SortBytes returns the bytes that Sort, SortBy and Reverse allocate.
func (p *Packed) SortBytes() int64 { return int64(p.rows) * placeBytes }

// Sort sorts the rows by their seq. It calls step for each comparison.
func (p *Packed) Sort(step func(int)) {
	p.list()
	slices.SortFunc(p.order, func(a, b place) int {
		step(1)
		return cmp.Compare(a.seq, b.seq)
	})
}

// SortBy sorts the rows by a key of their first element, a bulk, and rows with the same key by compare. It calls step for
// each comparison.
func (p *Packed) SortBy(key func(bulk []byte) int64, compare func(a, b []byte) int, step func(int)) {
	p.list()
	for i := range p.order {
		p.order[i].seq = key(p.first(p.order[i]))
	}
	slices.SortFunc(p.order, func(a, b place) int {
		step(1)
		if c := cmp.Compare(a.seq, b.seq); c != 0 {
			return c
		}
		return compare(p.first(a), p.first(b))
	})
}

// first returns the first element of a row.
func (p *Packed) first(at place) []byte {
	row := p.pieces[at.piece][at.off:]
	_, n := binary.Varint(row)
	v, _ := unpack(row[n:])
	return v.Str
}

// Reverse reverses the rows.
func (p *Packed) Reverse() {
	p.list()
	slices.Reverse(p.order)
}

// list makes order.
func (p *Packed) list() {
	if p.order == nil {
		p.order = slices.AppendSeq(make([]place, 0, p.rows), p.places())
	}
}

// Filter keeps the rows whose first element, a bulk, satisfies keep. It must precede Sort and Reverse. After a panic
// of keep, Filter may be called again.
func (p *Packed) Filter(keep func([]byte) bool) {
	var spare []byte
	for i, piece := range p.pieces {
		kept, rows := spare[:0], 0
		for at := 0; at < len(piece); {
			n := p.length(piece[at:])
			_, skip := binary.Varint(piece[at:])
			if first, _ := unpack(piece[at+skip:]); keep(first.Str) {
				kept = append(kept, piece[at:at+n]...)
			} else {
				rows++
			}
			at += n
		}
		if rows > 0 {
			p.pieces[i], spare = kept, piece
			p.rows -= rows
		} else {
			spare = kept
		}
	}
}

// Unpacked returns v with its elements in Elems.
func (v Value) Unpacked() Value {
	if v.Packed != nil {
		v.Elems = slices.AppendSeq(make([]Value, 0, v.Packed.Len()), v.Packed.All())
		v.Packed = nil
	}
	return v
}

// Len returns the number of elements of an aggregate.
func (v *Value) Len() int { return len(v.Elems) + v.Packed.Len() }
