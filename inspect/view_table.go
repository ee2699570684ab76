package inspect

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// table is a screen of elements under their columns' titles.
func (m *Model) table(s *sheet) []string {
	widths := s.columnWidths()
	heads := make([]string, len(widths))
	for i, c := range s.src.columns {
		heads[i] = c.fit(c.title, widths[i])
	}
	lines := []string{m.styles.dim.Render("  " + strings.Join(heads, "  "))}
	s.each(func(at spot, c *chunk) {
		if c == nil {
			lines = append(lines, m.styles.dim.Render("  …"))
			return
		}
		lines = append(lines, m.element(s, c.rows[at.line], widths, at == s.pager.cursor))
	})
	return lines
}

// element is a line of a table.
func (m *Model) element(s *sheet, cells record, widths []int, selected bool) string {
	look := m.styles.row(selected, m.inValue)
	line := look.mark(selected)
	for i, cell := range cells {
		style, gap := look.on(m.styles.accent), look.text.Render("  ")
		switch {
		case i == len(cells)-1:
			style, gap = look.text, ""
		case s.src.columns[i].title == "#":
			style = look.dim
		}
		line += style.Render(s.src.columns[i].fit(shown(cell, widths[i]), widths[i])) + gap
	}
	return line
}

func (c column) fit(s string, width int) string {
	if c.right {
		return fitRight(s, width)
	}
	return fit(s, width)
}

// columnWidths is the width of each column: what its cells need, as far as the
// screen has shown them, within its share; the last one takes the rest.
func (s *sheet) columnWidths() []int {
	columns := s.src.columns
	if s.widths == nil {
		s.widths = make([]int, len(columns))
	}
	s.each(func(at spot, c *chunk) {
		if c == nil {
			return
		}
		for i, cell := range c.rows[at.line][:len(columns)-1] {
			s.widths[i] = max(s.widths[i], ansi.StringWidth(shown(cell, s.width)))
		}
	})
	rest := s.width - 2
	for i, c := range columns[:len(columns)-1] {
		s.widths[i] = max(s.widths[i], len(c.title))
		if c.most > 0 {
			s.widths[i] = min(s.widths[i], s.width*c.most/100)
		}
		rest -= s.widths[i] + 2
	}
	s.widths[len(columns)-1] = max(rest, 1)
	return s.widths
}
