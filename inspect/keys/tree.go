package keys

import (
	"context"
	"slices"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// row describes a line of the list: a key, or a folder of the tree.
type row struct {
	catalog.Entry
	level string // its parent folder; "" at the root
	depth int
	gone  int64 // when the key was found to be deleted, Unix ms; 0 while it exists
	stale bool  // the facts must be read again
}

// expired reports whether the row has expired at now.
func (r *row) expired(now int64) bool { return r.Facts.Expires != 0 && r.Facts.Expires <= now }

// anchor marks the start of a page of rows: after a mark in a level, or before it.
type anchor struct {
	level string
	mark  catalog.Mark
}

// walker reads the rows of the list: the keys of a query, or the tree with its open folders.
type walker struct {
	keys      client.Keyspace
	query     catalog.Query
	tree      bool
	delimiter string
	open      map[string]string // the open folders, each with its parent folder
}

// rowPage is some rows, and where the next page starts.
type rowPage struct {
	rows   []row
	next   anchor
	end    bool
	looked int
}

func (w *walker) depth(level string) (n int) {
	for ; level != ""; level = w.open[level] {
		n++
	}
	return n
}

// walk returns up to n rows after from, or before it if back is set. It returns at least one row,
// unless no row is found in a single read.
func (w *walker) walk(ctx context.Context, from anchor, back bool, n int) (rowPage, error) {
	if w.tree {
		return w.walkTree(ctx, from, back, n)
	}
	return w.walkFlat(ctx, from, back, n)
}

func (w *walker) walkFlat(ctx context.Context, from anchor, back bool, n int) (rowPage, error) {
	p, err := w.keys.Page(ctx, w.query, from.mark, back, n)
	s := rowPage{next: anchor{"", p.Next}, end: p.End, looked: p.Examined}
	for _, e := range p.Entries {
		s.rows = append(s.rows, row{Entry: e})
	}
	return s, err
}

// step reads up to n more entries of a level and passes them to take, up to the next open folder. It
// sets at to the start of that folder (or its end, if back is set), or else to where the level
// continues. over reports that the level has no more entries.
func (w *walker) step(ctx context.Context, at *anchor, back bool, n int, take func(catalog.Entry)) (over bool, err error) {
	p, err := w.keys.Level(ctx, w.query.DB, at.level, w.delimiter, at.mark, back, n)
	if err != nil {
		return false, err
	}
	if back {
		slices.Reverse(p.Entries)
	}
	for _, e := range p.Entries {
		_, open := w.open[e.Name]
		open = open && e.Folder
		if !open || !back {
			take(e)
		}
		if open {
			*at = anchor{level: e.Name}
			return false, nil
		}
	}
	at.mark = p.Next
	return p.End, nil
}

// walkTree walks the tree through open folders. Downwards a folder comes before its contents, so
// upwards it comes after them.
func (w *walker) walkTree(ctx context.Context, at anchor, back bool, n int) (s rowPage, err error) {
	for len(s.rows) < n && !s.end {
		level, depth := at.level, w.depth(at.level)
		over, err := w.step(ctx, &at, back, n-len(s.rows), func(e catalog.Entry) {
			s.rows = append(s.rows, row{Entry: e, level: level, depth: depth})
		})
		if err != nil {
			return s, err
		}
		if !over {
			continue
		}
		if s.end = level == ""; s.end {
			break
		}
		if back {
			s.rows = append(s.rows, row{Entry: folderEntry(level), level: w.open[level], depth: depth - 1})
		}
		at = anchor{w.open[level], folderMark(level)}
	}
	if s.next = at; back {
		slices.Reverse(s.rows)
	}
	return s, nil
}

func folderMark(name string) catalog.Mark { return catalog.Mark{Set: true, Name: name, Folder: true} }

func folderEntry(name string) catalog.Entry {
	return catalog.Entry{Name: name, Folder: true, Mark: folderMark(name)}
}

// after returns the anchor of the rows after r.
func (w *walker) after(r row) anchor {
	if _, open := w.open[r.Name]; w.tree && r.Folder && open {
		return anchor{level: r.Name}
	}
	return anchor{r.level, r.Mark}
}

// before returns the anchor of the rows before r, backwards.
func (w *walker) before(r row) anchor { return anchor{r.level, r.Mark} }
