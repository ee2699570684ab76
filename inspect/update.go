package inspect

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/keys"
	"github.com/meowdis/meowdis/inspect/server"
)

// Init starts the clock and reads the version of the data, against which later changes are detected.
// The first keys load when the screen size is known.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.initCmd, m.After(time.Second, tickMsg{}), m.watch(), m.keys.Count(), m.edit.AdoptJournal())
}

// tickMsg arrives once a second.
type tickMsg struct{}

// Update handles a message and then starts the jobs whose results are missing.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.Now = m.Clock()
	cmd := m.dispatch(msg)
	m.layout()
	return m, tea.Batch(cmd, m.pressPending(), m.fill(), m.remember())
}

func (m *Model) dispatch(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.KeyMsg:
		return m.press(msg)
	case tea.MouseMsg:
		return m.mouse(msg)
	case job.Finished:
		return m.finish(msg)
	case tickMsg:
		return m.tick()
	case job.SpinMsg:
		return m.Spin()
	case backgroundMsg:
		m.renderer.SetHasDarkBackground(!msg.light)
	default:
		return m.receive(msg)
	}
	return nil
}

// receive passes the message of a job or a timer to all panes. Each pane recognizes its own messages.
func (m *Model) receive(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case watched:
		return m.watched(msg)
	case recalledMsg:
		m.onRecalled(msg)
	case bookmarkedMsg:
		m.onBookmarked(msg)
	}
	return tea.Batch(m.keys.Update(msg), m.value.Update(msg), m.edit.Update(msg), m.overview.Update(msg), m.compare.Update(msg), m.server.Update(msg))
}

// route passes the event of one pane to the panes that it affects.
func (m *Model) route(event any) tea.Cmd {
	switch e := event.(type) {
	case edit.Changed:
		return m.reloadAfterChange(e.Reveal)
	case edit.SelectionUsed:
		m.keys.Unmark()
	case server.Kill:
		return m.edit.Kill(e.ID, e.Name, e.Parent)
	case server.Unlock:
		return m.edit.Unlock()
	case edit.Quit:
		return m.quit()
	case edit.DatabaseSelected:
		return m.useDatabase(e.DB)
	case keys.DatabaseChosen:
		return m.useDatabase(e.Db)
	}
	return nil
}

// fill starts the jobs whose results the screen needs, unless they already run.
func (m *Model) fill() tea.Cmd {
	if m.Width == 0 {
		return nil
	}
	var cmds []tea.Cmd
	cmds = append(cmds, m.keys.Fill())
	m.value.SetSearch(m.keys.ValueSearch())
	cmds = append(cmds, m.value.Fill())
	if m.showsOverview() {
		cmds = append(cmds, m.overview.FillSide(m.keys.Known))
	}
	return tea.Batch(append(cmds, m.previewSelected())...)
}

// previewSelected shows the selected key beside the list after the user stayed on it for a moment.
func (m *Model) previewSelected() tea.Cmd {
	if m.keys.IsOffKey() && !m.InValue {
		m.value.Leave()
	}
	key, ok := m.keys.Current()
	if !ok || !m.hasPreview() || m.InValue {
		return nil
	}
	return m.value.Preview(key)
}

// tick runs once a second.
func (m *Model) tick() tea.Cmd {
	return tea.Batch(m.After(time.Second, tickMsg{}), m.checkChanges())
}

// checkChanges handles expired keys and changes by other clients. It does nothing in a hidden tab.
func (m *Model) checkChanges() tea.Cmd {
	if m.hidden {
		return nil
	}
	return tea.Batch(m.keys.Tick(), m.watch(), m.value.Tick())
}

// refresh reloads everything on the screen.
func (m *Model) refresh() tea.Cmd {
	m.CancelAll()
	m.Conn.Refusals.Clear()
	m.overview.Refresh()
	cmds := []tea.Cmd{m.keys.RefreshAll()}
	if key, ok := m.value.Current(); ok {
		cmds = append(cmds, m.value.Open(key))
	}
	return tea.Batch(cmds...)
}

// useDatabase switches to another database.
func (m *Model) useDatabase(db int) tea.Cmd {
	if db == m.DB {
		return nil
	}
	m.CancelAll()
	m.DB = db
	m.value.Leave()
	return m.keys.Use()
}

func (m *Model) suspend() tea.Cmd { return tea.Suspend }

func (m *Model) resize(width, height int) {
	m.Width, m.Height = width, height
	m.sizes = paneSizes{}
	m.layout()
}

// paneSizes holds the sizes of the list and of the value.
type paneSizes struct{ listWidth, listHeight, valueWidth, valueHeight int }

// layout resizes the panes if their sizes changed.
func (m *Model) layout() {
	if m.Width == 0 {
		return
	}
	s := paneSizes{m.listWidth(), m.bodyHeight() - m.previewHeight(), m.valueWidth(), m.bodyHeight()}
	if !m.InValue && !m.Wide() {
		s.valueHeight = max(m.previewHeight()-1, 1)
	}
	if s == m.sizes {
		return
	}
	m.sizes = s
	m.keys.Resize(s.listWidth, s.listHeight)
	m.value.Resize(s.valueWidth, s.valueHeight)
}

// finish handles the result of a job.
func (m *Model) finish(f job.Finished) tea.Cmd {
	if !m.IsCurrent(f) {
		return nil
	}
	if f.Err != nil {
		m.dropPending()
		if !errors.Is(f.Err, context.Canceled) {
			m.Fail(f.Err)
		}
		m.halt(f.Purpose)
		if f.Purpose == job.Writing {
			return m.onChangeEnd(true)
		}
		return nil
	}
	before := m.Dialog
	cmd := m.receive(f.Result)
	if m.Dialog != before {
		m.pendingKeys = nil // it was typed before this dialog opened
	}
	if f.Purpose == job.Writing {
		return tea.Batch(cmd, m.onChangeEnd(m.Failure != ""))
	}
	return cmd
}

// halt keeps a job that failed or was cancelled from restarting by itself.
func (m *Model) halt(p job.Purpose) {
	m.keys.Halt(p)
	m.value.Halt(p)
	m.overview.Halt(p)
}

// reloadAfterChange reloads the panes after a change, and selects the key reveal unless it is "".
func (m *Model) reloadAfterChange(reveal string) tea.Cmd {
	m.overview.MarkOutdated()
	cmds := []tea.Cmd{m.keys.ReloadAfterChange(reveal)}
	key, ok := m.value.Current()
	if m.InValue && reveal != "" {
		key = reveal
	}
	if ok && (m.InValue || reveal == "") {
		cmds = append(cmds, m.value.OpenAgain(key))
	}
	return tea.Batch(cmds...)
}
