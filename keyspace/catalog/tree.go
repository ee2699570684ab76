package catalog

import (
	"context"
	"sync"
)

// Tree holds the folders of a database and their first keys in an order that names do not have. It reads all
// keys once, in slices, so the order reflects the time of reading. It is safe for concurrent use.
type Tree struct {
	*Catalog
	*Levels
	db int

	readLock sync.Mutex // held by ReadSlice
	mu       sync.Mutex
	last     int64 // id of the last key read
	examined int64
	done     bool
}

// SortTree starts to sort the folders and keys of q's database by TTL, size or bytes. ReadSlice does the work.
func (c *Catalog) SortTree(q Query, delimiter string) *Tree {
	return &Tree{Catalog: c, Levels: NewLevels(q, delimiter), db: q.DB, last: -1 << 63}
}

// Progress returns the number of keys read, in all databases, and whether all keys are read.
func (t *Tree) Progress() (keys int64, done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.examined, t.done
}

// Len returns -1: the number of rows depends on the open folders.
func (t *Tree) Len() int64 { return -1 }

// Close does nothing: the tree is in memory.
func (t *Tree) Close() {}

// ReadSlice reads another slice of keys.
func (t *Tree) ReadSlice(ctx context.Context) error {
	t.readLock.Lock()
	defer t.readLock.Unlock()
	found, last, all, err := t.measure(ctx, t.db, t.last)
	if err != nil {
		return err
	}
	for _, k := range found {
		if k.facts.Size < 0 {
			k.facts.Size = k.facts.Bytes - int64(len(k.name))
		}
		t.Add(string(k.name), k.facts)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.examined, t.done = last, t.examined+all, all < sumSlice
	return nil
}

// Level returns up to n entries of the folder prefix after from, or before from if back is set, in order. It
// omits deleted keys. Until all keys are read, the folders and totals are those so far.
func (t *Tree) Level(ctx context.Context, db int, prefix, _ string, from Mark, back bool, n int) (Page, error) {
	p := t.Entries(prefix, from, back, n)
	var names []string
	bytes := map[string]Entry{}
	for _, e := range p.Entries {
		if !e.Folder {
			names, bytes[e.Name] = append(names, e.Name), e
		}
	}
	if err := t.readFacts(ctx, db, &p, names); err != nil {
		return p, err
	}
	for i := range p.Entries {
		if e := &p.Entries[i]; !e.Folder {
			e.Facts.Bytes, e.Share = bytes[e.Name].Facts.Bytes, bytes[e.Name].Share
		}
	}
	return p, nil
}
