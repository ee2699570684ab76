package local

import (
	"iter"
	"math/bits"
)

// PageSet is a set of page numbers, with a bit for each page up to the last. The zero value is empty.
type PageSet struct{ words []uint64 }

// Add adds a page.
func (s *PageSet) Add(page uint32) {
	at := int(page / 64)
	if at >= len(s.words) {
		s.words = append(s.words, make([]uint64, at+1-len(s.words))...)
	}
	s.words[at] |= 1 << (page % 64)
}

// AddAll adds the pages of another set.
func (s *PageSet) AddAll(other PageSet) {
	if more := len(other.words) - len(s.words); more > 0 {
		s.words = append(s.words, make([]uint64, more)...)
	}
	for i, w := range other.words {
		s.words[i] |= w
	}
}

// Len returns the number of pages.
func (s *PageSet) Len() (n int) {
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// All returns the pages in order.
func (s *PageSet) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}
