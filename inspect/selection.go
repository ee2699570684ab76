package inspect

import (
	"context"
	"errors"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/transfer"
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

// deleteAll deletes keys, some at a time, each kept in the journal as it goes. When
// the journal cannot go on, what was deleted comes back.
func (m *Model) deleteAll(ctx context.Context, c change) (*step, error) {
	s, err := m.journal.begin(c.title)
	if err != nil {
		return nil, err
	}
	var done int64
	for _, part := range c.gone {
		if err = m.visit(ctx, part.db, part.selection, func(names []string) error {
			costOf(ctx).far(done, c.many)
			done += int64(len(names))
			return m.deleteNames(ctx, part.db, names)
		}); err != nil {
			break
		}
	}
	s.to = m.journal.end
	var no errNoImage
	switch full := (unkept{}); {
	case errors.As(err, &full) || errors.As(err, &no):
		if _, failed := m.takeBack(ctx, s); failed != nil {
			return &s, errors.Join(err, failed)
		}
		return nil, err
	case !m.journal.keeps(s):
		return nil, errors.Join(err, m.journal.cut(s))
	}
	return &s, err
}

func (m *Model) deleteNames(ctx context.Context, db int, names []string) error {
	for some := range slices.Chunk(names, keysAtOnce) {
		values, _, err := m.transact(ctx, transaction{
			db: db, places: []keysIn{{db, some}}, checks: []checksIn{{db: db, checks: asked(wholeKey, some), known: true}},
			calls: func(there []string) ([][][]byte, error) {
				if len(there) == 0 {
					return nil, nil
				}
				return [][][]byte{command(append([]string{"DEL"}, there...)...)}, nil
			},
		})
		if err == nil {
			_, err = settled(values)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// weighed is how many keys a change would delete.
type weighed struct {
	change
	ask    string // the question; the number of keys is added
	keys   int64
	always bool // ask even where nothing is to be confirmed
}

// askDelete counts what would go, and asks.
func (m *Model) askDelete() tea.Cmd {
	s := m.selected()
	if !m.mayWrite() || s.empty() {
		return nil
	}
	w := weighed{change: change{title: "Deleted " + s.String(), gone: []scope{{m.db, s}}}, ask: "Delete " + s.String()}
	if len(s.folders) == 0 {
		if n := len(s.names); n <= keysAtOnce {
			w.calls = [][][]byte{command(append([]string{"DEL"}, s.names...)...)}
		}
		m.keys.marked = map[string]bool{}
		return m.confirm(confirmation{title: w.ask + "?", change: w.change})
	}
	return m.weigh(w)
}

// weigh counts the keys of a change that deletes.
func (m *Model) weigh(w weighed) tea.Cmd {
	return m.start(weighing, func(ctx context.Context) (tea.Msg, error) { return m.weighAll(ctx, w) })
}

func (m *Model) weighAll(ctx context.Context, w weighed) (tea.Msg, error) {
	for _, part := range w.gone {
		n, err := m.weight(ctx, part)
		if err != nil {
			return nil, err
		}
		w.keys += n
		if len(w.calls) == 0 && n > 0 {
			if w.calls, err = m.firstDelete(ctx, part); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// errEnough ends a visit.
var errEnough = errors.New("enough")

// firstDelete is the first command that deletes keys of s.
func (m *Model) firstDelete(ctx context.Context, s scope) (calls [][][]byte, err error) {
	err = m.visit(ctx, s.db, s.selection, func(names []string) error {
		if len(names) == 0 {
			return nil
		}
		calls = [][][]byte{command(append([]string{"DEL"}, names[:min(len(names), keysAtOnce)]...)...)}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return calls, err
}

func (m *Model) weight(ctx context.Context, s scope) (int64, error) {
	n := int64(len(s.names))
	if len(s.folders) == 1 && s.folders[0] == "" {
		return transfer.CountKeys(ctx, &pinned{m.conn, s.db}, []int{s.db})
	}
	if m.options.Index != nil {
		for _, folder := range s.folders {
			more, err := m.options.Index.Tally(ctx, s.db, folder)
			if err != nil {
				return 0, err
			}
			n += more
		}
		return n, nil
	}
	err := m.visit(ctx, s.db, selection{folders: s.folders}, func(names []string) error {
		n += int64(len(names))
		return nil
	})
	return n, err
}

// weighs asks whether to delete what was counted.
func (m *Model) weighs(w weighed) tea.Cmd {
	w.many = w.keys
	many := ", " + counted(w.keys, "key", "keys")
	w.title += many
	m.keys.marked = map[string]bool{}
	c := confirmation{title: w.ask + many + "?", change: w.change, always: w.always}
	if w.keys > keysAtOnce {
		c.notes = []string{decimal(keysAtOnce) + " at a time, each kept for undo:"}
	}
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
