package inspect

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
)

// press handles a key message. Letters typed faster than they are read arrive in one message, and Esc
// arrives as Alt of the next letter; each is handled as its own key. Pasted text is never a command.
func (m *Model) press(k tea.KeyMsg) tea.Cmd {
	m.Failure, m.Notice, m.quitAfterWrite = "", "", false
	if k.Paste && !m.keys.IsTyping() && (m.Dialog == nil || !m.Dialog.TakesText()) {
		return nil
	}
	if k.Alt && k.Type == tea.KeyEsc { // two Esc in one message
		k.Alt = false
		return tea.Batch(m.pressOne(k), m.pressOne(k))
	}
	if k.Paste || k.Type != tea.KeyRunes {
		return m.pressOne(k)
	}
	var cmds []tea.Cmd
	if k.Alt {
		cmds = append(cmds, m.pressOne(tea.KeyMsg{Type: tea.KeyEsc}))
	}
	for i, r := range k.Runes {
		if m.hidden { // the rest was typed for another tab
			_, rest := m.tabs.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: k.Runes[i:]})
			return tea.Batch(append(cmds, rest)...)
		}
		cmds = append(cmds, m.pressOne(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
	}
	return tea.Batch(cmds...)
}

func (m *Model) pressOne(k tea.KeyMsg) tea.Cmd {
	switch {
	case k.Type == tea.KeyCtrlC:
		return m.quit()
	case k.Type == tea.KeyCtrlZ:
		return m.suspend()
	case m.queueKey(k):
		return nil
	}
	return m.pressNow(k)
}

func (m *Model) pressNow(k tea.KeyMsg) tea.Cmd {
	m.keys.Touch()
	switch {
	case m.tooSmall():
		return m.pressTooSmall(k)
	case m.Dialog != nil && !m.switchesTab(k.String()):
		return m.Dialog.Press(m.PaneContext, k)
	case m.keys.IsTyping():
		return m.keys.PressFilter(k)
	}
	b := m.binding(k.String())
	switch {
	case b == nil:
		return nil
	case b.nth != nil:
		return b.nth(m, slices.Index(b.keys, k.String()))
	}
	return m.do(b)
}

// here returns the focused pane.
func (m *Model) here() scope {
	if m.InValue {
		return inValue
	}
	return inKeys
}

// binding returns the action of a key in the focused pane, or nil.
func (m *Model) binding(key string) *binding {
	for i, b := range m.bindings {
		if b.where&m.here() != 0 && slices.Contains(b.keys, key) {
			return &m.bindings[i]
		}
	}
	return nil
}

// scroller describes a pane that the movement keys scroll.
type scroller interface {
	Move(n int)
	Home()
	End()
}

func (m *Model) scroller() scroller {
	if m.InValue {
		return &m.value
	}
	return &m.keys
}

func moves(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.scroller().Move(n)
		return nil
	}
}

// pageLines returns the lines to scroll per page.
func (m *Model) pageLines() int {
	if m.InValue {
		return m.value.PageLines()
	}
	return m.keys.PageLines()
}

func (m *Model) pageUp() tea.Cmd   { return moves(-m.pageLines())(m) }
func (m *Model) pageDown() tea.Cmd { return moves(m.pageLines())(m) }

func (m *Model) goHome() tea.Cmd {
	m.scroller().Home()
	return nil
}

func (m *Model) goEnd() tea.Cmd {
	if m.InValue {
		return m.value.GoEnd()
	}
	m.keys.End()
	return nil
}

// enter opens or closes the selected folder, or opens the selected key.
func (m *Model) enter() tea.Cmd {
	if m.keys.Enter() {
		return nil
	}
	return m.enterValue()
}

func (m *Model) enterValue() tea.Cmd {
	key, ok := m.keys.Current()
	if !ok {
		return nil
	}
	preview := m.hasPreview()
	m.InValue = true
	// The preview already shows the value, or reads it.
	if preview && (m.value.IsSettled(key) || m.value.IsOpening(key)) {
		return nil
	}
	return m.value.Open(key)
}

// back goes one step back in the value, and then to the keys.
func (m *Model) back() tea.Cmd {
	if m.value.Back() {
		m.InValue = false
	}
	return nil
}

// stop cancels running jobs. If none runs, or only jobs that fill in numbers, it drops the marks, the
// filter or the order.
func (m *Model) stop() tea.Cmd {
	chosen := m.keys.LeaveHint() != ""
	if _, any := m.Longest(); any && m.Frame > 0 && !(chosen && m.OnlyNumbers()) {
		for p := range job.Purposes {
			switch {
			case p == job.Writing && m.Running(p):
				m.Interrupt(p) // it ends soon and reports its result
			case m.Running(p):
				m.Cancel(p)
				m.halt(p)
			}
		}
		m.keys.Stop()
		m.Notice = "Stopped. Press " + m.KeyFor("refresh") + " to refresh."
		return nil
	}
	m.keys.Leave()
	return nil
}

func (m *Model) switchPane() tea.Cmd {
	if m.InValue {
		m.InValue = false
		return nil
	}
	return m.enterValue()
}
