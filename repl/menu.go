package repl

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// menu shows candidates below the line.
type menu struct {
	completion
	selected int // -1 for none
	top      int // the first visible row
}

const (
	menuRows      = 8
	maxLabelWidth = 40 // columns of a label with a note
)

// move moves the selection by by, and wraps around.
func (m *menu) move(by int) {
	n := len(m.items)
	if m.selected < 0 && by < 0 {
		m.selected = 0
	}
	m.selected = ((m.selected+by)%n + n) % n
}

// page moves the selection by pages, and stops at the ends.
func (m *menu) page(by int) { m.selected = min(max(m.selected+by*menuRows, 0), len(m.items)-1) }

// described reports whether a candidate has a note.
func (m *menu) described() bool {
	for _, c := range m.items {
		if c.about != "" {
			return true
		}
	}
	return false
}

// lines renders the menu: one candidate with its note on a row, or several candidates
// without notes.
func (m *menu) lines(columns int, colour bool) []string {
	width := 1
	for _, c := range m.items {
		width = max(width, ansi.StringWidth(c.text))
	}
	described := m.described()
	across := 1
	if described {
		width = min(width, maxLabelWidth, columns-2)
	} else {
		width = min(width, columns-2)
		across = max(1, columns/(width+2))
	}
	rows := (len(m.items) + across - 1) / across
	m.scroll(across, rows)
	var lines []string
	for row := m.top; row < min(rows, m.top+menuRows); row++ {
		var b strings.Builder
		for i := row * across; i < min(len(m.items), (row+1)*across); i++ {
			b.WriteString(m.cell(i, width, colour))
			if described {
				b.WriteString("  " + faint(m.items[i].about, colour))
			} else {
				b.WriteString("  ")
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	if rows > menuRows || m.more {
		lines = append(lines, faint(m.count(), colour))
	}
	return lines
}

// count returns the number of candidates as text.
func (m *menu) count() string {
	switch {
	case m.selected >= 0:
		return fmt.Sprintf("%d of %d", m.selected+1, len(m.items))
	case m.searching:
		return fmt.Sprintf("%d, looking for more …", len(m.items))
	case m.more:
		return fmt.Sprintf("%d, and maybe more", len(m.items))
	}
	return fmt.Sprintf("%d in all", len(m.items))
}

func (m *menu) scroll(across, rows int) {
	at := max(m.selected, 0) / across
	m.top = min(max(m.top, at-menuRows+1), at, max(0, rows-menuRows))
	m.top = max(m.top, 0)
}

func (m *menu) cell(i, width int, colour bool) string {
	text := ansi.Truncate(m.items[i].text, width, "…")
	padded := text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
	switch {
	case i != m.selected:
		return padded
	case colour:
		return sgr(padded, "7")
	}
	return ">" + padded
}

func faint(text string, colour bool) string {
	if !colour || text == "" {
		return text
	}
	return sgr(text, dim)
}
