package inspect

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

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
