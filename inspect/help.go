package inspect

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// helpPage shows all keys and can be searched.
type helpPage struct {
	ui.Page
	m *Model
}

// showHelp shows all bindings.
func (m *Model) showHelp() tea.Cmd {
	m.Dialog = &helpPage{ui.Page{Title: "Keys", Layout: m.helpLines}, m}
	return nil
}

// Press implements the Dialog interface.
func (h *helpPage) Press(b *ui.PaneContext, k tea.KeyMsg) tea.Cmd {
	if k.String() == "/" {
		return h.m.openPalette(h)
	}
	return h.Page.Press(b, k)
}

// Footer implements the Dialog interface.
func (*helpPage) Footer() [][2]string {
	return [][2]string{{"/", "search, and do"}, {"↑↓", "scroll"}, {"esc", "close"}}
}

// section groups the bindings of one scope under a title.
type section struct {
	where scope
	name  string
}

func (m *Model) sections() []section {
	list := []section{{inKeys, "In the keys"}, {everywhere, "Anywhere"}, {inValue, "In the value"}}
	if m.InValue {
		list[0], list[2] = list[2], list[0]
	}
	return list
}

// minHelpWidth sets the minimum width, in cells, of a help text if the help has several columns.
const minHelpWidth = 36

// helpLines returns the bindings by scope, the focused pane first. It adds columns until the lines fit the
// height or the columns become too narrow.
func (m *Model) helpLines(width, height int) []string {
	labels, texts := 0, 0
	for _, b := range m.bindings {
		labels = max(labels, ansi.StringWidth(b.label()))
		texts = max(texts, ansi.StringWidth(b.help))
	}
	margins := labels + 4
	for n := 1; ; n++ {
		each := min(texts, max(width/n-margins, 1))
		lines := m.helpColumn(labels, each)
		rows := (len(lines) + n - 1) / n
		for columns := 0; columns != n && rows <= height; rows++ {
			var put []string
			if put, columns = inColumns(lines, each+margins, rows); columns <= n {
				return put
			}
		}
		if width/(n+1)-margins < minHelpWidth {
			put, _ := inColumns(lines, each+margins, (len(lines)+n-1)/n+len(m.sections()))
			if len(put) > height {
				put = append([]string{m.essentials()}, put...)
			}
			return put
		}
	}
}

// helpLine holds a line of the help and its section; a blank line has no section.
type helpLine struct{ text, section string }

// helpColumn returns the whole help in one column, with texts of the given width.
func (m *Model) helpColumn(labels, texts int) (lines []helpLine) {
	for i, s := range m.sections() {
		if i > 0 {
			lines = append(lines, helpLine{})
		}
		name := m.Styles.Dim.Render(" " + s.name)
		lines = append(lines, helpLine{name, name})
		for _, b := range m.bindings {
			if b.where != s.where {
				continue
			}
			label := m.Styles.Key.Render(display.Fit(b.label(), labels))
			for part := range strings.SplitSeq(ansi.Wordwrap(b.help, texts, ""), "\n") {
				lines = append(lines, helpLine{" " + label + "  " + part, name})
				label = display.Spaces(labels)
			}
		}
	}
	return lines
}

// essentials returns the line shown first if the help does not fit on one page.
func (m *Model) essentials() string {
	var shown []string
	find := "filter"
	if m.InValue {
		find = "search"
	}
	for _, name := range []string{"help", find, "quit"} {
		if b := m.action(name); len(b.keys) > 0 {
			shown = append(shown, m.Styles.Key.Render(keySign(b.keys[0]))+" "+b.hint)
		}
	}
	return " " + strings.Join(shown, "   ")
}

// inColumns arranges lines in columns of the given width and number of rows, and returns the number of
// columns. A column that starts within a section repeats the section title.
func inColumns(lines []helpLine, each, rows int) (put []string, columns int) {
	var column []string
	finish := func() {
		for i, line := range column {
			if i == len(put) {
				put = append(put, "")
			}
			put[i] = screen.Pad(put[i], columns*each) + line
		}
		columns, column = columns+1, nil
	}
	for i, line := range lines {
		if len(column) == 0 && i > 0 {
			if line.section == "" {
				continue
			}
			if line.text != line.section {
				column = append(column, line.section)
			}
		}
		if column = append(column, line.text); len(column) >= rows {
			finish()
		}
	}
	if len(column) > 0 {
		finish()
	}
	return slices.Clip(put), columns
}
