package inspect

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// firsts remembers which page of a scan brought each name. A server brings a name
// again on a later page when its table grew or shrank between the two, and what is
// listed twice is counted twice. It keeps hashes, not names, and no more than
// mostFirsts of them; what comes later may repeat unnoticed.
type firsts struct {
	mu   sync.Mutex
	seed maphash.Seed
	page map[uint64]int32
}

// mostFirsts is how many names are remembered: about 32 MB of them.
const mostFirsts = 1 << 20

func newFirsts() *firsts { return &firsts{seed: maphash.MakeSeed(), page: map[uint64]int32{}} }

// clone is a copy that remembers on its own; nil of nil.
func (f *firsts) clone() *firsts {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &firsts{seed: f.seed, page: maps.Clone(f.page)}
}

// here reports whether page i is where name belongs: the first page that brought it.
func (f *firsts) here(i int, name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := maphash.String(f.seed, name)
	page, known := f.page[h]
	if known && int(page) <= i {
		return int(page) == i
	}
	if known || len(f.page) < mostFirsts {
		f.page[h] = int32(i)
	}
	return true
}

// keep leaves only the rows in chunk i that belong there, each once; all where f is
// nil.
func (f *firsts) keep(i int, c *chunk) {
	if f == nil {
		return
	}
	c.rows = once(f, i, c.rows, func(r record) string { return r[0] })
}

// once is what of list belongs on page i, each once.
func once[T any](f *firsts, i int, list []T, name func(T) string) []T {
	listed := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(e T) bool {
		n := name(e)
		twice := listed[n]
		listed[n] = true
		return twice || !f.here(i, n)
	})
}

// forget forgets the pages behind page i.
func (f *firsts) forget(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for h, page := range f.page {
		if int(page) > i {
			delete(f.page, h)
		}
	}
}
