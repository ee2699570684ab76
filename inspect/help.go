package inspect

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/screen"
)

// showHelp shows all bindings.
func (m *Model) showHelp() tea.Cmd {
	m.Dialog = &room.Page{Title: "Keys", Layout: m.helpLines}
	return nil
}

// helpLines is the bindings under the names of the places where they hold, those
// of here first, in as many columns as they need and fit.
func (m *Model) helpLines(width, height int) []string {
	sections := []struct {
		where place
		name  string
	}{{inKeys, "In the keys"}, {everywhere, "Anywhere"}, {inValue, "In the value"}}
	if m.InValue {
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
		lines = append(lines, m.Styles.Dim.Render(" "+s.name))
		for _, b := range m.bindings {
			if b.where != s.where {
				continue
			}
			label := m.Styles.Key.Render(display.Fit(b.label(), labels))
			for part := range strings.SplitSeq(ansi.Wordwrap(b.help, texts, ""), "\n") {
				lines = append(lines, " "+label+"  "+part)
				label = display.Spaces(labels)
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
			shown = append(shown, m.Styles.Key.Render(keySign(key))+" "+b.hint)
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
		columns[i%rows] += screen.Pad(line, each)
	}
	return columns
}
