package records

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/meowdis/meowdis/resp"
)

// AppendTable appends a table for people, with what a scan leaves behind. A cell
// wider than most is cut; 0 is as wide as it is.
func (t Table) AppendTable(out []byte, escape bool, most int) []byte {
	t = t.flat()
	if len(t.Rows) == 0 {
		return append(t.appendRest(out), "(no records)\n"...)
	}
	header := make([]resp.Value, len(t.Columns))
	for i, name := range t.Columns {
		header[i] = resp.MakeString(name)
	}
	columns := make([]column, len(t.Columns))
	for i := range columns {
		columns[i].numeric = isNumeric(t.Rows, i)
	}
	var lines [][]string
	for _, row := range append([][]resp.Value{header}, t.Rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = cut(cellText(cell, escape), most)
			columns[i].width = max(columns[i].width, uniseg.StringWidth(cells[i]))
		}
		lines = append(lines, cells)
	}
	out = appendRule(appendCells(out, columns, lines[0]), columns)
	for _, cells := range lines[1:] {
		out = appendCells(out, columns, cells)
	}
	return t.appendRest(out)
}

func (t Table) appendRest(out []byte) []byte {
	if t.Cursor == "" {
		return out
	}
	return fmt.Appendf(out, "(more behind cursor %s)\n", t.Cursor)
}

// column is how a column of a table is laid out.
type column struct {
	width   int
	numeric bool // stands at the right
}

func appendCells(out []byte, columns []column, cells []string) []byte {
	for i, text := range cells {
		if i > 0 {
			out = append(out, " │"...)
		}
		out = append(out, ' ')
		room := strings.Repeat(" ", columns[i].width-uniseg.StringWidth(text))
		if columns[i].numeric {
			out = append(append(out, room...), text...)
		} else {
			out = append(append(out, text...), room...)
		}
	}
	return append(bytes.TrimRight(out, " "), '\n')
}

// appendRule appends the line under the names of the columns.
func appendRule(out []byte, columns []column) []byte {
	for i, c := range columns {
		if i > 0 {
			out = append(out, "┼"...)
		}
		out = append(out, strings.Repeat("─", c.width+2)...)
	}
	return append(out, '\n')
}

// isNumeric tells whether a column holds numbers only.
func isNumeric(rows [][]resp.Value, column int) bool {
	for _, row := range rows {
		if k := row[column].Kind; k != resp.Int && k != resp.Double && k != resp.Null {
			return false
		}
	}
	return true
}

// cut is the beginning of text that has the width.
func cut(text string, width int) string {
	if width <= 0 || uniseg.StringWidth(text) <= width {
		return text
	}
	end, used := 0, 0
	for g := uniseg.NewGraphemes(text); g.Next() && used+g.Width() < width; {
		used += g.Width()
		_, end = g.Positions()
	}
	return text[:end] + "…"
}
