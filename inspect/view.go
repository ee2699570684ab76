package inspect

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/target"
)

// Lines that stand around what scrolls.
const (
	frameLines = 3 // header, status, footer
)

func (m *Model) bodyHeight() int { return max(m.Height-frameLines, 1) }

// listWidth is the width of the keys; all of it where the value has a screen of
// its own.
func (m *Model) listWidth() int {
	if !m.Wide() {
		return m.Width
	}
	return min(max(m.Width*9/20, 46), 90)
}

// valueWidth is the width of the value, without the margin at its left.
func (m *Model) valueWidth() int {
	if !m.Wide() {
		return max(m.Width-2, 1)
	}
	return m.Width - m.listWidth() - 3
}

// View draws the screen: exactly its height in lines, none wider than it.
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

// The smallest screen that something can be read and done on.
const (
	minWidth  = 32
	minHeight = 8
)

// tooSmall reports whether the screen is too small to be of use.
func (m *Model) tooSmall() bool { return m.Width < minWidth || m.Height < minHeight }

// tooSmallView says so.
func (m *Model) tooSmallView() string {
	lines := []string{
		"Too small: " + target.Decimal(int64(m.Width)) + "×" + target.Decimal(int64(m.Height)),
		"needs " + target.Decimal(minWidth) + "×" + target.Decimal(minHeight),
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

// pressTooSmall does nothing that the person could not see.
func (m *Model) pressTooSmall(k tea.KeyMsg) tea.Cmd {
	if k.String() == "q" {
		return m.quit()
	}
	return nil
}

// body is the panes, with the overlay above them.
func (m *Model) body() []string {
	var lines []string
	switch {
	case m.Wide():
		lines = m.joinPanes(m.keys.View(), m.value.View())
	case m.InValue:
		lines = m.value.View()
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

// joinPanes puts two panes next to each other with a rule between.
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

// boxRect is where the overlay's box stands on the screen's body, with its border.
type boxRect struct {
	x, y, width int
	lines       []string // within the border
}

// box is the overlay's, in the middle of the body.
func (m *Model) box() boxRect {
	height := m.bodyHeight()
	b := boxRect{lines: m.Dialog.View(m.Base, m.Width-4, max(height-2, 2))}
	for _, line := range b.lines {
		b.width = max(b.width, ansi.StringWidth(line)+2)
	}
	b.x, b.y = max((m.Width-b.width)/2, 0), max((height-len(b.lines)-2)/2, 0)
	return b
}

// drawBox draws the overlay's box above lines.
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
			lines[y] = before + line + screen.Tail(under, m.Width-b.x-b.width)
		}
	}
}

// brand is the program's name, or that of the profile in its colour.
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

// lock reports whether anything can be written.
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

// header names the profile, the target, the database and how much is in it, and reports
// whether anything can be written.
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
	right := m.lock(narrow) + dot + m.Styles.Dim.Render("db ") + target.Decimal(int64(m.DB)) + dot + total + " "
	room := m.Width - ansi.StringWidth(brand) - ansi.StringWidth(right) - 2
	target := display.Whole(m.options.Target)
	return screen.Between(brand+" "+screen.TruncateLeft(target, room), right, m.Width)
}

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// progress is what runs, once it has run for a moment, and what it costs.
func (m *Model) progress() string {
	p, any := m.Longest()
	if !any || m.Frame == 0 {
		return ""
	}
	line := " " + p.String()
	if s := m.Took(p) / 1000; s > 0 {
		line += " " + display.Remaining(s*1000)
	}
	parts := m.Spent(p)
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

// status is the last error, or what just happened, or where the person is. What is
// said takes more lines from the body when it needs them.
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

// hint is what a key does here.
type hint struct {
	sign, does string
	key        string // as bubbletea names it; "" for what a dialog says
}

func (h hint) width() int { return ansi.StringWidth(h.sign) + 1 + ansi.StringWidth(h.does) }

// hintGap is the cells between two hints, and before the first one less than that.
const hintGap = 3

// Footer is the hints that fit.
func (m *Model) Footer() string {
	var shown []string
	for _, h := range m.fittingHints() {
		shown = append(shown, m.Styles.Key.Render(h.sign)+" "+m.Styles.Dim.Render(h.does))
	}
	return " " + strings.Join(shown, display.Spaces(hintGap))
}

// fittingHints is as many hints of the place as fit; help and quit, the last ones,
// always do.
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
		return []hint{{sign: "tab", does: m.keys.NextManner()}, {sign: "⏎", does: "keep"}, {sign: "esc", does: "cancel"}}
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
