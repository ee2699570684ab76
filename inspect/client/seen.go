package client

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// Seen records which page of a scan returned each name first. A server returns a name
// again on a later page if its table was resized in between, and a name listed twice is
// counted twice. Seen stores hashes of at most maxSeen names; duplicates of later names go
// unnoticed.
type Seen struct {
	mu   sync.Mutex
	seed maphash.Seed
	page map[uint64]int32
}

// maxSeen limits the recorded names to about 32 MB.
const maxSeen = 1 << 20

// NewSeen returns an empty Seen.
func NewSeen() *Seen { return &Seen{seed: maphash.MakeSeed(), page: map[uint64]int32{}} }

// Clone returns an independent copy; nil for nil.
func (f *Seen) Clone() *Seen {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Seen{seed: f.seed, page: maps.Clone(f.page)}
}

// Here reports whether page i is the first page that returned name.
func (f *Seen) Here(i int, name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := maphash.String(f.seed, name)
	page, known := f.page[h]
	if known && int(page) <= i {
		return int(page) == i
	}
	if known || len(f.page) < maxSeen {
		f.page[h] = int32(i)
	}
	return true
}

// Once returns the elements of list that page i returned first, without duplicates.
func Once[T any](f *Seen, i int, list []T, name func(T) string) []T {
	listed := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(e T) bool {
		n := name(e)
		twice := listed[n]
		listed[n] = true
		return twice || !f.Here(i, n)
	})
}

// Forget removes the pages after page i.
func (f *Seen) Forget(i int) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for h, page := range f.page {
		if int(page) > i {
			delete(f.page, h)
		}
	}
}
