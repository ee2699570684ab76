package sketch

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/meowdis/meowdis/redis/rdb"
)

// Bloom holds a scaling Bloom filter: a chain of filters, each larger than the one before.
type Bloom struct {
	Items   uint64 // added to all filters
	Options uint32
	Growth  uint32 // the entries of a new filter per entry of the one before
	Filters []BloomFilter
	Body    *Body // the bits of all filters, one after another
}

// BloomFilter describes one filter of a Bloom.
type BloomFilter struct {
	Bytes, Bits  uint64 // Bits is the modulus of the hashes
	Items        uint64
	Error        float64
	BitsPerEntry float64
	Hashes       uint32
	Entries      uint64
	N2           uint8 // the modulus is 1<<N2 instead, unless N2 is 0
}

// The options of a Bloom filter.
const (
	bloomExact      = 1 // the bits are not rounded to a power of two
	bloomHash64     = 4
	bloomNonScaling = 8
	bloomOptions    = 15
)

const (
	ln2Squared = 0.480453013918201
	ln2        = 0.693147180559945
	// maxHashes exceeds the hashes for any error rate.
	maxHashes = 2048

	bloomHead, bloomFilterHead = 20, 53
	bloomVersion               = 4
)

var (
	// ErrFull reports adding to a full filter that does not scale.
	ErrFull = errors.New("non scaling filter is full")
	// ErrTooLarge reports a sketch that would exceed MaxBytes.
	ErrTooLarge = errors.New("insufficient memory")
)

// NewBloom returns an empty filter for capacity entries. growth is used if it scales.
func NewBloom(rate float64, capacity, growth uint32, scales bool) (*Bloom, error) {
	b := &Bloom{Options: bloomExact | bloomHash64, Growth: growth, Body: EmptyBody()}
	if scales {
		rate *= 0.5
	} else {
		b.Options |= bloomNonScaling
	}
	return b, b.addFilter(uint64(capacity), rate)
}

// Scales reports whether a full filter gets another one.
func (b *Bloom) Scales() bool { return b.Options&bloomNonScaling == 0 }

// addFilter appends an empty filter.
func (b *Bloom) addFilter(entries uint64, rate float64) error {
	f := BloomFilter{Entries: entries, Error: rate, BitsPerEntry: math.Abs(math.Log(rate)) / ln2Squared}
	bits := math.Trunc(float64(entries) * f.BitsPerEntry)
	if !(bits <= 8*MaxBytes) || rate <= 0 {
		return ErrTooLarge
	}
	f.Bytes = (uint64(max(bits, 1)) + 63) / 64 * 8
	f.Bits = 8 * f.Bytes
	f.Hashes = uint32(math.Ceil(ln2 * f.BitsPerEntry))
	b.Body.endAt(b.bytes())
	b.Filters = append(b.Filters, f)
	return nil
}

// bytes returns the length of the body.
func (b *Bloom) bytes() (n int64) {
	for i := range b.Filters {
		n += int64(b.Filters[i].Bytes)
	}
	return n
}

// Memory returns the bytes that Redis's filter takes.
func (b *Bloom) Memory() int64 { return 32 + 64*int64(len(b.Filters)) + b.bytes() }

// Capacity returns the number of entries of all filters.
func (b *Bloom) Capacity() (n uint64) {
	for i := range b.Filters {
		n += b.Filters[i].Entries
	}
	return n
}

// BloomHash holds the two hashes of an item.
type BloomHash struct{ a, b uint64 }

// Hash returns the hashes of an item.
func (b *Bloom) Hash(item []byte) BloomHash {
	if b.Options&bloomHash64 == 0 {
		const seed = 0x9747b28c
		first := murmur32(item, seed)
		return BloomHash{uint64(first), uint64(murmur32(item, first))}
	}
	const seed = 0xc6a4a7935bd1e995
	first := murmur64(item, seed)
	return BloomHash{first, murmur64(item, first)}
}

