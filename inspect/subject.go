package inspect

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/edit"
)

// subject returns the subject of the next action.
func (m *Model) subject() edit.Subject {
	s := edit.Subject{Keys: m.selection(), Folder: m.keys.Folder(), Value: m.value.Selection(), KeyType: m.value.Kind}
	s.Key, s.HasKey = m.currentKey()
	if kind, listed := m.keys.TypeOf(s.Key); listed && s.HasKey {
		s.KeyType = kind
	}
	return s
}

// currentKey returns the key of the focused pane.
func (m *Model) currentKey() (string, bool) {
	if key, ok := m.value.Current(); ok && m.InValue {
		return key, true
	}
	return m.keys.Current()
}

// selection returns the current key or the marked keys.
func (m *Model) selection() change.Selection {
	if key, ok := m.value.Current(); ok && m.InValue {
		return change.Select([]string{key}, nil)
	}
	return change.Select(m.keys.Chosen())
}

// startEdit edits the current value. From the list it opens the value first.
func (m *Model) startEdit() tea.Cmd {
	if !m.InValue {
		return m.enterValue()
	}
	return m.edit.Edit(m.subject())
}

// compareKeys compares two marked keys, or starts with the current key.
func (m *Model) compareKeys() tea.Cmd {
	key, ok := m.currentKey()
	var marked []string
	if names, folders := m.keys.Chosen(); !m.InValue && len(folders) == 0 {
		marked = names
	}
	return m.compare.Begin(key, ok, marked)
}

func (m *Model) showInfo() tea.Cmd {
	if key, ok := m.currentKey(); ok {
		return m.overview.ShowInfo(key)
	}
	m.keys.ShowFolder()
	return nil
}

func (m *Model) showServer() tea.Cmd { return m.server.Show() }

func (m *Model) showOverview() tea.Cmd { return m.overview.ShowOverview(m.keys.Known()) }
