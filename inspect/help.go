package inspect

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// showHelp shows all bindings.
func (m *Model) showHelp() tea.Cmd {
	m.overlay = &page{title: "Keys", lines: m.helpLines()}
	return nil
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
