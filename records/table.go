package records

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/rivo/uniseg"

	"github.com/meowdis/meowdis/resp"
)

// AppendTable appends a table for people, with what a scan leaves behind. It is at most
// width cells wide, for which the widest columns are cut; 0 is as wide as it is.
func (t Table) AppendTable(out []byte, escape bool, width int) ([]byte, error) {
	t = t.flat()
	if len(t.Rows) == 0 {
		return append(t.appendRest(out), "(no records)\n"...), nil
	}
	var text bytes.Buffer
	table := tablewriter.NewTable(&text, t.options()...)
	most := 0
	if width > 0 {
		most = t.widestCell(escape, width)
	}
	header := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		header[i] = cut(cellText(resp.MakeString(name), escape), most)
	}
	table.Header(header)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = cut(cellText(cell, escape), most)
		}
		if err := table.Append(cells); err != nil {
			return out, fmt.Errorf("making a table: %w", err)
		}
	}
	if err := table.Render(); err != nil {
		return out, fmt.Errorf("making a table: %w", err)
	}
	for line := range bytes.Lines(text.Bytes()) {
		out = append(append(out, bytes.TrimRight(line, " \n")...), '\n')
	}
	return t.appendRest(out), nil
}

// narrowest is what is left of the widest column, however little room there is.
const narrowest = 4

// widestCell is how wide a cell may be so that all columns have room, 0 for any.
func (t Table) widestCell(escape bool, width int) int {
	widths := make([]int, len(t.Columns))
	for i, name := range t.Columns {
		widths[i] = uniseg.StringWidth(cellText(resp.MakeString(name), escape))
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(cellText(cell, escape)))
		}
	}
	// Blanks stand around a cell, and a line between two.
	room := width - (3*len(widths) - 1)
	slices.Sort(widths)
	for i, w := range widths {
		if share := room / (len(widths) - i); w > share {
			return max(share, narrowest)
		}
		room -= w
	}
	return 0
}

func (t Table) appendRest(out []byte) []byte {
	if t.Cursor == "" {
		return out
	}
	return fmt.Appendf(out, "(more behind cursor %s)\n", t.Cursor)
}

func (t Table) options() []tablewriter.Option {
	align := make([]tw.Align, len(t.Columns))
	for i := range align {
		align[i] = tw.AlignLeft
		if isNumeric(t.Rows, i) {
			align[i] = tw.AlignRight
		}
	}
	return []tablewriter.Option{
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone, Symbols: tw.NewSymbols(tw.StyleLight),
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	}
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
