package lua

import "unsafe"

// Buffer collects a text that a Go function makes. It charges the state before it grows, and counts as held
// until Close.
type Buffer struct {
	s       *State
	text    []byte
	Scratch [64]byte // for the caller to format a number in
}

// Buffer makes an empty buffer. The caller defers Close.
func (s *State) Buffer() *Buffer { return &Buffer{s: s} }

// Close releases the buffer.
func (b *Buffer) Close() {
	b.s.building -= cap(b.text)
	b.text = nil
}

// grow makes room for n more bytes.
func (b *Buffer) grow(n int) {
	const double = 1 << 20 // a larger buffer grows by a quarter
	had, need := cap(b.text), len(b.text)+n
	size := max(need, had+min(had, max(had/4, double)), len(b.Scratch))
	if size > b.s.limit {
		size = need
	}
	b.s.Grow(size)
	b.s.building += size - had
	b.text = append(make([]byte, 0, size), b.text...)
}

// Byte appends a byte.
func (b *Buffer) Byte(c byte) {
	if len(b.text) == cap(b.text) {
		b.grow(1)
	}
	b.text = append(b.text, c)
}

// String appends a text.
func (b *Buffer) String(text string) {
	if len(text) > cap(b.text)-len(b.text) {
		b.grow(len(text))
	}
	b.text = append(b.text, text...)
}

// Bytes appends bytes.
func (b *Buffer) Bytes(text []byte) { b.String(unsafe.String(unsafe.SliceData(text), len(text))) }

// Len returns how many bytes the buffer has.
func (b *Buffer) Len() int { return len(b.text) }

// Value returns the text as a string, and closes the buffer.
func (b *Buffer) Value() Value {
	text := b.text
	if spare := cap(text) - len(text); spare > len(text)/2 {
		b.s.Grow(len(text))
		text = append(make([]byte, 0, len(text)), text...)
	}
	b.Close()
	return stringOf(text)
}

// stringOf returns b as a string without a copy. The caller does not change b again.
func stringOf(b []byte) Value { return String(unsafe.String(unsafe.SliceData(b), len(b))) }
