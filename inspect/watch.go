package inspect

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// watched is a number that changes with the data.
type watched int64

// watch asks, once a second, whether anybody changed the file. A target without
// an index is asked for the keys on the screen again instead, when the person
// wants to follow it: that costs commands.
func (m *Model) watch() tea.Cmd {
	switch {
	case !m.following || m.running(watching):
		return nil
	case m.options.Index != nil:
		return m.start(watching, func(ctx context.Context) (tea.Msg, error) {
			v, err := m.options.Index.DataVersion(ctx)
			return watched(v), err
		})
	}
	rows := m.keys.visible()
	for i := range rows {
		rows[i].stale = true
	}
	if m.value.loaded && !m.value.halted && !m.running(opening) {
		return m.open(m.value.key)
	}
	return nil
}

// watched looks again at everything on the screen when the data changed.
func (m *Model) watched(v watched) tea.Cmd {
	changed := m.dataVersion != 0 && v != m.dataVersion
	m.dataVersion = v
	if !changed {
		return nil
	}
	if m.keys.cheap() {
		m.keys.refresh(m.running(listing))
	}
	cmds := []tea.Cmd{m.count()}
	if m.value.loaded && !m.value.halted && !m.running(opening) {
		cmds = append(cmds, m.open(m.value.key))
	}
	return tea.Batch(cmds...)
}

// follow begins or ends to look for changes.
func (m *Model) follow() tea.Cmd {
	m.following = !m.following
	m.notice = "Changes are not followed. Press f to follow them, r to look again."
	if m.following {
		m.notice = "Following changes."
	}
	return nil
}
