package keys

import (
	"context"
	"slices"

	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// row is a line of the list: a key, or a folder of the tree.
type row struct {
	catalog.Entry
	level string // the folder in which it stands; "" at the root
	depth int
	gone  int64 // when it was found gone, Unix ms; 0 while it is there
	stale bool  // the facts are to be asked for again
}

// expired reports whether the row's time is over at now.
func (r *row) expired(now int64) bool { return r.Facts.Expires != 0 && r.Facts.Expires <= now }

// anchor is where a page of rows begins: after a mark in a level, or before it.
type anchor struct {
	level string
	mark  catalog.Mark
}

// walker goes through what the list shows: all keys that a query chooses, or the
// tree with its open folders in place.
type walker struct {
	keys      target.Keyspace
	query     catalog.Query
	tree      bool
	delimiter string
	open      map[string]string // open folders, and the level of each
}

// rowPage is some rows, and where to go on.
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

// walk returns at least one row after from, or before it with back, and up to n,
// unless there is none that can be found at once.
func (w *walker) walk(ctx context.Context, from anchor, back bool, n int) (rowPage, error) {
	if w.tree {
		return w.walkTree(ctx, from, back, n)
	}
	return w.walkFlat(ctx, from, back, n)
}

func (w *walker) walkFlat(ctx context.Context, from anchor, back bool, n int) (rowPage, error) {
	p, err := w.keys.Page(ctx, w.query, from.mark, back, n)
	s := rowPage{next: anchor{"", p.Next}, end: p.End, looked: p.Looked}
	for _, e := range p.Entries {
		s.rows = append(s.rows, row{Entry: e})
	}
	return s, err
}

// step reads the rest of a level, up to n entries. Until it comes to an open folder,
// each is passed to take; at is then where the folder begins, or ends with back, and
// else where the level goes on. over tells that the level has no more.
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

// walkTree goes through the tree: into open folders and out of them again. Down, a
// folder stands before what is in it, and so upwards it comes last.
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

// after is where the rows after r begin.
func (w *walker) after(r row) anchor {
	if _, open := w.open[r.Name]; w.tree && r.Folder && open {
		return anchor{level: r.Name}
	}
	return anchor{r.level, r.Mark}
}

// before is where the rows before r begin, backwards.
func (w *walker) before(r row) anchor { return anchor{r.level, r.Mark} }
