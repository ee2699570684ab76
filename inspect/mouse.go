package inspect

import tea "github.com/charmbracelet/bubbletea"

// wheelLines is how far a step of the wheel goes.
const wheelLines = 3

// mouse does what a mouse means: the wheel scrolls what is under it, a press
// selects, and a press on what is selected opens it; a press on a hint is its key.
func (m *Model) mouse(e tea.MouseMsg) tea.Cmd {
	if e.Action != tea.MouseActionPress || m.tiny() {
		return nil
	}
	m.keys.touched = true
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
		switch {
		case e.Y == m.height-1:
			return m.clickHint(e.X)
		case m.overlay != nil:
			return m.clickOverlay(e.X, e.Y-1)
		case m.filtering == nil:
			return m.click(e.Y, inList)
		}
	}
	return nil
}

// clickHint presses the key whose hint stands at x of the footer.
func (m *Model) clickHint(x int) tea.Cmd {
	at := 1
	for _, h := range m.fitting() {
		if key, ok := keyOf(h.sign); ok && at <= x && x < at+h.width() {
			return m.pressOne(key)
		}
		at += h.width() + hintGap
	}
	return nil
}

// signKeys is the keys of the footer that are no letters.
var signKeys = map[string]tea.KeyMsg{
	"⏎": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc}, "tab": {Type: tea.KeyTab}, "↑↓": {Type: tea.KeyDown},
}

// keyOf is the key of a hint's sign.
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

// clickOverlay is a press on the body, above which the overlay stands: on an item
// of a picker it takes it, beside the box it closes what is only looked at.
func (m *Model) clickOverlay(x, y int) tea.Cmd {
	b := m.box()
	inside := x >= b.x && x < b.x+b.width && y >= b.y && y < b.y+len(b.lines)+2
	switch o := m.overlay.(type) {
	case *picker:
		// Above the items are the border and the title.
		if at := o.top + y - b.y - 2; inside && y-b.y >= 2 && at < len(o.items) && y-b.y <= len(b.lines) {
			o.at = at
			return o.take(m)
		}
		if !inside {
			return o.press(m, signKeys["esc"])
		}
	case *page, *overview:
		if !inside {
			return m.overlay.press(m, signKeys["esc"])
		}
	}
	return nil
}

// click is a press on a line of the screen.
func (m *Model) click(y int, inList bool) tea.Cmd {
	m.failure, m.notice = "", ""
	if m.awaits() {
		return nil // in a moment something else may be there
	}
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

// pick selects a line of the screen, and reports whether it was selected already.
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
