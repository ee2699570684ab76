package inspect

import tea "github.com/charmbracelet/bubbletea"

// place is where a binding holds.
type place int

const (
	inKeys place = 1 << iota
	inValue
	everywhere = inKeys | inValue
)

// binding is what some keys do. The footer and the help page are made from the
// table of them.
type binding struct {
	keys  []string // as bubbletea names them
	label string   // the keys as a person reads them
	where place
	hint  string // for the footer; none when it stands in the help page only
	help  string
	run   func(*Model) tea.Cmd
}

// bindings is every key of the browser, in the order of the help page. Where two
// hold at one place and key, the first one wins.
func bindings() []binding {
	return []binding{
		{[]string{"up", "k"}, "↑ k", everywhere, "", "one line up", moves(-1)},
		{[]string{"down", "j"}, "↓ j", everywhere, "", "one line down", moves(1)},
		{[]string{"pgup", "ctrl+b", "ctrl+u"}, "PgUp ^B", everywhere, "", "one page up", (*Model).pageUp},
		{[]string{"pgdown", "ctrl+f", "ctrl+d", " "}, "PgDn ^F", everywhere, "", "one page down", (*Model).pageDown},
		{[]string{"g", "home"}, "g Home", everywhere, "", "to the first", (*Model).goHome},
		{[]string{"G"}, "G", everywhere, "", "to the last one loaded", (*Model).goLast},
		{[]string{"end"}, "End", everywhere, "", "to the very last, loading the rest", (*Model).goEnd},
		{[]string{"enter", "right", "l"}, "⏎ → l", inKeys, "open", "into the value", (*Model).enterValue},
		{[]string{"enter", "right", "l"}, "⏎ → l", inValue, "open", "the whole element", (*Model).enterElement},
		{[]string{"esc", "left", "h", "backspace"}, "esc ← h", inValue, "back", "back, stopping what is being loaded", (*Model).back},
		{[]string{"esc"}, "esc", inKeys, "", "stop loading; then show all keys again", (*Model).stop},
		{[]string{"tab"}, "tab", everywhere, "", "keys ⇄ value", (*Model).turn},
		{[]string{"/"}, "/", everywhere, "filter", "keys with a text or glob (* ? [abc]) in their name", (*Model).editFilter},
		{[]string{"t"}, "t", everywhere, "type", "keys of one type", (*Model).pickType},
		{[]string{"d"}, "d", everywhere, "database", "another database", (*Model).pickDatabase},
		{[]string{"x"}, "x", inValue, "hex", "bytes as hex or as text", (*Model).changeForm},
		{[]string{"r"}, "r", everywhere, "refresh", "look again", (*Model).refresh},
		{[]string{"?"}, "?", everywhere, "help", "this page", (*Model).showHelp},
		{[]string{"q", "ctrl+c"}, "q", everywhere, "quit", "quit", func(*Model) tea.Cmd { return tea.Quit }},
	}
}

// press does what a key means where the person is.
func (m *Model) press(k tea.KeyMsg) tea.Cmd {
	m.failure, m.notice = "", ""
	switch {
	case k.Type == tea.KeyCtrlC:
		return tea.Quit
	case m.overlay != nil:
		return m.overlay.press(m, k)
	case m.filtering != nil:
		return m.pressFilter(k)
	}
	return m.bound(k.String())
}

// here is where the person is.
func (m *Model) here() place {
	if m.inValue {
		return inValue
	}
	return inKeys
}

func (m *Model) bound(key string) tea.Cmd {
	for _, b := range m.bindings {
		for _, k := range b.keys {
			if k == key && b.where&m.here() != 0 {
				return b.run(m)
			}
		}
	}
	return nil
}

// scroller is what the movement keys move.
type scroller interface {
	move(n int)
	home()
	last()
	end()
}

func (m *Model) scroller() scroller {
	if m.inValue {
		return &m.value
	}
	return &m.keys
}

func moves(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.scroller().move(n)
		return nil
	}
}

// pageLines is how far a page goes: one line stays in sight.
func (m *Model) pageLines() int {
	lines := m.keys.height
	if s := m.value.sheet(); m.inValue && s != nil {
		lines = s.pager.height
	}
	return max(lines-1, 1)
}

func (m *Model) pageUp() tea.Cmd   { return moves(-m.pageLines())(m) }
func (m *Model) pageDown() tea.Cmd { return moves(m.pageLines())(m) }

func (m *Model) goHome() tea.Cmd {
	m.scroller().home()
	return nil
}

func (m *Model) goLast() tea.Cmd {
	m.scroller().last()
	return nil
}

func (m *Model) goEnd() tea.Cmd {
	m.scroller().end()
	return nil
}

func (m *Model) enterValue() tea.Cmd {
	e := m.keys.selected()
	if e == nil {
		return nil
	}
	m.inValue = true
	if m.value.any && m.value.wanted == e.key && !m.value.halted && (m.value.loaded && m.value.key == e.key || m.running(opening)) {
		return nil
	}
	return m.open(e.key)
}

func (m *Model) enterElement() tea.Cmd {
	m.value.open()
	return nil
}

// back leaves the element, then the value.
func (m *Model) back() tea.Cmd {
	if m.value.close() {
		return nil
	}
	for _, p := range []purpose{opening, paging} {
		if m.running(p) {
			m.cancel(p)
			m.halt(p)
		}
	}
	m.inValue = false
	return nil
}

// stop ends the jobs of the list; when there are none it ends the filter.
func (m *Model) stop() tea.Cmd {
	if _, any := m.busy(); any && m.frame > 0 {
		for p := range purposes {
			if m.running(p) {
				m.cancel(p)
				m.halt(p)
			}
		}
		m.keys.toEnd = false
		m.notice = "Stopped. Move on, or press r to look again."
		return nil
	}
	m.search(query{})
	return nil
}

func (m *Model) turn() tea.Cmd {
	if m.inValue {
		m.inValue = false
		return nil
	}
	return m.enterValue()
}

func (m *Model) changeForm() tea.Cmd {
	m.value.toggleHex()
	return nil
}

func (m *Model) editFilter() tea.Cmd {
	m.inValue = false
	m.before = m.keys.query
	m.filtering = newPrompt(m.keys.filter)
	return nil
}

// pressFilter edits the filter; the list follows in a moment.
func (m *Model) pressFilter(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter", "tab":
		filter := m.filtering.String()
		m.filtering = nil
		m.search(query{filter, m.keys.kind})
	case "esc":
		m.filtering = nil
		m.search(m.before)
	case "up", "down", "pgup", "pgdown":
		return m.bound(k.String())
	default:
		if m.filtering.key(k) {
			return m.rest()
		}
	}
	return nil
}
