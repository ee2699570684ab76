package keys

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/keyspace/catalog"
)

// scannedKeys holds the keys that a scan found so far, sorted, for a target without a suitable index.
// It implements client.Keyspace.
type scannedKeys struct {
	mu      sync.Mutex
	order   catalog.Order
	reverse bool
	keys    []scannedKey        // sorted
	seen    map[string]struct{} // the names in keys
	sorted  bool
	named   []scannedKey    // keys by name, and the tree of them in order; nil until requested, and after a change
	levels  *catalog.Levels // for an order other than by name
	bytes   int64           // roughly the memory of the keys
}

// scannedKey stores a key compactly, because there may be a million.
type scannedKey struct {
	name  string
	facts *catalog.Facts // nil while unknown
}

func newGathered(q catalog.Query) *scannedKeys {
	return &scannedKeys{order: q.Order, reverse: q.Reverse, seen: map[string]struct{}{}, sorted: true}
}

// reorder changes the order of the keys.
func (g *scannedKeys) reorder(q catalog.Query) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.order, g.reverse = q.Order, q.Reverse
	g.changed()
}

// changed drops what was computed from the keys. The caller holds mu.
func (g *scannedKeys) changed() { g.sorted, g.named, g.levels = false, nil, nil }

// isByName reports whether keys is in the order of names.
func (g *scannedKeys) isByName() bool { return g.order == catalog.ByName && !g.reverse }

// names returns the keys by name. The caller holds mu.
func (g *scannedKeys) names() []scannedKey {
	if g.isByName() {
		g.sort()
		return g.keys
	}
	if g.named == nil {
		g.named = slices.SortedFunc(slices.Values(g.keys), func(a, b scannedKey) int { return strings.Compare(a.name, b.name) })
	}
	return g.named
}

// add adds keys and skips known ones: targets repeat keys during a scan.
func (g *scannedKeys) add(entries []catalog.Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range entries {
		if _, dup := g.seen[e.Name]; dup {
			continue
		}
		g.seen[e.Name] = struct{}{}
		k := scannedKey{name: e.Name}
		if e.Facts.Type != "" {
			facts := e.Facts
			k.facts = &facts
			g.bytes += factsOverhead
		}
		g.bytes += int64(len(e.Name)) + keyOverhead
		g.keys = append(g.keys, k)
		g.changed()
	}
}

// The memory of a key beside the bytes of its name, and the memory of its facts; both approximate.
const (
	keyOverhead   = 72
	factsOverhead = 80
)

// remove removes a key and reports whether it existed.
func (g *scannedKeys) remove(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, there := g.seen[name]; !there {
		return false
	}
	delete(g.seen, name)
	i := slices.IndexFunc(g.keys, func(k scannedKey) bool { return k.name == name })
	g.keys = slices.Delete(g.keys, i, i+1)
	g.named, g.levels = nil, nil
	return true
}

// byName returns the keys sorted by name, which counting folders needs.
func (g *scannedKeys) byName() *scannedKeys {
	if g.isByName() {
		return g
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return &scannedKeys{keys: slices.Clone(g.keys)}
}

// has reports whether the scan found a key.
func (g *scannedKeys) has(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, found := g.seen[name]
	return found
}

// size returns roughly the memory of the keys in bytes.
func (g *scannedKeys) size() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes
}

func (g *scannedKeys) len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.keys)
}

// sort sorts the keys. The caller holds mu.
func (g *scannedKeys) sort() {
	if g.sorted {
		return
	}
	g.sorted = true
	slices.SortFunc(g.keys, func(a, b scannedKey) int {
		c := g.compare(a, b)
		if g.reverse {
			return -c
		}
		return c
	})
}

func (g *scannedKeys) compare(a, b scannedKey) int {
	if a.facts != nil && b.facts != nil {
		c := 0
		switch g.order {
		case catalog.ByTTL:
			c = cmp.Compare(uint64(a.facts.Expires-1), uint64(b.facts.Expires-1)) // 0 means never and sorts last
		case catalog.BySize:
			c = cmp.Compare(b.facts.Size, a.facts.Size)
		case catalog.ByBytes:
			c = cmp.Compare(b.facts.Bytes, a.facts.Bytes)
		case catalog.ByType:
			c = strings.Compare(a.facts.Type, b.facts.Type)
		case catalog.ByUpdated:
			c = cmp.Compare(b.facts.Updated, a.facts.Updated)
		}
		if c != 0 {
			return c
		}
	}
	return strings.Compare(a.name, b.name)
}

