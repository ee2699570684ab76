package inspect

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
)

// selection is the keys that an action is about.
type selection struct {
	names   []string
	folders []string // with all keys whose names begin so
}

// selected is what is marked, or else the row under the cursor.
func (m *Model) selected() (s selection) {
	if m.inValue && m.value.any {
		return selection{names: []string{m.value.wanted}}
	}
	for name, folder := range m.keys.marked {
		if folder {
			s.folders = append(s.folders, name)
		} else {
			s.names = append(s.names, name)
		}
	}
	if r := m.keys.selected(); len(m.keys.marked) == 0 && r != nil {
		if r.Folder {
			s.folders = []string{r.Name}
		} else {
			s.names = []string{r.Name}
		}
	}
	slices.Sort(s.names)
	slices.Sort(s.folders)
	// What is in a marked folder, too, counts once.
	s.names = slices.DeleteFunc(s.names, func(name string) bool { return under(name, s.folders) })
	s.folders = slices.DeleteFunc(s.folders, func(f string) bool {
		return under(f, slices.DeleteFunc(slices.Clone(s.folders), func(o string) bool { return o == f }))
	})
	return s
}

func under(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return len(name) >= len(f) && name[:len(f)] == f })
}

func (s selection) empty() bool { return len(s.names)+len(s.folders) == 0 }

// String names the selection in few words.
func (s selection) String() string {
	switch {
	case len(s.folders) == 0 && len(s.names) == 1:
		return shown(s.names[0], 40)
	case len(s.folders) == 1 && len(s.names) == 0:
		return shown(s.folders[0], 40) + "*"
	case len(s.folders) == 0:
		return counted(int64(len(s.names)), "key", "keys")
	}
	return counted(int64(len(s.folders)), "folder", "folders") + " and " + counted(int64(len(s.names)), "key", "keys")
}

// namesAtOnce is how many names a visit gets at once.
const namesAtOnce = 1000

// visit calls fn with the names of the keys of s, all of them, some at a time. fn
// may delete them.
func (m *Model) visit(ctx context.Context, db int, s selection, fn func(names []string) error) error {
	for part := range slices.Chunk(s.names, namesAtOnce) {
		if err := fn(part); err != nil {
			return err
		}
	}
	for _, folder := range s.folders {
		if err := m.visitFolder(ctx, db, folder, fn); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) visitFolder(ctx context.Context, db int, folder string, fn func([]string) error) error {
	if m.options.Index != nil {
		q := catalog.Query{DB: db, Prefix: folder}
		var from catalog.Mark
		for {
			p, err := m.options.Index.Page(ctx, q, from, false, namesAtOnce)
			if err != nil {
				return err
			}
			names := make([]string, len(p.Entries))
			for i, e := range p.Entries {
				names[i] = e.Name
			}
			if err := fn(names); err != nil || p.End {
				return err
			}
			from = p.Next
		}
	}
	pattern := filter{folder, byExact}.glob() + "*"
	brought := newFirsts()
	for cursor, page := "0", 0; ; page++ {
		v, err := m.conn.one(ctx, db, command("SCAN", cursor, "COUNT", decimal(namesAtOnce), "MATCH", pattern))
		if err != nil {
			return err
		}
		next, elems := cursorReply(v)
		var names []string
		for _, e := range elems {
			names = append(names, text(e))
		}
		names = once(brought, page, names, func(name string) string { return name })
		if err := fn(names); err != nil || next == "" {
			return err
		}
		cursor = next
	}
}

// deleteAll deletes the keys of a selection, and keeps them for undo unless the
// change is final. All are kept before the first one goes.
func (m *Model) deleteAll(ctx context.Context, db int, c change) (*step, error) {
	s := &step{title: c.title, db: db}
	if !c.final {
		err := m.visit(ctx, db, *c.gone, func(names []string) error { return m.keep(ctx, s, names) })
		if err != nil {
			return nil, either(err, c)
		}
	}
	err := m.visit(ctx, db, *c.gone, func(names []string) error {
		if len(names) == 0 {
			return nil
		}
		_, err := m.conn.one(ctx, db, command(append([]string{"DEL"}, names...)...))
		return err
	})
	return s, err
}

// counting the keys of a selection before something is done to them.
type weighed struct {
	selection selection
	keys      int64
}

// askDelete counts what would go, and asks.
func (m *Model) askDelete() tea.Cmd {
	if !m.unlocked {
		m.notice = lockedNotice
		return nil
	}
	s := m.selected()
	if s.empty() {
		return nil
	}
	db := m.db
	return m.start(weighing, func(ctx context.Context) (tea.Msg, error) {
		w := weighed{selection: s, keys: int64(len(s.names))}
		if m.options.Index != nil {
			for _, folder := range s.folders {
				n, err := m.options.Index.Tally(ctx, db, folder)
				if err != nil {
					return nil, err
				}
				w.keys += n
			}
			return w, nil
		}
		seen := map[string]struct{}{}
		err := m.visit(ctx, db, selection{folders: s.folders}, func(names []string) error {
			for _, name := range names {
				seen[name] = struct{}{}
			}
			return nil
		})
		w.keys += int64(len(seen))
		return w, err
	})
}

// weighs asks whether to delete what was counted.
func (m *Model) weighs(w weighed) tea.Cmd {
	title := "Delete " + w.selection.String()
	if len(w.selection.folders) > 0 {
		title += ", " + counted(w.keys, "key", "keys")
	}
	c := confirmation{title: title + "?", change: change{title: "Deleted " + title[len("Delete "):], gone: &w.selection}}
	if w.keys > mostUndoKeys {
		c.change.final = true
		c.notes = []string{"More than " + grouped(mostUndoKeys) + " keys cannot be kept: this cannot be undone."}
		c.always = true
	}
	m.keys.marked = map[string]bool{}
	return m.confirm(c)
}

// mark chooses the selected row, or not, and goes on to the next.
func (m *Model) mark() tea.Cmd {
	r := m.keys.selected()
	if r == nil || r.gone != 0 {
		return nil
	}
	if _, marked := m.keys.marked[r.Name]; marked {
		delete(m.keys.marked, r.Name)
	} else {
		m.keys.marked[r.Name] = r.Folder
	}
	m.keys.move(1)
	return nil
}
