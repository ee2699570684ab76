package keys

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
)

// marks holds the marked names: keys, and folders with all their keys. Both lists are sorted, so a
// million names take little memory and a row finds its mark quickly.
type marks struct{ keys, folders []string }

func (m *marks) list(folder bool) *[]string {
	if folder {
		return &m.folders
	}
	return &m.keys
}

func (m *marks) len() int { return len(m.keys) + len(m.folders) }

// has reports whether the name itself is marked.
func (m *marks) has(name string, folder bool) bool {
	_, marked := slices.BinarySearch(*m.list(folder), name)
	return marked
}

// covers reports whether a row is in a marked folder.
func (m *marks) covers(r row, delimiter string) bool {
	if len(m.folders) == 0 {
		return false
	}
	level := catalog.FolderOf(r.Name, "", delimiter)
	for level != "" && (!r.Folder || level != r.Name) {
		if m.has(level, true) {
			return true
		}
		level = catalog.FolderOf(r.Name, level, delimiter)
	}
	return false
}

// hasWithin reports whether anything in a folder is marked.
func (m *marks) hasWithin(folder string) bool {
	for _, names := range [][]string{m.keys, m.folders} {
		if i, _ := slices.BinarySearch(names, folder); i < len(names) && strings.HasPrefix(names[i], folder) {
			return true
		}
	}
	return false
}

// toggle marks or unmarks a name.
func (m *marks) toggle(name string, folder bool) {
	names := m.list(folder)
	if i, marked := slices.BinarySearch(*names, name); marked {
		*names = slices.Delete(*names, i, i+1)
	} else {
		*names = slices.Insert(*names, i, name)
	}
}

// add marks rows.
func (m *marks) add(rows []row) {
	for _, r := range rows {
		names := m.list(r.Folder)
		*names = append(*names, r.Name)
	}
	for _, names := range []*[]string{&m.keys, &m.folders} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
}

// clone returns a copy of m for a job.
func (m *marks) clone() marks { return marks{slices.Clone(m.keys), slices.Clone(m.folders)} }

// String returns the number of marked folders and keys.
func (m *marks) String() string {
	var parts []string
	if n := len(m.folders); n > 0 {
		parts = append(parts, display.Counted(int64(n), "folder", "folders"))
	}
	if n := len(m.keys); n > 0 || len(parts) == 0 {
		parts = append(parts, display.Counted(int64(n), "key", "keys"))
	}
	return strings.Join(parts, " and ")
}

// Chosen returns the marked names, or else the selected row.
func (l *Pane) Chosen() (names, folders []string) {
	r := l.selected()
	switch {
	case l.marked.len() > 0:
		return l.marked.keys, l.marked.folders
	case r == nil:
		return nil, nil
	case r.Folder:
		return nil, []string{r.Name}
	}
	return []string{r.Name}, nil
}

// Mark marks or unmarks the selected row and moves to the next one.
func (l *Pane) Mark() tea.Cmd {
	r := l.selected()
	switch {
	case r == nil || r.gone != 0:
		return nil
	case l.marked.covers(*r, l.Delimiter):
		l.Notice = "Its folder is marked. Unmark the folder first."
		return nil
	}
	l.marked.toggle(r.Name, r.Folder)
	l.Move(1)
	return nil
}

// Unmark removes all marks.
func (l *Pane) Unmark() { l.marked = marks{} }
