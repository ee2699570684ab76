package target

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// Seen remembers which page of a scan brought each name. A server brings a name
// again on a later page when its table grew or shrank between the two, and what is
// listed twice is counted twice. It keeps hashes, not names, and no more than
// mostFirsts of them; what comes later may repeat unnoticed.
type Seen struct {
	mu   sync.Mutex
	seed maphash.Seed
	page map[uint64]int32
}

// maxSeen is how many names are remembered: about 32 MB of them.
const maxSeen = 1 << 20

// NewSeen has seen nothing.
func NewSeen() *Seen { return &Seen{seed: maphash.MakeSeed(), page: map[uint64]int32{}} }

// Clone is a copy that remembers on its own; nil of nil.
func (f *Seen) Clone() *Seen {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Seen{seed: f.seed, page: maps.Clone(f.page)}
}

// Here reports whether page i is where name belongs: the first page that brought it.
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

// Once is what of list belongs on page i, each once.
func Once[T any](f *Seen, i int, list []T, name func(T) string) []T {
	listed := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(e T) bool {
		n := name(e)
		twice := listed[n]
		listed[n] = true
		return twice || !f.Here(i, n)
	})
}

// Forget forgets the pages after page i.
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
