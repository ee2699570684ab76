package value

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace/display"
)

// table draws the visible elements under the column titles.
func (v *Pane) table(s *sheet) []string {
	widths := s.columnWidths(v.Now)
	heads := ""
	for i, c := range s.src.columns {
		if widths[i] > 0 {
			heads += "  " + c.fit(c.title, widths[i])
		}
	}
	lines := []string{v.Styles.Dim.Render(heads)}
	s.each(func(at position, c *chunk) {
		if c == nil {
			lines = append(lines, v.Styles.Dim.Render("  …"))
			return
		}
		lines = append(lines, v.element(s, s.cells(c.rows[at.line]), widths, at == s.pager.cursor))
	})
	if len(s.pager.chunks) > 0 && len(lines) == 1 {
		lines = append(lines, v.Styles.Dim.Render("  There are no "+s.src.unit[1]+"."))
	}
	return lines
}

// element draws one row of a table.
func (v *Pane) element(s *sheet, cells record, widths []int, selected bool) string {
	selected = selected && v.Dialog == nil
	look := v.Styles.Row(selected, v.InValue)
	line := look.Mark(selected)
	for i, cell := range cells {
		if widths[i] == 0 {
			continue
		}
		column := s.src.columns[i]
		style, gap := look.On(v.Styles.Accent), look.Text.Render("  ")
		switch {
		case i == len(cells)-1:
			style, gap = look.Text, ""
		case column.title == "#":
			style = look.Dim
		case column.expiry && cell != "":
			style = look.On(v.Styles.TTL(client.Atoi(cell), v.Now))
		}
		text := column.fit(column.show(cell, widths[i], v.Now), widths[i])
		if s.needle != "" {
			line += v.highlight(text, s.needle, style) + gap
			continue
		}
		line += style.Render(text) + gap
	}
	return line
}

// show returns the displayed text of a cell.
func (c column) show(cell string, width int, now int64) string {
	switch {
	case !c.expiry:
		return display.Text(cell, width)
	case cell == "":
		return "—"
	}
	return display.Remaining(client.Atoi(cell) - now)
}

func (c column) fit(s string, width int) string {
	if c.right {
		return display.FitRight(s, width)
	}
	return display.Fit(s, width)
}

// columnWidths returns the width of each column: the widest cell shown so far, within its share. The
// last column takes the rest. An expiry column without any expiry has no width.
func (s *sheet) columnWidths(now int64) []int {
	columns := s.src.columns
	if s.widths == nil {
		s.widths = make([]int, len(columns))
	}
	s.each(func(at position, c *chunk) {
		if c == nil {
			return
		}
		for i, cell := range s.cells(c.rows[at.line])[:len(columns)-1] {
			if !columns[i].expiry || cell != "" {
				s.widths[i] = max(s.widths[i], ansi.StringWidth(columns[i].show(cell, s.width, now)))
			}
		}
	})
	rest := s.width - 2
	for i, c := range columns[:len(columns)-1] {
		if c.expiry && s.widths[i] == 0 {
			continue
		}
		s.widths[i] = max(s.widths[i], len(c.title))
		if c.maxPercent > 0 {
			s.widths[i] = min(s.widths[i], s.width*c.maxPercent/100)
		}
		rest -= s.widths[i] + 2
	}
	s.widths[len(columns)-1] = max(rest, 1)
	return s.widths
}
