package inspect

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Lines around the panes.
const (
	frameLines = 3 // header, status, footer
)

func (m *Model) bodyHeight() int { return max(m.Height-frameLines, 1) }

// listWidth returns the width of the list; the full width unless both panes are shown.
func (m *Model) listWidth() int {
	if !m.Wide() {
		return m.Width
	}
	return min(max(m.Width*9/20, 46), 90)
}

// valueWidth returns the width of the value, without its left margin.
func (m *Model) valueWidth() int {
	if !m.Wide() {
		return max(m.Width-2, 1)
	}
	return m.Width - m.listWidth() - 3
}

// minPreviewBody sets the least height of the body that has a preview below the list.
const minPreviewBody = 18

// previewHeight returns the lines of the preview below the list, with its rule; 0 without one.
func (m *Model) previewHeight() int {
	if m.Wide() || m.InValue || m.bodyHeight() < minPreviewBody {
		return 0
	}
	return m.bodyHeight() * 2 / 5
}

// hasPreview reports whether the selected key or folder is shown beside or below the list.
func (m *Model) hasPreview() bool { return m.Wide() || m.previewHeight() > 0 }

// showsOverview reports whether the overview is shown instead of a value, because a folder is selected.
func (m *Model) showsOverview() bool { return m.hasPreview() && !m.InValue && m.keys.OnFolder() }

// preview draws the value of the selected key, or the overview.
func (m *Model) preview(height int) []string {
	if m.showsOverview() {
		return m.overview.SideView(m.keys.Total, m.valueWidth(), height)
	}
	return m.value.View()
}

// View draws the screen: exactly Height lines, at most Width cells wide.
func (m *Model) View() string {
	switch {
	case m.Width == 0 || m.quitting:
		return ""
	case m.tooSmall():
		return m.tooSmallView()
	}
	status := m.status()
	lines := append([]string{m.header()}, m.body()...)
	lines = append(lines[:len(lines)+1-len(status)], status...)
	lines = append(lines, m.Footer())
	for i, line := range lines {
		lines[i] = display.Truncate(line, m.Width)
	}
	return strings.Join(lines[:min(len(lines), m.Height)], "\n")
}

// The smallest usable screen.
const (
	minWidth  = 32
	minHeight = 8
)

// tooSmall reports whether the screen is too small to use.
func (m *Model) tooSmall() bool { return m.Width < minWidth || m.Height < minHeight }

// tooSmallView draws the notice that the screen is too small.
func (m *Model) tooSmallView() string {
	lines := []string{
		"Too small: " + client.Decimal(int64(m.Width)) + "×" + client.Decimal(int64(m.Height)),
		"needs " + client.Decimal(minWidth) + "×" + client.Decimal(minHeight),
		"q quits",
	}
	if m.quitDialog != nil && m.Dialog == m.quitDialog {
		lines[2] = "q stops a change"
	}
	lines = append(lines, m.brand()+" "+m.lock(true))
	for i, line := range lines {
		lines[i] = display.Truncate(line, m.Width)
	}
	return strings.Join(lines[:min(len(lines), m.Height)], "\n")
}

// pressTooSmall ignores every key except q, whose effect is visible.
func (m *Model) pressTooSmall(k tea.KeyMsg) tea.Cmd {
	if k.String() == "q" {
		return m.quit()
	}
	return nil
}

// body draws the panes, covered by the dialog if one is open.
func (m *Model) body() []string {
	var lines []string
	switch {
	case m.Wide():
		lines = m.joinPanes(m.keys.View(), m.preview(m.bodyHeight()))
	case m.InValue:
		lines = m.value.View()
	case m.previewHeight() > 0:
		lines = m.keys.View()
		for len(lines) < m.bodyHeight()-m.previewHeight() {
			lines = append(lines, "")
		}
		rule := m.Styles.Rule.Render(strings.Repeat("─", m.Width))
		lines = append(append(lines, rule), m.preview(m.previewHeight()-1)...)
	default:
		lines = m.keys.View()
	}
	height := m.bodyHeight()
	for len(lines) < height {
		lines = append(lines, "")
	}
	lines = lines[:height]
	if m.Dialog != nil {
		m.drawBox(lines)
	}
	return lines
}

