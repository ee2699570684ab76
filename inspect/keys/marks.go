package keys

import (
	tea "github.com/charmbracelet/bubbletea"
)

// Chosen is what is marked, or else the row under the cursor.
func (l *Room) Chosen() (names, folders []string) {
	for name, folder := range l.marked {
		if folder {
			folders = append(folders, name)
		} else {
			names = append(names, name)
		}
	}
	if r := l.selected(); len(l.marked) == 0 && r != nil {
		if r.Folder {
			return nil, []string{r.Name}
		}
		return []string{r.Name}, nil
	}
	return names, folders
}

// Mark chooses the selected row, or not, and goes on to the next.
func (l *Room) Mark() tea.Cmd {
	r := l.selected()
	if r == nil || r.gone != 0 {
		return nil
	}
	if _, marked := l.marked[r.Name]; marked {
		delete(l.marked, r.Name)
	} else {
		l.marked[r.Name] = r.Folder
	}
	l.Move(1)
	return nil
}
