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

// showHelp shows the sheet of keys, and below it the actions without a key.
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

// sheetRow holds a row of the help sheet: actions that share a line, and their description.
type sheetRow struct {
	actions []string
	text    string
}

// sheet returns the rows of the help sheet in two columns. Actions with a key but without a row share the
// key of an action that has one.
func sheet() (left, right []sheetRow) {
	return []sheetRow{
			{[]string{"up", "down"}, "move"},
			{[]string{"page_up", "page_down"}, "page"},
			{[]string{"first", "last"}, "first, last"},
			{[]string{"open", "back"}, "open, back"},
			{[]string{"other_side"}, "keys or value"},
			{[]string{"filter"}, "filter, search a value"},
			{[]string{"search_next", "search_back"}, "next, previous match"},
			{[]string{"search_values"}, "what contains a text"},
			{[]string{"filter_type", "sort"}, "by type, sort"},
			{[]string{"tree"}, "tree or flat list"},
			{[]string{"open_by_name"}, "open a key by name"},
			{[]string{"recall", "bookmark"}, "bookmarks, add one"},
			{[]string{"database"}, "database"},
			{[]string{"info"}, "details"},
			{[]string{"overview", "server", "indexes"}, "overview, server, indexes"},
			{[]string{"form", "fold"}, "view as, fold"},
			{[]string{"turn_over", "tail"}, "groups, follow a stream"},
			{[]string{"command"}, "command; :q quits"},
		}, []sheetRow{
			{[]string{"unlock"}, "unlock writing"},
			{[]string{"edit", "edit_outside"}, "edit, in $EDITOR"},
			{[]string{"add"}, "add a key or an element"},
			{[]string{"delete"}, "delete"},
			{[]string{"rename"}, "rename"},
			{[]string{"expire"}, "TTL"},
			{[]string{"mark", "mark_range", "mark_all"}, "mark, a range, all"},
			{[]string{"copy_to"}, "copy keys"},
			{[]string{"export"}, "export to a file"},
			{[]string{"copy"}, "copy to the clipboard"},
			{[]string{"undo", "redo"}, "undo, redo"},
			{[]string{"steps"}, "history of changes"},
			{[]string{"compare"}, "compare"},
			{[]string{"refresh", "scan_on"}, "refresh, scan on"},
			{[]string{"tab_open", "tab", "tab_close"}, "tabs: open, go to, close"},
			{[]string{paletteName}, "find any action"},
			{[]string{"help"}, "this help"},
			{[]string{"quit"}, "quit"},
		}
}

// sheetLabelWidth sets the width of the keys on the sheet. minSheetWidth and maxSheetWidth bound the
// width of the sheet with two columns.
const (
	sheetLabelWidth = 11
	minSheetWidth   = 72
	maxSheetWidth   = 92
)

// helpLines returns the sheet, in two columns if they fit, and then the actions that only the palette has.
func (m *Model) helpLines(width, height int) []string {
	left, right := sheet()
	var lines []string
	if width = min(width, maxSheetWidth); width >= minSheetWidth {
		for i := range max(len(left), len(right)) {
			lines = append(lines, screen.Pad(m.sheetLine(left, i, width/2), width/2)+m.sheetLine(right, i, width/2))
		}
	} else {
		rows := append(left, right...)
		for i := range rows {
			lines = append(lines, m.sheetLine(rows, i, width))
		}
		if len(lines) > height {
			lines = append([]string{m.essentials()}, lines...)
		}
	}
	lines = append(lines, "", m.Styles.Dim.Render(" More; "+m.keyFor(paletteName)+" finds those without a key"))
	for _, b := range m.bindings {
		if m.onSheet(b, append(left, right...)) {
			continue
		}
		label := m.Styles.Key.Render(display.Fit(b.label(), sheetLabelWidth))
		for part := range strings.SplitSeq(ansi.Wordwrap(b.help, max(width-sheetLabelWidth-3, 1), ""), "\n") {
			lines = append(lines, " "+label+" "+part)
			label = display.Spaces(sheetLabelWidth)
		}
	}
	return lines
}

// onSheet reports whether rows show b, or another action with its first key.
func (m *Model) onSheet(b binding, rows []sheetRow) bool {
	return slices.ContainsFunc(rows, func(r sheetRow) bool {
		return slices.ContainsFunc(r.actions, func(name string) bool {
			return name == b.name || len(b.keys) > 0 && slices.Contains(m.action(name).keys, b.keys[0])
		})
	})
}

// sheetLine returns row i of the sheet.
func (m *Model) sheetLine(rows []sheetRow, i, width int) string {
	if i >= len(rows) {
		return ""
	}
	label := m.sheetLabel(rows[i].actions)
	return " " + m.Styles.Key.Render(display.Fit(label, sheetLabelWidth)) + " " + display.Truncate(rows[i].text, max(width-sheetLabelWidth-3, 1))
}

// sheetLabel returns the first keys of actions, and further keys while they fit.
func (m *Model) sheetLabel(actions []string) string {
	label := ""
	for n := 0; ; n++ {
		more := false
		for _, name := range actions {
			b := m.action(name)
			if n >= len(b.keys) || n > 0 && (name == "tab" || len(actions) > 1 && !b.moves) {
				continue
			}
			more = true
			sign := keySign(b.keys[n])
			if name == "tab" {
				sign = b.label()
			}
			longer := strings.TrimLeft(label+" "+sign, " ")
			if ansi.StringWidth(longer) > sheetLabelWidth {
				return label
			}
			label = longer
		}
		if !more {
			return label
		}
	}
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
