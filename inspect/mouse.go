package inspect

import tea "github.com/charmbracelet/bubbletea"

// wheelLines is how far a step of the wheel goes.
const wheelLines = 3

// mouse does what a mouse means: the wheel scrolls what is under it, a press
// selects, and a press on what is selected opens it.
func (m *Model) mouse(e tea.MouseMsg) tea.Cmd {
	if e.Action != tea.MouseActionPress {
		return nil
	}
	inList := !m.inValue
	if m.wide() {
		inList = e.X < m.listWidth()
	}
	switch e.Button {
	case tea.MouseButtonWheelUp, tea.MouseButtonWheelDown:
		n := wheelLines
		key := tea.KeyMsg{Type: tea.KeyDown}
		if e.Button == tea.MouseButtonWheelUp {
			n, key.Type = -n, tea.KeyUp
		}
		switch {
		case m.overlay != nil:
			return m.overlay.press(m, key)
		case inList:
			m.keys.move(n)
		default:
			m.value.move(n)
		}
	case tea.MouseButtonLeft:
		if m.overlay == nil && m.filtering == nil {
			return m.click(e.Y, inList)
		}
	}
	return nil
}

// click is a press on a line of the screen.
func (m *Model) click(y int, inList bool) tea.Cmd {
	m.failure, m.notice = "", ""
	if !inList {
		s := m.value.sheet()
		if s == nil {
			return nil
		}
		if !m.inValue {
			m.inValue = true
		}
		at := y - 1 - valueHeadings - m.value.headings(s)
		if at < 0 || at >= s.pager.height {
			return nil
		}
		if m.value.pick(at) {
			m.value.open()
		}
		return nil
	}
	at := m.keys.top + y - 1 - listHeadings
	if y <= listHeadings || at >= len(m.keys.rows) || at >= m.keys.top+m.keys.height {
		return nil
	}
	m.inValue = false
	again := at == m.keys.cursor
	m.keys.move(at - m.keys.cursor)
	if r := m.keys.selected(); again || r != nil && r.Folder {
		return m.enter()
	}
	return nil
}

// pick selects a line of the screen, and tells whether it was selected already.
func (v *valuePane) pick(at int) bool {
	s := v.sheet()
	if s.inDocument() {
		again := s.doc.cursor == s.doc.top+at
		s.doc.move(s.doc.top + at - s.doc.cursor)
		return again
	}
	if !s.tabular() {
		return false
	}
	to, went := s.pager.advance(s.pager.top, at)
	again := to == s.pager.cursor
	if went == at {
		s.pager.cursor = to
	}
	return again && went == at
}
