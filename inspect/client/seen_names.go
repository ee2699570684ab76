package client

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// SeenNames records which page of a scan returned each name first. A server returns a name
// again on a later page if its table was resized in between, and a name listed twice is
// counted twice. SeenNames stores hashes of at most maxSeen names; duplicates of later names go
// unnoticed.
type SeenNames struct {
	mu   sync.Mutex
	seed maphash.Seed
	page map[uint64]int32
}

// maxSeen limits the recorded names to about 32 MB.
const maxSeen = 1 << 20

// NewSeenNames returns an empty SeenNames.
func NewSeenNames() *SeenNames { return &SeenNames{seed: maphash.MakeSeed(), page: map[uint64]int32{}} }

// Clone returns an independent copy; nil for nil.
func (f *SeenNames) Clone() *SeenNames {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &SeenNames{seed: f.seed, page: maps.Clone(f.page)}
}

// IsFirst reports whether page i is the first page that returned name.
func (f *SeenNames) IsFirst(i int, name string) bool {
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

// Unseen returns the elements of list that page i returned first, without duplicates.
func Unseen[T any](f *SeenNames, i int, list []T, name func(T) string) []T {
	listed := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(e T) bool {
		n := name(e)
		twice := listed[n]
		listed[n] = true
		return twice || !f.IsFirst(i, n)
	})
}

// Forget removes the pages after page i.
func (f *SeenNames) Forget(i int) {
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
