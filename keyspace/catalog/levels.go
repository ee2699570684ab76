package catalog

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
)

// Levels is the tree of a database's folders with their totals and their first keys in an order that names
// do not have. It is safe for concurrent use.
type Levels struct {
	query     Query // only its order and direction count
	delimiter string

	mu      sync.Mutex
	folders map[string]*folder
	keys    int // keys in all folders
}

// folder holds the totals of a folder, including its folders, and its own first keys.
type folder struct {
	name    string
	keys    int64
	bytes   int64 // -1 if the size of a key is unknown
	expires int64 // when its next key expires, Unix ms; 0 for never
	folders []*folder
	first   []Entry // at most 2*maxLevelKeys, then the first maxLevelKeys of them
	partial bool    // some of its keys or folders are left out
	level   []Entry // its keys and folders in order; nil until requested
}

const (
	maxLevelKeys    = 1000    // keys of a folder
	maxTreeKeys     = 500_000 // keys of all folders
	maxLevelFolders = 100_000
)

// NewLevels returns an empty tree in the order of q.
func NewLevels(q Query, delimiter string) *Levels {
	return &Levels{query: q, delimiter: delimiter, folders: map[string]*folder{"": {}}}
}

// Add adds a key.
func (l *Levels) Add(name string, f Facts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.folders[""]
	for at.count(f); ; at.count(f) {
		inner := FolderOf(name, at.name, l.delimiter)
		if inner == "" {
			break
		}
		next := l.folders[inner]
		if next == nil {
			if len(l.folders) >= maxLevelFolders {
				at.partial = true
				return
			}
			next = &folder{name: inner}
			l.folders[inner] = next
			at.folders = append(at.folders, next)
		}
		at = next
	}
	if at.first = append(at.first, Entry{Name: name, Facts: f}); len(at.first) == 2*maxLevelKeys {
		l.trim(at, maxLevelKeys)
	}
	l.keys++
	for most := maxLevelKeys; l.keys > maxTreeKeys; most /= 10 { // many folders: their totals remain
		for _, f := range l.folders {
			l.trim(f, most)
		}
	}
}

// trim leaves out all keys of a folder but the first ones.
func (l *Levels) trim(f *folder, most int) {
	if len(f.first) <= most {
		return
	}
	slices.SortFunc(f.first, l.compare)
	l.keys -= len(f.first) - most
	f.first, f.partial = slices.Clone(f.first[:most]), true
}

// count adds a key to the totals.
func (f *folder) count(k Facts) {
	f.level = nil
	f.keys++
	if f.bytes >= 0 && k.Bytes >= 0 {
		f.bytes += k.Bytes
	} else {
		f.bytes = -1
	}
	if k.Expires != 0 && (f.expires == 0 || k.Expires < f.expires) {
		f.expires = k.Expires
	}
}

func (f *folder) entry() Entry {
	return Entry{Name: f.name, Folder: true, Facts: Facts{Size: f.keys, Bytes: f.bytes, Expires: f.expires},
		Mark: Mark{Set: true, Name: f.name, Folder: true}}
}

// IsPartial reports whether the folder prefix lists only its first keys.
func (l *Levels) IsPartial(prefix string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.folders[prefix]
	return f != nil && f.partial
}

// Find returns an entry of the folder prefix.
func (l *Levels) Find(prefix, name string, isFolder bool) (Entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.folders[prefix]
	if f == nil {
		return Entry{}, false
	}
	level := l.entries(f)
	i := slices.IndexFunc(level, func(e Entry) bool { return e.Name == name && e.Folder == isFolder })
	if i < 0 {
		return Entry{}, false
	}
	return level[i], true
}

// compare compares two entries of a level. In the order by size, folders of many keys come first.
func (l *Levels) compare(a, b Entry) int {
	c := 0
	switch l.query.Order {
	case ByTTL:
		c = cmp.Compare(rankOfExpiry(a.Facts.Expires), rankOfExpiry(b.Facts.Expires))
	case BySize:
		if a.Folder != b.Folder {
			return map[bool]int{true: -1, false: 1}[a.Folder]
		}
		c = cmp.Compare(b.Facts.Size, a.Facts.Size)
	case ByBytes:
		c = cmp.Compare(b.Facts.Bytes, a.Facts.Bytes)
	}
	if c = cmp.Or(c, strings.Compare(a.Name, b.Name)); l.query.Reverse {
		return -c
	}
	return c
}

func rankOfExpiry(at int64) int64 {
	if at == 0 {
		return math.MaxInt64
	}
	return at
}

// entries returns the keys and folders of a folder in order.
func (l *Levels) entries(f *folder) []Entry {
	if f.level == nil {
		l.trim(f, maxLevelKeys)
		f.level = slices.Clone(f.first)
		for _, inner := range f.folders {
			f.level = append(f.level, inner.entry())
		}
		for i := range f.level {
			e := &f.level[i]
			e.Mark = Mark{Set: true, Name: e.Name, Folder: e.Folder}
			switch {
			case l.query.Order == ByBytes && e.Facts.Bytes >= 0 && f.bytes > 0:
				e.Share = float64(e.Facts.Bytes) / float64(f.bytes)
			case l.query.Order == BySize && e.Folder:
				e.Share = float64(e.Facts.Size) / float64(f.keys)
			}
		}
		slices.SortFunc(f.level, l.compare)
	}
	return f.level
}

// Entries returns up to n entries of the folder prefix, after from or before it if back is set, in order.
func (l *Levels) Entries(prefix string, from Mark, back bool, n int) Page {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.folders[prefix]
	if f == nil {
		return Page{End: true}
	}
	level := l.entries(f)
	low, high := 0, len(level)
	if at := slices.IndexFunc(level, func(e Entry) bool { return e.Name == from.Name && e.Folder == from.Folder }); from.Set && at >= 0 {
		if low = at + 1; back {
			low, high = 0, at
		}
	}
	p := Page{End: high-low <= n}
	if back {
		low = max(low, high-n)
	} else {
		high = min(high, low+n)
	}
	if p.Entries = slices.Clone(level[low:high]); len(p.Entries) > 0 {
		if p.Next = p.Entries[len(p.Entries)-1].Mark; back {
			p.Next = p.Entries[0].Mark
		}
	}
	p.Examined = len(p.Entries)
	return p
}
