package inspect

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
)

// watched holds a version of the data, and a version of the open key.
type watched struct {
	db         int
	data       int64
	key        string
	version    int64 // 0 if the key is missing
	nextExpiry int64 // when the next key expires, Unix ms; 0: none expires
	moved      error // set if the file has left its path
	movedOnly  bool  // only moved was checked
}

// watch checks once a second whether another process changed or moved the file. For a target without an
// index it reloads the visible rows instead, if the user turned that on: it costs commands.
func (m *Model) watch() tea.Cmd {
	if m.Running(job.Watching) {
		return nil
	}
	ix := m.Index
	var cmds []tea.Cmd
	if m.options.Moved != nil || ix != nil && m.following {
		db, key, follows, last, now := m.DB, m.value.Key, m.following, m.lastWatch, m.Now
		moved := m.options.Moved
		cmds = append(cmds, m.Start(job.Watching, func(ctx context.Context) (tea.Msg, error) {
			var w watched
			if moved != nil {
				w.moved = moved()
			}
			if w.movedOnly = ix == nil || !follows || w.moved != nil; w.movedOnly {
				return w, nil
			}
			return w.read(ctx, ix, db, key, last, now)
		}))
	}
	if ix == nil && m.following {
		cmds = append(cmds, m.followServer())
	}
	return tea.Batch(cmds...)
}

// read reads the versions. If nothing was written or expired since last, that is one query.
func (w watched) read(ctx context.Context, ix client.Index, db int, key string, last watched, now int64) (watched, error) {
	var err error
	if w.data, err = ix.DataVersion(ctx); err != nil {
		return w, err
	}
	if w.db = db; w.data == last.data && key == last.key && db == last.db && (last.nextExpiry == 0 || last.nextExpiry > now) {
		w.key, w.version, w.nextExpiry = last.key, last.version, last.nextExpiry
		return w, nil
	}
	if w.nextExpiry, err = ix.NextExpiry(ctx); err != nil {
		return w, err
	}
	found, err := ix.Facts(ctx, db, []string{key})
	if err == nil {
		w.key, w.version = key, found[0].Facts.Version
	}
	return w, err
}

// followServer reloads the visible rows and the value.
func (m *Model) followServer() tea.Cmd {
	return tea.Batch(m.keys.ReloadVisible(), m.value.Follow())
}

// watched reloads what changed: the list after any change or expiry, the value after a change of its
// key.
func (m *Model) watched(w watched) tea.Cmd {
	if m.movedErr = w.moved; w.movedOnly {
		return nil
	}
	last := m.lastWatch
	m.lastWatch = w
	var cmds []tea.Cmd
	written, ended := last.data != 0 && w.data != last.data, last.nextExpiry != 0 && last.nextExpiry <= m.Now
	if written || ended {
		m.overview.MarkOutdated()
		cmds = append(cmds, m.keys.Follow(written))
	}
	changed := last.version != w.version
	if last.key != w.key { // opened since the last check, so its earlier version is unknown
		changed = last.data != 0 && w.data != last.data
	}
	if changed && m.value.Shows(w.key) {
		cmds = append(cmds, m.value.Follow())
	}
	return tea.Batch(cmds...)
}

// toggleFollow turns the check for changes on or off.
func (m *Model) toggleFollow() tea.Cmd {
	m.following = !m.following
	m.Notice = "Not following changes. Press " + m.KeyFor("follow") + " to follow, " + m.KeyFor("refresh") + " to refresh."
	if m.following {
		m.Notice = "Following changes."
	}
	return nil
}