// joinPanes puts two panes side by side with a rule between them.
func (m *Model) joinPanes(left, right []string) []string {
	rule := m.Styles.Rule.Render("│")
	lines := make([]string, m.bodyHeight())
	for i := range lines {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines[i] = display.Fit(l, m.listWidth()) + rule + r
	}
	return lines
}

// boxRect holds the position of the dialog's box on the body, including its border.
type boxRect struct {
	x, y, width int
	lines       []string // inside the border
}

// box returns the box of the dialog, centred on the body.
func (m *Model) box() boxRect {
	height := m.bodyHeight()
	b := boxRect{lines: m.Dialog.View(m.PaneContext, m.Width-4, max(height-2, 2))}
	for _, line := range b.lines {
		b.width = max(b.width, ansi.StringWidth(line)+2)
	}
	b.x, b.y = max((m.Width-b.width)/2, 0), max((height-len(b.lines)-2)/2, 0)
	return b
}

// drawBox draws the dialog's box over lines.
func (m *Model) drawBox(lines []string) {
	b := m.box()
	inner := b.width - 2
	side := m.Styles.Accent.Render("│")
	box := []string{m.Styles.Accent.Render("╭" + strings.Repeat("─", inner) + "╮")}
	for _, line := range b.lines {
		box = append(box, side+display.Fit(line, inner)+side)
	}
	box = append(box, m.Styles.Accent.Render("╰"+strings.Repeat("─", inner)+"╯"))
	for i, line := range box {
		if y := b.y + i; y < len(lines) {
			under := display.Fit(lines[y], m.Width)
			before := display.Fit(ansi.Truncate(under, b.x, ""), b.x)
			lines[y] = before + line + screen.LastCells(under, m.Width-b.x-b.width)
		}
	}
}

// brand returns the program's name, or the profile's name in its colour.
func (m *Model) brand() string {
	name, style := m.options.Profile, m.Styles.Brand
	if name == "" {
		return style.Render(" meowdis ")
	}
	if c := m.options.Color; c > 0 && !m.Styles.Reverses {
		style = style.Foreground(lipgloss.Color("0")).Background(lipgloss.Color(strconv.Itoa(c)))
	}
	return style.Render(" " + display.Text(name, max(m.Width/4, 8)) + " ")
}

// lock returns the indicator whether writing is unlocked.
func (m *Model) lock(narrow bool) string {
	switch {
	case m.edit.IsUnlocked() && narrow:
		return m.Styles.Alarm.Render("RW")
	case m.edit.IsUnlocked():
		return m.Styles.Alarm.Render(" WRITING ")
	case narrow:
		return m.Styles.Dim.Render("RO")
	}
	return m.Styles.Dim.Render("read-only")
}

// header returns the top line: profile, target, write state, database and number of keys.
func (m *Model) header() string {
	narrow := m.Width < 60
	brand := m.brand()
	total := "…"
	if m.Conn.Refusals.Has("DBSIZE") {
		total = "? keys"
	}
	if m.keys.Total >= 0 {
		total = display.Counted(m.keys.Total, "key", "keys")
		if narrow {
			total = display.Short(m.keys.Total) + " " + strings.TrimLeft(total, "0123456789, ")
		}
	}
	dot := m.Styles.Dim.Render(" · ")
	right := m.lock(narrow) + dot + m.Styles.Dim.Render("db ") + client.Decimal(int64(m.DB)) + dot + total + " "
	room := m.Width - ansi.StringWidth(brand) - ansi.StringWidth(right) - 2
	target := display.Whole(m.options.Target)
	return screen.Between(brand+" "+screen.TruncateLeft(target, room), right, m.Width)
}

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// progress returns the running job, once it has run for a moment, and its cost.
func (m *Model) progress() string {
	p, any := m.Longest()
	if !any || m.Frame == 0 {
		return ""
	}
	line := " " + p.String()
	if s := m.Elapsed(p) / 1000; s > 0 {
		line += " " + display.Remaining(s*1000)
	}
	parts := m.Costs(p)
	if n := len(m.pendingKeys); n > 0 {
		parts = append([]string{display.Counted(int64(n), "key waits", "keys wait")}, parts...)
	}
	for _, part := range parts {
		if longer := line + " · " + part; ansi.StringWidth(longer) < max(m.Width/2, 32) {
			line = longer
		}
	}
	return m.Styles.Accent.Render(spinner[m.Frame%len(spinner)]) + m.Styles.Dim.Render(line) + " "
}

