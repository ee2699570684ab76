package inspect

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/display"
)

// barLines returns the height of the tab bar: 0 with a single tab, or if a Model needs every line.
func (t *Tabs) barLines() int {
	if len(t.list) < 2 || t.height <= minHeight {
		return 0
	}
	return 1
}

// View implements tea.Model.
func (t *Tabs) View() string {
	if t.width == 0 || slices.ContainsFunc(t.models(), func(m *Model) bool { return m.quitting }) {
		return ""
	}
	var lines []string
	if t.barLines() > 0 {
		lines = append(lines, t.bar())
	}
	if m := t.current().model; m != nil {
		return strings.Join(append(lines, m.View()), "\n")
	}
	return strings.Join(append(lines, t.unopened()...), "\n")
}

// barPart holds a tab in the bar and its position.
type barPart struct {
	tab   int
	text  string
	x     int
	width int
}

// barParts returns the tabs that fit, always including the one on the screen.
func (t *Tabs) barParts() []barPart {
	most := max(t.width/len(t.list)-1, 10)
	parts := make([]barPart, len(t.list))
	for i, each := range t.list {
		head := " " + client.Decimal(int64(i+1)) + " " + each.statusMark()
		label := screen.TruncateLeft(display.Whole(cmp.Or(each.Label, "…")), min(max(most-1-ansi.StringWidth(head), 1), 40))
		parts[i] = barPart{tab: i, text: head + label + " "}
		parts[i].width = ansi.StringWidth(parts[i].text)
	}
	first := 0
	for {
		x := 0
		for i := first; i < len(parts); i++ {
			parts[i].x = x
			x += parts[i].width + 1
		}
		if current := parts[t.at]; first >= t.at || current.x+current.width <= t.width {
			break
		}
		first++
	}
	parts = parts[first:]
	for len(parts) > 1 && parts[len(parts)-1].x+parts[len(parts)-1].width > t.width {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// statusMark returns a symbol for the state of a tab.
func (of *tab) statusMark() string {
	switch {
	case of.err != nil:
		return "✗ "
	case of.model == nil:
		return "… "
	case of.model.edit.IsChanging():
		return spinner[of.model.Frame%len(spinner)] + " "
	case of.model.edit.IsUnlocked():
		return "● "
	}
	return ""
}

// bar draws the tab bar.
func (t *Tabs) bar() string {
	var b strings.Builder
	for i, part := range t.barParts() {
		style := t.styles.Dim
		if part.tab == t.at {
			style = t.styles.Brand
		}
		if i > 0 {
			b.WriteString(t.styles.Rule.Render("│"))
		}
		b.WriteString(style.Render(part.text))
	}
	return display.Truncate(b.String(), t.width)
}

// clickBar switches to the clicked tab.
func (t *Tabs) clickBar(e tea.MouseMsg) tea.Cmd {
	if e.Action != tea.MouseActionPress || e.Button != tea.MouseButtonLeft {
		return nil
	}
	for _, part := range t.barParts() {
		if part.x <= e.X && e.X < part.x+part.width {
			return t.show(part.tab)
		}
	}
	return nil
}

// unopened draws a tab whose target is not open.
func (t *Tabs) unopened() []string {
	of := t.current()
	text, hints := "Opening "+display.Text(of.Label, t.width)+" …", []string{"tab_open", "tab_close", "quit"}
	if of.err != nil {
		text, hints = "✗ "+display.Whole(of.err.Error()), []string{"refresh", "tab_open", "tab_close", "quit"}
	}
	var lines []string
	for line := range strings.SplitSeq(ansi.Wrap(text, max(t.width-4, 1), ""), "\n") {
		if of.err != nil {
			line = t.styles.Failure.Render(line)
		}
		lines = append(lines, "  "+line)
	}
	height := t.height - t.barLines()
	lines = append([]string{""}, lines[:min(len(lines), max(height-2, 0))]...)
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	var shown []string
	for _, name := range hints {
		if i := slices.IndexFunc(t.bindings, func(b binding) bool { return b.name == name && len(b.keys) > 0 }); i >= 0 {
			says := map[string]string{"refresh": "try again", "tab_open": "open another", "tab_close": "close", "quit": "quit"}[name]
			shown = append(shown, t.styles.Key.Render(keySign(t.bindings[i].keys[0]))+" "+t.styles.Dim.Render(says))
		}
	}
	lines = append(lines, display.Truncate(" "+strings.Join(shown, display.Spaces(hintGap)), t.width))
	for i, line := range lines {
		lines[i] = display.Truncate(line, t.width)
	}
	return lines[:min(len(lines), height)]
}

// pressUnopened handles keys in a tab whose target is not open.
func (t *Tabs) pressUnopened(k tea.KeyMsg) tea.Cmd {
	of := t.current()
	i := slices.IndexFunc(t.bindings, func(b binding) bool { return b.where == everywhere && slices.Contains(b.keys, k.String()) })
	name := ""
	if i >= 0 {
		name = t.bindings[i].name
	}
	switch {
	case k.Type == tea.KeyCtrlC || name == "quit":
		if m := t.modelChanging(); m != nil {
			return tea.Batch(t.reveal(m), m.quit())
		}
		return tea.Quit
	case k.Type == tea.KeyCtrlZ:
		return tea.Suspend
	case name == "refresh" && of.err != nil:
		return t.open(of)
	case name == "tab_close" && len(t.list) > 1:
		return t.closeCurrent()
	case name == "tab_close":
		return tea.Quit
	case name == "tab_open" && len(t.models()) > 0: // an open tab asks for the target
		m := t.models()[0]
		return tea.Batch(t.reveal(m), m.openTab())
	case name == "tab_next":
		return t.switchBy(1)
	case name == "tab_back":
		return t.switchBy(-1)
	case name == "tab":
		return t.show(slices.Index(t.bindings[i].keys, k.String()))
	}
	return nil
}
