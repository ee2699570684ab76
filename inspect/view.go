package inspect

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/display"
)

// Lines that stand around what scrolls.
const (
	frameLines    = 3 // header, status, footer
	listHeadings  = 2 // filter, column titles
	valueHeadings = 2 // title, facts
)

func (m *Model) bodyHeight() int { return max(m.height-frameLines, 1) }

// listWidth is the width of the keys; all of it where the value has a screen of
// its own.
func (m *Model) listWidth() int {
	if !m.wide() {
		return m.width
	}
	return min(max(m.width*9/20, 46), 90)
}

// valueWidth is the width of the value, without the margin at its left.
func (m *Model) valueWidth() int {
	if !m.wide() {
		return max(m.width-2, 1)
	}
	return m.width - m.listWidth() - 3
}

// View draws the screen: exactly its height in lines, none wider than it.
func (m *Model) View() string {
	switch {
	case m.width == 0 || m.quitting:
		return ""
	case m.tiny():
		return m.tinyView()
	}
	status := m.status()
	lines := append([]string{m.header()}, m.body()...)
	lines = append(lines[:len(lines)+1-len(status)], status...)
	lines = append(lines, m.footer())
	for i, line := range lines {
		lines[i] = truncate(line, m.width)
	}
	return strings.Join(lines[:min(len(lines), m.height)], "\n")
}

// The smallest screen that something can be read and done on.
const (
	leastWidth  = 32
	leastHeight = 8
)

// tiny reports whether the screen is too small to be of use.
func (m *Model) tiny() bool { return m.width < leastWidth || m.height < leastHeight }

// tinyView says so.
func (m *Model) tinyView() string {
	lines := []string{
		"Too small: " + decimal(int64(m.width)) + "×" + decimal(int64(m.height)),
		"needs " + decimal(leastWidth) + "×" + decimal(leastHeight),
		"q quits",
	}
	if m.leaving != nil && m.overlay == m.leaving {
		lines[2] = "q stops a change"
	}
	lines = append(lines, m.brand()+" "+m.lock(true))
	for i, line := range lines {
		lines[i] = truncate(line, m.width)
	}
	return strings.Join(lines[:min(len(lines), m.height)], "\n")
}

// pressTiny does nothing that the person could not see.
func (m *Model) pressTiny(k tea.KeyMsg) tea.Cmd {
	if k.String() == "q" {
		return m.quit()
	}
	return nil
}

// body is the panes, with the overlay above them.
func (m *Model) body() []string {
	var lines []string
	switch {
	case m.wide():
		lines = m.beside(m.listView(), m.valueView())
	case m.inValue:
		lines = m.valueView()
	default:
		lines = m.listView()
	}
	height := m.bodyHeight()
	for len(lines) < height {
		lines = append(lines, "")
	}
	lines = lines[:height]
	if m.overlay != nil {
		m.cover(lines)
	}
	return lines
}

// beside puts two panes next to each other with a rule between.
func (m *Model) beside(left, right []string) []string {
	rule := m.styles.rule.Render("│")
	lines := make([]string, m.bodyHeight())
	for i := range lines {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines[i] = fit(l, m.listWidth()) + rule + r
	}
	return lines
}

// boxed is where the overlay's box stands on the screen's body, with its border.
type boxed struct {
	x, y, width int
	lines       []string // within the border
}

// box is the overlay's, in the middle of the body.
func (m *Model) box() boxed {
	height := m.bodyHeight()
	b := boxed{lines: m.overlay.view(m, m.width-4, max(height-2, 2))}
	for _, line := range b.lines {
		b.width = max(b.width, ansi.StringWidth(line)+2)
	}
	b.x, b.y = max((m.width-b.width)/2, 0), max((height-len(b.lines)-2)/2, 0)
	return b
}

// cover draws the overlay's box above lines.
func (m *Model) cover(lines []string) {
	b := m.box()
	inner := b.width - 2
	side := m.styles.accent.Render("│")
	box := []string{m.styles.accent.Render("╭" + strings.Repeat("─", inner) + "╮")}
	for _, line := range b.lines {
		box = append(box, side+fit(line, inner)+side)
	}
	box = append(box, m.styles.accent.Render("╰"+strings.Repeat("─", inner)+"╯"))
	for i, line := range box {
		if y := b.y + i; y < len(lines) {
			under := fit(lines[y], m.width)
			before := fit(ansi.Truncate(under, b.x, ""), b.x)
			lines[y] = before + line + tail(under, m.width-b.x-b.width)
		}
	}
}

// brand is the program's name, or that of the profile in its colour.
func (m *Model) brand() string {
	name, style := m.options.Profile, m.styles.brand
	if name == "" {
		return style.Render(" meowdis ")
	}
	if c := m.options.Color; c > 0 && !m.styles.reverses {
		style = style.Foreground(lipgloss.Color("0")).Background(lipgloss.Color(strconv.Itoa(c)))
	}
	return style.Render(" " + shown(name, max(m.width/4, 8)) + " ")
}

