package inspect

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// watched is a number that changes with the data, and another that changes with
// the open key.
type watched struct {
	data    int64
	key     string
	version int64 // 0 when there is no such key
}

// watch asks, once a second, whether anybody changed the file. A target without
// an index is asked for the keys on the screen again instead, when the person
// wants to follow it: that costs commands.
func (m *Model) watch() tea.Cmd {
	switch {
	case !m.following || m.running(watching):
		return nil
	case m.options.Index != nil:
		db, key := m.db, m.value.key
		return m.start(watching, func(ctx context.Context) (tea.Msg, error) {
			v, err := m.options.Index.DataVersion(ctx)
			if err != nil {
				return nil, err
			}
			found, err := m.options.Index.Facts(ctx, db, []string{key})
			if err != nil {
				return nil, err
			}
			return watched{v, key, found[0].Facts.Version}, nil
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

// watched looks again at what changed: at the list when anything did, at the value
// when it did.
func (m *Model) watched(w watched) tea.Cmd {
	last := m.lastWatch
	m.lastWatch = w
	var cmds []tea.Cmd
	if last.data != 0 && w.data != last.data {
		m.keys.reload(m.running(listing))
		m.sortChanged()
		m.keys.recount(m.now)
		cmds = append(cmds, m.count())
	}
	changed := last.version != w.version
	if last.key != w.key { // opened since the last look: what it was then is not known
		changed = last.data != 0 && w.data != last.data
	}
	if changed && m.value.loaded && m.value.key == w.key && !m.value.halted && !m.running(opening) {
		cmds = append(cmds, m.open(w.key))
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
