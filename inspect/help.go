package inspect

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// showHelp shows all bindings.
func (m *Model) showHelp() tea.Cmd {
	m.overlay = &page{title: "Keys", laid: m.helpLines}
	return nil
}

// helpLines is the bindings under the names of the places where they hold, those
// of here first, in as many columns as they need and fit.
func (m *Model) helpLines(width, height int) []string {
	sections := []struct {
		where place
		name  string
	}{{inKeys, "In the keys"}, {everywhere, "Anywhere"}, {inValue, "In the value"}}
	if m.inValue {
		sections[0], sections[2] = sections[2], sections[0]
	}
	labels, texts := 0, 0
	for _, b := range m.bindings {
		labels = max(labels, ansi.StringWidth(b.label()))
		texts = max(texts, ansi.StringWidth(b.help))
	}
	texts = min(texts, max(width-labels-4, 1))
	var lines []string
	for i, s := range sections {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, m.styles.dim.Render(" "+s.name))
		for _, b := range m.bindings {
			if b.where != s.where {
				continue
			}
			label := m.styles.key.Render(fit(b.label(), labels))
			for part := range strings.SplitSeq(ansi.Wordwrap(b.help, texts, ""), "\n") {
				lines = append(lines, " "+label+"  "+part)
				label = spaces(labels)
			}
		}
	}
	if lines = inColumns(lines, labels+texts+4, width, height); len(lines) > height {
		lines = append([]string{m.essentials()}, lines...)
	}
	return lines
}

// essentials is what stands first where the help does not fit on one page.
func (m *Model) essentials() string {
	var shown []string
	for _, key := range []string{"?", "/", "q"} {
		if b := m.binding(key); b != nil {
			shown = append(shown, m.styles.key.Render(keySign(key))+" "+b.hint)
		}
	}
	return " " + strings.Join(shown, "   ")
}

// inColumns puts lines of a width next to each other where they need less height
// then.
func inColumns(lines []string, each, width, height int) []string {
	n := min(width/each, (len(lines)+height-1)/height)
	if n < 2 {
		return lines
	}
	rows := (len(lines) + n - 1) / n
	columns := make([]string, rows)
	for i, line := range lines {
		columns[i%rows] += padded(line, each)
	}
	return columns
}
