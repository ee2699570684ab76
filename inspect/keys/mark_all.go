package keys

import (
	"context"
	"errors"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// maxMarked limits the marked names, and markPageSize the names read per page.
const (
	maxMarked    = 1_000_000
	markPageSize = 5000
)

var errTooMany = errors.New("that is more than 1,000,000 rows: mark folders, or filter")

// markedMsg carries the new set of marks.
type markedMsg struct {
	marks
	says string
}

func (l *Pane) onMarked(m markedMsg) {
	if l.marked = m.marks; m.says != "" {
		l.Notice = m.says
	}
}

// MarkAll marks the whole list: the keys that a filter found, or in the tree all folders and keys.
func (l *Pane) MarkAll() tea.Cmd {
	return l.markFound("Marked ", func(was, found marks) marks {
		return marks{merge(was.keys, found.keys, true), merge(was.folders, found.folders, true)}
	}, false)
}

// Invert inverts the marks.
func (l *Pane) Invert() tea.Cmd {
	delimiter := l.Delimiter
	return l.markFound("Marks inverted: ", func(was, found marks) marks {
		found.keys = slices.DeleteFunc(found.keys, func(name string) bool { return was.covers(row{Entry: catalog.Entry{Name: name}}, delimiter) })
		return marks{keys: merge(was.keys, found.keys, false)}
	}, true)
}

// markFound replaces the marks by becomes(marks, all keys found). In the tree it marks the top-level
// entries; if inner is set, the entries beside marks in deeper folders.
func (l *Pane) markFound(says string, becomes func(was, found marks) marks, inner bool) tea.Cmd {
	if !l.canList(loadFirst) && l.sorted == nil {
		return nil
	}
	l.span = nil
	w, was, total := l.walker(), l.marked.clone(), l.Total
	if l.sorted != nil { // marks have no order
		w.keys, w.query.Order, w.query.Reverse = l.Index, catalog.ByName, false
	} else if l.scan != nil {
		w.keys = l.scan.keys.byName()
	}
	rest := "."
	if l.scan != nil && !l.scan.done {
		rest = " (of the keys scanned so far)."
	}
	return l.Start(job.Marking, func(ctx context.Context) (m tea.Msg, err error) {
		var after, found marks
		switch {
		case !w.tree:
			err = w.allNames(ctx, total, &found)
			after = becomes(was, found)
		case inner:
			err = w.unmarkedIn(ctx, "", &was, &after)
		default:
			err = w.unmarkedIn(ctx, "", &marks{}, &after)
		}
		return markedMsg{after, says + after.String() + rest}, err
	})
}

// allNames appends the names of all keys.
func (w *walker) allNames(ctx context.Context, total int64, into *marks) error {
	var at anchor
	looked := 0
	for {
		s, err := w.walk(ctx, at, false, markPageSize)
		if err != nil {
			return err
		}
		for _, r := range s.rows {
			into.keys = append(into.keys, r.Name)
		}
		looked += max(s.looked, len(s.rows))
		job.CostOf(ctx).Progress(int64(looked), total)
		if at = s.next; len(into.keys) > maxMarked {
			return errTooMany
		}
		if s.end {
			slices.Sort(into.keys)
			return nil
		}
	}
}

// unmarkedIn appends the unmarked entries of a level: whole folders if nothing in them is marked.
func (w *walker) unmarkedIn(ctx context.Context, level string, was, into *marks) error {
	var from catalog.Mark
	for {
		p, err := w.keys.Level(ctx, w.query.DB, level, w.delimiter, from, false, markPageSize)
		if err != nil {
			return err
		}
		for _, e := range p.Entries {
			switch {
			case was.has(e.Name, e.Folder):
			case e.Folder && was.hasWithin(e.Name):
				if err := w.unmarkedIn(ctx, e.Name, was, into); err != nil {
					return err
				}
			default:
				names := into.list(e.Folder)
				*names = append(*names, e.Name)
			}
		}
		if from = p.Next; into.len() > maxMarked {
			return errTooMany
		}
		if p.End {
			into.add(nil)
			return nil
		}
	}
}

// merge merges two sorted lists. Names in both lists appear once if both is set, and are left out
// otherwise.
func merge(a, b []string, both bool) []string {
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			if both {
				out = append(out, a[0])
			}
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
