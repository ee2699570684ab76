package inspect

import (
	"slices"
	"strings"

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
	if m.width == 0 {
		return ""
	}
	lines := append([]string{m.header()}, m.body()...)
	lines = append(lines, m.status(), m.footer())
	for i, line := range lines {
		lines[i] = truncate(line, m.width)
	}
	return strings.Join(lines[:min(len(lines), m.height)], "\n")
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

// cover draws the overlay's box in the middle of lines.
func (m *Model) cover(lines []string) {
	inner := m.overlay.view(m, m.width-4, max(len(lines)-2, 2))
	width := 0
	for _, line := range inner {
		width = max(width, ansi.StringWidth(line))
	}
	side := m.styles.accent.Render("│")
	box := []string{m.styles.accent.Render("╭" + strings.Repeat("─", width) + "╮")}
	for _, line := range inner {
		box = append(box, side+fit(line, width)+side)
	}
	box = append(box, m.styles.accent.Render("╰"+strings.Repeat("─", width)+"╯"))
	x, y := max((m.width-width-2)/2, 0), max((len(lines)-len(box))/2, 0)
	for i, line := range box {
		if y+i < len(lines) {
			under := fit(lines[y+i], m.width)
			before := fit(ansi.Truncate(under, x, ""), x)
			lines[y+i] = before + line + tail(under, m.width-x-width-2)
		}
	}
}

// header names the target, the database and how much is in it, and tells whether
// anything can be written.
func (m *Model) header() string {
	narrow := m.width < 60
	brand := m.styles.brand.Render(" meowdis ")
	total := "…"
	if m.total >= 0 {
		total = counted(m.total, "key", "keys")
		if narrow {
			total = display.Short(m.total) + " keys"
		}
	}
	lock := m.styles.dim.Render("read-only")
	switch {
	case m.unlocked && narrow:
		lock = m.styles.alarm.Render("RW")
	case m.unlocked:
		lock = m.styles.alarm.Render(" WRITING ")
	case narrow:
		lock = ""
	}
	dot := m.styles.dim.Render(" · ")
	right := m.styles.dim.Render("db ") + decimal(int64(m.db)) + dot + total + " "
	if lock != "" {
		right = lock + dot + right
	}
	room := m.width - ansi.StringWidth(brand) - ansi.StringWidth(right) - 2
	target := whole(m.options.Target)
	return between(brand+" "+truncateLeft(target, room), right, m.width)
}

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// working is what runs, once it has run for a moment.
func (m *Model) working() string {
	p, any := m.busy()
	if !any || m.frame == 0 {
		return ""
	}
	line := m.styles.accent.Render(spinner[m.frame%len(spinner)]) + m.styles.dim.Render(" "+purposeNames[p])
	if s := (m.now - m.jobs[p].since) / 1000; s > 0 {
		line += m.styles.dim.Render(" " + remaining(s*1000))
	}
	return line + " "
}

// status is the last error, or where the person is.
func (m *Model) status() string {
	left := m.place()
	switch {
	case m.failure != "":
		left = m.styles.failure.Render("✗ " + shown(m.failure, m.width))
	case m.notice != "":
		left = m.notice
	}
	return between(" "+left, m.working(), m.width)
}

func (m *Model) place() string {
	if m.inValue {
		return m.styles.dim.Render(m.value.place())
	}
	return m.styles.dim.Render(m.listPlace())
}

// footer is the key hints of the place, as many as fit; help and quit, the last
// ones, always do.
func (m *Model) footer() string {
	const gap = 3
	var hints []string
	room := m.width - 2 + gap // the first hint has no gap before it
	for _, h := range m.hints() {
		hints = append(hints, m.styles.key.Render(h[0])+" "+m.styles.dim.Render(h[1]))
	}
	always := hints[max(len(hints)-2, 0):]
	for _, h := range always {
		room -= ansi.StringWidth(h) + gap
	}
	var fitting []string
	for _, h := range hints[:len(hints)-len(always)] {
		if w := ansi.StringWidth(h) + gap; w <= room {
			fitting = append(fitting, h)
			room -= w
		}
	}
	return " " + strings.Join(append(fitting, always...), spaces(gap))
}

func (m *Model) hints() [][2]string {
	switch {
	case m.overlay != nil:
		return slices.DeleteFunc(m.overlay.footer(), func(h [2]string) bool { return h == sqlHint && m.options.Explain == nil })
	case m.filtering != nil:
		return [][2]string{{"tab", "next of " + strings.Join(mannerNames[:], ", ")}, {"⏎", "keep"}, {"esc", "undo"}}
	}
	var hints [][2]string
	for _, b := range m.bindings {
		if b.hint != "" && b.where&m.here() != 0 && (b.apt == nil || b.apt(m)) {
			first, _, _ := strings.Cut(b.label, " ")
			hints = append(hints, [2]string{first, b.hint})
		}
	}
	return hints
}
