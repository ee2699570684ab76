package inspect

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// overlay is a box above the screen that takes the key presses.
type overlay interface {
	press(*Model, tea.KeyMsg) tea.Cmd
	view(m *Model, width, height int) []string // its inner lines, at most so many of at most such a width
}

// item is a choice in a picker.
type item struct {
	label string
	note  string // what stands beside it
	value string
}

// picker lets the person choose one of a few items, by moving or by typing.
type picker struct {
	title   string
	purpose purpose // of the job that fills the notes
	items   []item
	at      int
	typed   string
	choose  func(m *Model, value string) tea.Cmd
}

func (p *picker) press(m *Model, k tea.KeyMsg) tea.Cmd {
	if k.Type == tea.KeyRunes && p.seek(p.typed+string(k.Runes)) {
		return nil
	}
	if k.Type == tea.KeyRunes && p.seek(string(k.Runes)) {
		return nil
	}
	p.typed = ""
	switch k.String() {
	case "up", "k", "shift+tab":
		p.at = (p.at + len(p.items) - 1) % len(p.items)
	case "down", "j", "tab":
		p.at = (p.at + 1) % len(p.items)
	case "home", "pgup":
		p.at = 0
	case "end", "pgdown":
		p.at = len(p.items) - 1
	case "enter":
		m.overlay = nil
		return p.choose(m, p.items[p.at].value)
	case "esc", "q":
		m.overlay = nil
		m.cancel(p.purpose)
	}
	return nil
}

// seek goes to the first item that begins with typed.
func (p *picker) seek(typed string) bool {
	for i, it := range p.items {
		if strings.HasPrefix(it.label, typed) {
			p.at, p.typed = i, typed
			return true
		}
	}
	return false
}

func (p *picker) view(m *Model, width, height int) []string {
	labels, notes := 0, 0
	for _, it := range p.items {
		labels = max(labels, ansi.StringWidth(it.label))
		notes = max(notes, ansi.StringWidth(it.note))
	}
	inner := min(max(labels+notes+4, ansi.StringWidth(p.title)+2), width)
	lines := []string{m.styles.title.Render(fit(" "+p.title, inner))}
	rows := max(height-1, 1)
	top := max(min(p.at-rows/2, len(p.items)-rows), 0)
	for i := top; i < min(top+rows, len(p.items)); i++ {
		it := p.items[i]
		look := m.styles.row(i == p.at, true)
		mark := look.mark(i == p.at)
		lines = append(lines, mark+look.text.Render(fit(it.label, inner-notes-3))+look.dim.Render(fitRight(it.note, notes)+" "))
	}
	return lines
}

var types = []string{"string", "hash", "list", "set", "zset", "stream"}

func (m *Model) pickType() tea.Cmd {
	p := &picker{title: "Show keys of type", choose: func(m *Model, kind string) tea.Cmd {
		m.search(query{m.keys.filter, kind})
		m.inValue = false
		return nil
	}}
	p.items = append(p.items, item{label: "all"})
	for _, t := range types {
		p.items = append(p.items, item{label: t, value: t})
		if t == m.keys.kind {
			p.at = len(p.items) - 1
		}
	}
	m.overlay = p
	return nil
}

func (m *Model) pickDatabase() tea.Cmd {
	p := &picker{title: "Database", purpose: surveying, at: m.db, choose: func(m *Model, value string) tea.Cmd {
		m.cancel(surveying)
		db, err := strconv.Atoi(value)
		if err != nil {
			return nil
		}
		return m.use(db)
	}}
	p.items = databaseItems(nil)
	p.at = min(m.db, len(p.items)-1)
	m.overlay = p
	return m.survey()
}

// databaseItems is the databases with their numbers of keys; all that there may
// be while none was counted.
func databaseItems(counts surveyed) []item {
	n := databases
	if len(counts) > 0 {
		n = len(counts)
	}
	items := make([]item, n)
	for i := range items {
		name := strconv.Itoa(i)
		items[i] = item{label: name, note: "…", value: name}
		if len(counts) == 0 {
			continue
		}
		items[i].note = "empty"
		if counts[i] > 0 {
			items[i].note = counted(counts[i], "key", "keys")
		}
	}
	return items
}

// help is the page of all bindings.
type help struct{ top int }

func (m *Model) showHelp() tea.Cmd {
	m.overlay = &help{}
	return nil
}

func (h *help) press(m *Model, k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "down", "j":
		h.top++
	case "up", "k":
		h.top--
	case "pgdown", " ":
		h.top += 5
	case "pgup":
		h.top -= 5
	default:
		m.overlay = nil
	}
	return nil
}

func (h *help) view(m *Model, width, height int) []string {
	body := m.helpLines()
	rows := max(height-1, 1)
	h.top = max(min(h.top, len(body)-rows), 0)
	title := " Keys"
	if len(body) > rows {
		title += m.styles.dim.Render("  ↑↓ for more")
	}
	lines := []string{m.styles.title.Render(title)}
	for _, line := range body[h.top:min(h.top+rows, len(body))] {
		lines = append(lines, truncate(line, width))
	}
	return lines
}

// helpLines is the bindings under the names of the places where they hold.
func (m *Model) helpLines() []string {
	sections := []struct {
		where place
		name  string
	}{{everywhere, ""}, {inKeys, "In the keys"}, {inValue, "In the value"}}
	labels := 0
	for _, b := range m.bindings {
		labels = max(labels, ansi.StringWidth(b.label))
	}
	var lines []string
	for _, s := range sections {
		if s.name != "" {
			lines = append(lines, "", m.styles.dim.Render(" "+s.name))
		}
		for _, b := range m.bindings {
			if b.where == s.where {
				lines = append(lines, " "+m.styles.key.Render(fit(b.label, labels))+"  "+b.help+" ")
			}
		}
	}
	return lines
}