func (k scannedKey) entry() catalog.Entry {
	e := catalog.Entry{Name: k.name, Mark: catalog.Mark{Set: true, Name: k.name}}
	if k.facts != nil {
		e.Facts = *k.facts
	}
	return e
}

// indexOf returns the index of the key of a mark, or its insertion point. there reports whether the key
// exists.
func (g *scannedKeys) indexOf(m catalog.Mark) (i int, there bool) {
	if g.isByName() {
		i = sort.Search(len(g.keys), func(i int) bool { return g.keys[i].name >= m.Name })
		return i, i < len(g.keys) && g.keys[i].name == m.Name
	}
	// A missing key counts as the end; the next reload of the list starts from the first key.
	i = slices.IndexFunc(g.keys, func(k scannedKey) bool { return k.name == m.Name })
	if i < 0 {
		return len(g.keys), false
	}
	return i, true
}

// Page implements client.Keyspace. The keys were already filtered when they were added.
func (g *scannedKeys) Page(_ context.Context, _ catalog.Query, from catalog.Mark, back bool, n int) (catalog.Page, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sort()
	low, high := 0, len(g.keys)
	if i, there := g.indexOf(from); from.Set && back {
		high = i
	} else if from.Set {
		low = i
		if there {
			low++
		}
	}
	p := catalog.Page{End: high-low <= n}
	if back {
		low = max(low, high-n)
	} else {
		high = min(high, low+n)
	}
	for _, k := range g.keys[low:high] {
		p.Entries = append(p.Entries, k.entry())
	}
	if len(p.Entries) > 0 {
		p.Next = p.Entries[len(p.Entries)-1].Mark
		if back {
			p.Next = p.Entries[0].Mark
		}
	}
	return p, nil
}

// bounds returns the index range of the names that start with prefix.
func (g *scannedKeys) bounds(prefix string) (low, high int) {
	low, high = g.indexFrom([]byte(prefix)), len(g.names())
	if end := catalog.PrefixEnd(prefix); end != nil {
		high = g.indexFrom(end)
	}
	return low, high
}

// indexFrom returns the index of the first name not less than bound.
func (g *scannedKeys) indexFrom(bound []byte) int {
	names := g.names()
	return sort.Search(len(names), func(i int) bool { return names[i].name >= string(bound) })
}

// Level implements client.Keyspace.
func (g *scannedKeys) Level(_ context.Context, _ int, prefix, delimiter string, from catalog.Mark, back bool, n int) (catalog.Page, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isByName() {
		return g.orderedLevels(delimiter).Entries(prefix, from, back, n), nil
	}
	g.sort()
	low, high := g.bounds(prefix)
	switch {
	case from.Set && back:
		high = g.indexFrom([]byte(from.Name))
	case from.Set && from.Folder:
		_, low = g.bounds(from.Name)
	case from.Set:
		low = g.indexFrom(append([]byte(from.Name), 0))
	}
	var p catalog.Page
	for low < high && len(p.Entries) < n {
		k := g.keys[low]
		if back {
			k = g.keys[high-1]
		}
		e := k.entry()
		start, end := low, low+1
		if folder := catalog.FolderOf(k.name, prefix, delimiter); folder != "" {
			e = catalog.Entry{Name: folder, Folder: true, Mark: catalog.Mark{Set: true, Name: folder, Folder: true}}
			start, end = g.bounds(folder)
		} else if back {
			start = high - 1
		}
		if back {
			high = start
		} else {
			low = end
		}
		p.Entries = append(p.Entries, e)
		p.Next = e.Mark
	}
	p.End = low >= high
	if back {
		slices.Reverse(p.Entries)
	}
	return p, nil
}

// orderedLevels returns the tree of the keys in order. The caller holds mu.
func (g *scannedKeys) orderedLevels(delimiter string) *catalog.Levels {
	if g.levels == nil {
		g.levels = catalog.NewLevels(catalog.Query{Order: g.order, Reverse: g.reverse}, delimiter)
		for _, k := range g.keys {
			g.levels.Add(k.name, k.entry().Facts)
		}
	}
	return g.levels
}

// currentLevels returns the tree of the keys in order, or nil until it is requested.
func (g *scannedKeys) currentLevels() *catalog.Levels {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.levels
}

// Count implements client.Keyspace.
func (g *scannedKeys) Count(_ context.Context, _ int, prefix string) (int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	low, high := g.bounds(prefix)
	return int64(high - low), nil
}

// sample returns up to n names, evenly spaced.
func (g *scannedKeys) sample(n int) (names []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n = min(n, len(g.keys))
	for i := range n {
		names = append(names, g.keys[i*len(g.keys)/n].name)
	}
	return names
}