// status returns the last error, the last notice, or the position. A long message takes further lines
// from the body.
func (m *Model) status() []string {
	text, style := m.place(), m.Styles.Plain
	switch {
	case m.Failure != "":
		text, style = "✗ "+display.Text(strings.TrimRight(m.Failure, " "), 4*m.Width), m.Styles.Failure
	case m.movedErr != nil:
		text, style = "✗ "+m.movedErr.Error(), m.Styles.Failure
	case m.Notice != "":
		text = m.Notice
	default:
		return []string{screen.Between(" "+text, m.progress(), m.Width)}
	}
	var lines []string
	for line := range strings.SplitSeq(ansi.Wrap(text, m.Width-2, ""), "\n") {
		lines = append(lines, display.Fit(" "+style.Render(line), m.Width))
	}
	lines = lines[:min(len(lines), m.bodyHeight()/2+1)]
	last := len(lines) - 1
	lines[last] = screen.Between(strings.TrimRight(lines[last], " "), m.progress(), m.Width)
	return lines
}

func (m *Model) place() string {
	if m.InValue {
		return m.Styles.Dim.Render(m.value.Place())
	}
	return m.Styles.Dim.Render(m.keys.Place())
}

// hint pairs a key with its action, for the footer.
type hint struct {
	sign, does string
	key        string // bubbletea's name; "" for a dialog's key
}

func (h hint) width() int { return ansi.StringWidth(h.sign) + 1 + ansi.StringWidth(h.does) }

// hintGap separates two hints, in cells. The first hint has a smaller gap before it.
const hintGap = 3

// Footer draws the hints that fit.
func (m *Model) Footer() string {
	var shown []string
	for _, h := range m.fittingHints() {
		shown = append(shown, m.Styles.Key.Render(h.sign)+" "+m.Styles.Dim.Render(h.does))
	}
	return " " + strings.Join(shown, display.Spaces(hintGap))
}

// fittingHints returns the hints that fit. The last two, help and quit, are always included.
func (m *Model) fittingHints() []hint {
	hints := m.hints()
	room := m.Width - 2 + hintGap // the first hint has no gap before it
	always := hints[max(len(hints)-2, 0):]
	for _, h := range always {
		room -= h.width() + hintGap
	}
	var fitting []hint
	for _, h := range hints[:len(hints)-len(always)] {
		if w := h.width() + hintGap; w <= room {
			fitting = append(fitting, h)
			room -= w
		}
	}
	return append(fitting, always...)
}

func (m *Model) hints() []hint {
	var hints []hint
	switch {
	case m.Dialog != nil:
		for _, h := range m.Dialog.Footer() {
			if h != edit.SQLHint || m.options.Explain != nil {
				hints = append(hints, hint{sign: h[0], does: h[1]})
			}
		}
		return hints
	case m.keys.IsTyping():
		return []hint{{sign: "tab", does: m.keys.NextFilterMode()}, {sign: "⏎", does: "keep"}, {sign: "esc", does: "cancel"}}
	case m.keys.IsSpanning() && !m.InValue:
		return []hint{{sign: "↑↓", does: "extend"}, {sign: "space", does: "mark"}, {sign: "esc", does: "cancel"}}
	}
	for _, b := range m.bindings {
		if b.where&m.here() == 0 || b.hintWhen != nil && !b.hintWhen(m) {
			continue
		}
		says := b.hint
		if b.hintFunc != nil {
			says = b.hintFunc(m)
		}
		if says != "" && len(b.keys) > 0 {
			hints = append(hints, hint{keySign(b.keys[0]), says, b.keys[0]})
		}
	}
	return hints
}