// lock reports whether anything can be written.
func (m *Model) lock(narrow bool) string {
	switch {
	case m.unlocked && narrow:
		return m.styles.alarm.Render("RW")
	case m.unlocked:
		return m.styles.alarm.Render(" WRITING ")
	case narrow:
		return m.styles.dim.Render("RO")
	}
	return m.styles.dim.Render("read-only")
}

// header names the profile, the target, the database and how much is in it, and reports
// whether anything can be written.
func (m *Model) header() string {
	narrow := m.width < 60
	brand := m.brand()
	total := "…"
	if m.conn.refusals.has("DBSIZE") {
		total = "? keys"
	}
	if m.total >= 0 {
		total = counted(m.total, "key", "keys")
		if narrow {
			total = display.Short(m.total) + " " + strings.TrimLeft(total, "0123456789, ")
		}
	}
	dot := m.styles.dim.Render(" · ")
	right := m.lock(narrow) + dot + m.styles.dim.Render("db ") + decimal(int64(m.db)) + dot + total + " "
	room := m.width - ansi.StringWidth(brand) - ansi.StringWidth(right) - 2
	target := whole(m.options.Target)
	return between(brand+" "+truncateLeft(target, room), right, m.width)
}

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// working is what runs, once it has run for a moment, and what it costs.
func (m *Model) working() string {
	p, any := m.busy()
	if !any || m.frame == 0 {
		return ""
	}
	line := " " + purposeNames[p]
	if s := (m.now - m.jobs[p].since) / 1000; s > 0 {
		line += " " + remaining(s*1000)
	}
	parts := m.spent(p)
	if n := len(m.ahead); n > 0 {
		parts = append([]string{counted(int64(n), "key waits", "keys wait")}, parts...)
	}
	for _, part := range parts {
		if longer := line + " · " + part; ansi.StringWidth(longer) < max(m.width/2, 32) {
			line = longer
		}
	}
	return m.styles.accent.Render(spinner[m.frame%len(spinner)]) + m.styles.dim.Render(line) + " "
}

// status is the last error, or what just happened, or where the person is. What is
// said takes more lines from the body when it needs them.
func (m *Model) status() []string {
	text, style := m.place(), m.styles.plain
	switch {
	case m.failure != "":
		text, style = "✗ "+shown(strings.TrimRight(m.failure, " "), 4*m.width), m.styles.failure
	case m.moved != nil:
		text, style = "✗ "+m.moved.Error(), m.styles.failure
	case m.notice != "":
		text = m.notice
	default:
		return []string{between(" "+text, m.working(), m.width)}
	}
	var lines []string
	for line := range strings.SplitSeq(ansi.Wrap(text, m.width-2, ""), "\n") {
		lines = append(lines, fit(" "+style.Render(line), m.width))
	}
	lines = lines[:min(len(lines), m.bodyHeight()/2+1)]
	last := len(lines) - 1
	lines[last] = between(strings.TrimRight(lines[last], " "), m.working(), m.width)
	return lines
}

func (m *Model) place() string {
	if m.inValue {
		return m.styles.dim.Render(m.value.place())
	}
	return m.styles.dim.Render(m.listPlace())
}

// hint is what a key does here.
type hint struct{ sign, does string }

func (h hint) width() int { return ansi.StringWidth(h.sign) + 1 + ansi.StringWidth(h.does) }

// hintGap is the cells between two hints, and before the first one less than that.
const hintGap = 3

// footer is the hints that fit.
func (m *Model) footer() string {
	var shown []string
	for _, h := range m.fitting() {
		shown = append(shown, m.styles.key.Render(h.sign)+" "+m.styles.dim.Render(h.does))
	}
	return " " + strings.Join(shown, spaces(hintGap))
}

// fitting is as many hints of the place as fit; help and quit, the last ones,
// always do.
func (m *Model) fitting() []hint {
	hints := m.hints()
	room := m.width - 2 + hintGap // the first hint has no gap before it
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
	case m.overlay != nil:
		for _, h := range m.overlay.footer() {
			if h != sqlHint || m.options.Explain != nil {
				hints = append(hints, hint{h[0], h[1]})
			}
		}
		return hints
	case m.filtering != nil:
		return []hint{{"tab", mannerNames[(m.keys.filter.manner+1)%manners]}, {"⏎", "keep"}, {"esc", "cancel"}}
	}
	for _, b := range m.bindings {
		if b.where&m.here() == 0 || b.apt != nil && !b.apt(m) {
			continue
		}
		says := b.hint
		if b.says != nil {
			says = b.says(m)
		}
		if says != "" {
			hints = append(hints, hint{keySign(b.keys[0]), says})
		}
	}
	return hints
}
