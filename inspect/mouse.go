package inspect

import (
	"github.com/meowdis/meowdis/inspect/ui"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/overview"
)

// wheelLines counts the lines scrolled per step of the wheel.
const wheelLines = 3

// mouse handles the mouse: the wheel scrolls the pane under it, a click selects a line, a click on the
// selected line opens it, and a click on a hint presses its key.
func (m *Model) mouse(e tea.MouseMsg) tea.Cmd {
	if e.Action != tea.MouseActionPress || m.tooSmall() {
		return nil
	}
	m.keys.Touch()
	inList := !m.InValue
	switch {
	case m.Wide():
		inList = e.X < m.listWidth()
	case m.previewHeight() > 0:
		inList = e.Y-1 < m.bodyHeight()-m.previewHeight()
	}
	switch e.Button {
	case tea.MouseButtonWheelUp, tea.MouseButtonWheelDown:
		n := wheelLines
		key := tea.KeyMsg{Type: tea.KeyDown}
		if e.Button == tea.MouseButtonWheelUp {
			n, key.Type = -n, tea.KeyUp
		}
		switch {
		case m.Dialog != nil:
			return m.Dialog.Press(m.PaneContext, key)
		case inList:
			m.keys.Move(n)
		default:
			m.value.Move(n)
		}
	case tea.MouseButtonLeft:
		switch {
		case e.Y == m.Height-1:
			return m.clickHint(e.X)
		case m.Dialog != nil:
			return m.clickOverlay(e.X, e.Y-1)
		case !m.keys.IsTyping():
			return m.click(e.X, e.Y, inList)
		}
	}
	return nil
}

// clickHint presses the key of the hint at x in the footer.
func (m *Model) clickHint(x int) tea.Cmd {
	at := 1
	for _, h := range m.fittingHints() {
		if key, ok := h.press(); ok && at <= x && x < at+h.width() {
			return m.pressOne(key)
		}
		at += h.width() + hintGap
	}
	return nil
}

// signKeys maps the symbols in the footer to keys.
var signKeys = map[string]tea.KeyMsg{
	"⏎": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc}, "tab": {Type: tea.KeyTab}, "↑↓": {Type: tea.KeyDown},
	"space": {Type: tea.KeySpace, Runes: []rune{' '}},
}

// press returns the key of a hint.
func (h hint) press() (key tea.KeyMsg, ok bool) {
	if h.key != "" {
		return keyNamed(h.key)
	}
	return keyOf(h.sign)
}

// keyOf returns the key for the symbol of a hint.
func keyOf(sign string) (key tea.KeyMsg, ok bool) {
	if key, ok := signKeys[sign]; ok {
		return key, true
	}
	letters := []rune(sign)
	switch {
	case len(letters) == 1:
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: letters}, true
	case len(letters) == 2 && letters[0] == '^' && letters[1] >= 'A' && letters[1] <= 'Z':
		return tea.KeyMsg{Type: tea.KeyCtrlA + tea.KeyType(letters[1]-'A')}, true
	}
	return tea.KeyMsg{}, false
}

// clickOverlay handles a click while a dialog is open: a click on an item of a picker chooses it, a
// click beside the box closes a dialog that only shows something.
func (m *Model) clickOverlay(x, y int) tea.Cmd {
	b := m.box()
	inside := x >= b.x && x < b.x+b.width && y >= b.y && y < b.y+len(b.lines)+2
	switch o := m.Dialog.(type) {
	case *ui.Picker:
		// The border and the title are above the items.
		if at := o.Top + y - b.y - 2; inside && y-b.y >= 2 && at < len(o.Items) && y-b.y <= len(b.lines) {
			o.At = at
			return o.Take(m.PaneContext)
		}
		if !inside {
			return o.Press(m.PaneContext, signKeys["esc"])
		}
	case *ui.Finder:
		if at := o.Line(y - b.y - 1); inside && at >= 0 {
			return o.Take(m.PaneContext, at)
		}
		if !inside {
			return o.Press(m.PaneContext, signKeys["esc"])
		}
	case *ui.Page, *helpPage, *overview.Summary:
		if !inside {
			return m.Dialog.Press(m.PaneContext, signKeys["esc"])
		}
	}
	return nil
}

// click handles a click on a line of the screen.
func (m *Model) click(x, y int, inList bool) tea.Cmd {
	m.Failure, m.Notice = "", ""
	if m.waiting() {
		return nil // the rows may be replaced in a moment
	}
	if !inList {
		if !m.Wide() && m.previewHeight() > 0 {
			return m.enterValue()
		}
		if !m.showsOverview() && m.value.Click(y-1) {
			m.InValue = true
		}
		return nil
	}
	hit, opens := m.keys.Click(x, y-1)
	if hit {
		m.InValue = false
	}
	if opens {
		return m.enter()
	}
	return nil
}
