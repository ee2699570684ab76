package sketch

import (
	"bytes"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
)

// BlockBytes counts the bytes of a block. Four blocks of this size fit into a page of a SQLite file. It is a multiple of
// 16, so that no counter or node is in two blocks.
const BlockBytes = 960

// Body holds the bytes of a sketch, in numbered blocks. A block that is not stored is all zeros. Blocks below 0 are not
// part of the bytes.
type Body struct {
	// Meter charges the work on the bytes; nil for no limits.
	Meter Meter

	blocks map[int64]*block
	wanted map[int64]bool // blocks that an operation needs and that are not loaded
	empty  int64          // blocks from this one on are not stored
	whole  bool           // all stored blocks are loaded
}

// Meter limits a computation. Its methods panic when a limit is exceeded.
type Meter interface {
	// Step charges n steps.
	Step(n int)
	// Grow charges n bytes before they are allocated.
	Grow(n int64)
}

// blockMemory counts the bytes of a block besides its data, and wantedMemory the bytes of a wanted one.
const (
	blockMemory  = 80
	wantedMemory = 48
)

func (b *Body) step(n int) {
	if b.Meter != nil {
		b.Meter.Step(n)
	}
}

func (b *Body) grow(n int64) {
	if b.Meter != nil {
		b.Meter.Grow(n)
	}
}

type block struct {
	data    []byte // BlockBytes, nil for all zeros
	stored  bool
	changed bool
}

// NewBody returns a body whose blocks must be loaded before they are used.
func NewBody() *Body {
	return &Body{blocks: map[int64]*block{}, wanted: map[int64]bool{}, empty: 1 << 62}
}

// EmptyBody returns a body of zeros without stored blocks.
func EmptyBody() *Body {
	b := NewBody()
	b.empty = 0
	return b
}

// BodyOf returns a body with the bytes, which are not stored.
func BodyOf(data []byte) *Body {
	b := EmptyBody()
	b.Write(0, data)
	return b
}

// Load sets block i to its stored bytes, which may lack zeros at the end.
func (b *Body) Load(i int64, data []byte) {
	if i < 0 {
		b.grow(int64(len(data)) + blockMemory)
		b.blocks[i] = &block{data: bytes.Clone(data), stored: true}
		return
	}
	b.grow(BlockBytes + blockMemory)
	full := make([]byte, BlockBytes)
	copy(full, data)
	b.blocks[i] = &block{data: full, stored: true}
	delete(b.wanted, i)
}

// replace sets block i, which is below 0 and has any length. No data deletes it.
func (b *Body) replace(i int64, data []byte) {
	at := b.blocks[i]
	if at == nil {
		at = &block{}
		b.blocks[i] = at
	}
	b.grow(int64(len(data)) + blockMemory)
	at.data, at.changed = data, true
}

// Loaded records that Load was called for each of the blocks that is stored.
func (b *Body) Loaded(blocks []int64) {
	for _, i := range blocks {
		if b.blocks[i] == nil {
			b.grow(blockMemory)
			b.blocks[i] = &block{}
		}
		delete(b.wanted, i)
	}
}

// LoadedAll records that all stored blocks have been loaded.
func (b *Body) LoadedAll() {
	b.whole = true
	clear(b.wanted)
}

// Wanted returns the numbers of the blocks that operations need, in order.
func (b *Body) Wanted() []int64 { return slices.Sorted(maps.Keys(b.wanted)) }

// Changed yields the blocks that differ from the stored ones, in order, without the zeros at their end, and whether
// each is stored. A block of zeros has no bytes.
func (b *Body) Changed() iter.Seq2[int64, ChangedBlock] {
	return func(yield func(int64, ChangedBlock) bool) {
		for _, i := range slices.Sorted(maps.Keys(b.blocks)) {
			at := b.blocks[i]
			data := at.data
			if i >= 0 {
				data = bytes.TrimRight(data, "\x00")
			}
			if at.changed && !yield(i, ChangedBlock{data, at.stored}) {
				return
			}
		}
	}
}

// ChangedBlock holds a block of Body.Changed.
type ChangedBlock struct {
	Data   []byte
	Stored bool
}

// endAt records that no block is stored beyond the first end bytes.
func (b *Body) endAt(end int64) { b.empty = min(b.empty, (end+BlockBytes-1)/BlockBytes) }

// ready reports whether the n bytes at off are loaded. It records the missing blocks as wanted.
func (b *Body) ready(off, n int64) bool {
	ok := true
	for i := off / BlockBytes; i*BlockBytes < off+n; i++ {
		b.step(1)
		if b.whole || i >= b.empty || b.blocks[i] != nil {
			continue
		}
		if ok = false; !b.wanted[i] {
			b.grow(wantedMemory)
			b.wanted[i] = true
		}
	}
	return ok
}

// at returns n bytes at off for reading, nil for zeros. They are in one block, which must be ready.
func (b *Body) at(off, n int64) []byte {
	b.step(1)
	if at := b.blocks[off/BlockBytes]; at != nil && at.data != nil {
		return at.data[off%BlockBytes:][:n]
	}
	return nil
}

// edit returns n bytes at off for writing.
func (b *Body) edit(off, n int64) []byte {
	i := off / BlockBytes
	at := b.blocks[i]
	if at == nil {
		at = &block{}
		b.blocks[i] = at
	}
	if at.data == nil {
		b.grow(BlockBytes + blockMemory)
		at.data = make([]byte, BlockBytes)
	}
	at.changed = true
	return at.data[off%BlockBytes:][:n]
}

func (b *Body) byteAt(off int64) byte {
	if p := b.at(off, 1); p != nil {
		return p[0]
	}
	return 0
}

func (b *Body) setByte(off int64, v byte) {
	if b.byteAt(off) != v {
		b.edit(off, 1)[0] = v
	}
}

func (b *Body) uint32At(off int64) uint32 {
	if p := b.at(off, 4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (b *Body) setUint32(off int64, v uint32) {
	if b.uint32At(off) != v {
		binary.LittleEndian.PutUint32(b.edit(off, 4), v)
	}
}

func (b *Body) uint64At(off int64) uint64 {
	if p := b.at(off, 8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (b *Body) setUint64(off int64, v uint64) {
	if b.uint64At(off) != v {
		binary.LittleEndian.PutUint64(b.edit(off, 8), v)
	}
}

// Ready reports whether the n bytes at off are loaded, and records the missing blocks as wanted.
func (b *Body) Ready(off, n int64) bool { return b.ready(off, n) }

// Bytes returns n bytes at off, which must be ready.
func (b *Body) Bytes(off, n int64) []byte {
	b.grow(n)
	out := make([]byte, n)
	for done := int64(0); done < n; {
		part := min(n-done, BlockBytes-(off+done)%BlockBytes)
		copy(out[done:], b.at(off+done, part))
		done += part
	}
	return out
}

// Write replaces the bytes at off, which must be ready.
func (b *Body) Write(off int64, data []byte) {
	for len(data) > 0 {
		part := min(int64(len(data)), BlockBytes-off%BlockBytes)
		old := b.at(off, part)
		same := bytes.Equal(old, data[:part]) || old == nil && len(bytes.TrimLeft(data[:part], "\x00")) == 0
		if !same {
			copy(b.edit(off, part), data)
		}
		off, data = off+part, data[part:]
	}
}