// bit returns the i-th bit of an item in a filter.
func (b *Bloom) bit(f *BloomFilter, h BloomHash, i uint32) int64 {
	at := h.a + uint64(i)*h.b
	switch {
	case f.N2 == 0:
		return int64(at % f.Bits)
	case b.Options&bloomHash64 == 0 && f.N2 < 32:
		at = uint64(uint32(at))
	}
	return int64(at & (1<<f.N2 - 1))
}

// Ready reports whether the blocks with the item's bits are loaded.
func (b *Bloom) Ready(h BloomHash) bool {
	ok, start := true, int64(0)
	for i := range b.Filters {
		f := &b.Filters[i]
		for n := range f.Hashes {
			ok = b.Body.ready(start+b.bit(f, h, n)/8, 1) && ok
		}
		start += int64(f.Bytes)
	}
	return ok
}

// Has reports whether the item may have been added. Its blocks must be ready.
func (b *Bloom) Has(h BloomHash) bool {
	start := b.bytes()
	for i := len(b.Filters) - 1; i >= 0; i-- {
		f := &b.Filters[i]
		start -= int64(f.Bytes)
		if b.inFilter(f, start, h) {
			return true
		}
	}
	return false
}

func (b *Bloom) inFilter(f *BloomFilter, start int64, h BloomHash) bool {
	for n := range f.Hashes {
		bit := b.bit(f, h, n)
		if b.Body.byteAt(start+bit/8)&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// Add adds an item, and reports whether it is new. done is false if blocks must be loaded first.
func (b *Bloom) Add(h BloomHash) (added, done bool, err error) {
	if !b.Ready(h) {
		return false, false, nil
	}
	if b.Has(h) {
		return false, true, nil
	}
	last := &b.Filters[len(b.Filters)-1]
	if last.Items >= last.Entries {
		if !b.Scales() {
			return false, true, ErrFull
		}
		if err := b.addFilter(last.Entries*uint64(b.Growth), last.Error*0.5); err != nil {
			return false, true, err
		}
		last = &b.Filters[len(b.Filters)-1]
		if !b.Ready(h) { // the new filter begins in the last block of the one before
			return false, false, nil
		}
	}
	start := b.bytes() - int64(last.Bytes)
	for n := range last.Hashes {
		bit := b.bit(last, h, n)
		b.Body.setByte(start+bit/8, b.Body.byteAt(start+bit/8)|1<<(bit%8))
	}
	last.Items++
	b.Items++
	return true, true, nil
}

// Head returns the header of BF.SCANDUMP.
func (b *Bloom) Head() []byte {
	out := binary.LittleEndian.AppendUint64(nil, b.Items)
	for _, n := range []uint32{uint32(len(b.Filters)), b.Options, b.Growth} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	for _, f := range b.Filters {
		for _, n := range []uint64{f.Bytes, f.Bits, f.Items, math.Float64bits(f.Error), math.Float64bits(f.BitsPerEntry)} {
			out = binary.LittleEndian.AppendUint64(out, n)
		}
		out = binary.LittleEndian.AppendUint32(out, f.Hashes)
		out = append(binary.LittleEndian.AppendUint64(out, f.Entries), f.N2)
	}
	return out
}

// ParseBloom parses a header of BF.SCANDUMP. ok is false for a filter that BF.LOADCHUNK refuses.
func ParseBloom(head []byte, body *Body) (b *Bloom, ok bool) {
	if len(head) < bloomHead || (len(head)-bloomHead)%bloomFilterHead != 0 {
		return nil, false
	}
	b = &Bloom{Items: binary.LittleEndian.Uint64(head), Options: binary.LittleEndian.Uint32(head[12:]), Growth: binary.LittleEndian.Uint32(head[16:]), Body: body}
	filters := int(binary.LittleEndian.Uint32(head[8:]))
	if head = head[bloomHead:]; filters == 0 || filters != len(head)/bloomFilterHead {
		return nil, false
	}
	for ; len(head) > 0; head = head[bloomFilterHead:] {
		number := func(i int) uint64 { return binary.LittleEndian.Uint64(head[i:]) }
		b.Filters = append(b.Filters, BloomFilter{
			Bytes: number(0), Bits: number(8), Items: number(16), Error: math.Float64frombits(number(24)), BitsPerEntry: math.Float64frombits(number(32)),
			Hashes: binary.LittleEndian.Uint32(head[40:]), Entries: number(44), N2: head[52],
		})
	}
	return b, b.valid()
}

// valid reports whether the fields of a decoded filter agree with each other.
func (b *Bloom) valid() bool {
	items := uint64(0)
	for _, f := range b.Filters {
		items += f.Items
		switch {
		case !(f.Error > 0 && f.Error < 1), f.N2 > 63, f.N2 > 0 && f.Bits < 1<<f.N2, f.Bits == 0, f.Bytes > MaxBytes, f.Bits > 8*f.Bytes:
			return false
		case f.Hashes == 0, f.Hashes > maxHashes, float64(f.Hashes) != math.Ceil(ln2*f.BitsPerEntry):
			return false
		}
	}
	return len(b.Filters) > 0 && b.Options&^bloomOptions == 0 && items == b.Items
}

// Exact reports whether each filter uses all bits of its bytes, as BF.LOADCHUNK requires.
func (b *Bloom) Exact() bool {
	for _, f := range b.Filters {
		if f.Bits != 8*f.Bytes {
			return false
		}
	}
	return true
}

// maxChunk limits a chunk of SCANDUMP.
const maxChunk = 16 << 20

// Chunk returns the place and the length of the chunk of BF.SCANDUMP at an offset: up to the end of the filter. n is 0
// outside the filters.
func (b *Bloom) Chunk(off int64) (n int64) {
	for _, f := range b.Filters {
		if off >= 0 && off < int64(f.Bytes) {
			return min(int64(f.Bytes)-off, maxChunk)
		}
		off -= int64(f.Bytes)
	}
	return 0
}

// Rest returns the number of bytes from an offset to the end of its filter, 0 outside the filters.
func (b *Bloom) Rest(off int64) int64 {
	for _, f := range b.Filters {
		if off >= 0 && off < int64(f.Bytes) {
			return int64(f.Bytes) - off
		}
		off -= int64(f.Bytes)
	}
	return 0
}

// Len returns the number of bytes of all filters.
func (b *Bloom) Len() int64 { return b.bytes() }

// Dump returns the value of a dump file. The whole body must be loaded.
func (b *Bloom) Dump() *rdb.Module {
	m := &rdb.Module{Name: BloomName, Version: bloomVersion}
	m.Numbers(b.Items, uint64(len(b.Filters)), uint64(b.Options), uint64(b.Growth))
	start := int64(0)
	for _, f := range b.Filters {
		m.Numbers(f.Entries)
		m.Double(f.Error)
		m.Numbers(uint64(f.Hashes))
		m.Double(f.BitsPerEntry)
		m.Numbers(f.Bits, uint64(f.N2))
		m.String(b.Body.Bytes(start, int64(f.Bytes)))
		m.Numbers(f.Items)
		start += int64(f.Bytes)
	}
	return m
}

// bloomOf converts the value of a dump file.
func bloomOf(m *rdb.Module) (*Bloom, bool) {
	r := m.Reader()
	b := &Bloom{Items: r.Number(), Growth: 2, Body: EmptyBody()}
	filters := r.Number()
	if m.Version >= 2 {
		b.Options = uint32(r.Number())
	}
	if m.Version >= bloomVersion {
		b.Growth = uint32(r.Number())
	}
	start := int64(0)
	for ; filters > 0 && r.More(); filters-- {
		f := BloomFilter{Entries: r.Number(), Error: r.Double(), Hashes: uint32(r.Number()), BitsPerEntry: r.Double()}
		if m.Version > 0 {
			f.Bits = r.Number()
			f.N2 = uint8(min(r.Number(), math.MaxUint8))
		} else {
			f.Bits = uint64(float64(f.Entries) * f.BitsPerEntry)
		}
		bits := r.String()
		f.Bytes, f.Items = uint64(len(bits)), r.Number()
		b.Body.Write(start, bits)
		start += int64(len(bits))
		b.Filters = append(b.Filters, f)
	}
	return b, filters == 0 && r.Done() && b.valid()
}
