package records

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/rivo/uniseg"

	"github.com/meowdis/meowdis/redis/resp"
)

// WriteTable writes a table for display, whole lines at a time, with the cursor of an
// unfinished scan. It cuts the widest columns to fit width cells; 0 means no limit. It reads
// all rows twice, first to determine the column widths. It stores no rows, so its memory does
// not grow with the table.
func (t Table) WriteTable(w io.Writer, escape bool, width int) error {
	p := tablePrinter{w: w, escape: escape}
	if len(t.Rows) == 0 {
		p.out = append(t.appendRest(p.out), "(no records)\n"...)
		return p.flush()
	}
	columns, row := t.flat()
	header := make([]resp.Value, len(columns))
	for i, name := range columns {
		header[i] = resp.MakeString(name)
	}
	p.columns = make([]column, len(columns))
	for i := range p.columns {
		p.columns[i].right = true
	}
	p.fit(header)
	for i := range t.Rows {
		p.measure(row(i))
	}
	p.narrow(width)
	if err := p.print(header, len(t.Rows), row); err != nil {
		return fmt.Errorf("making a table: %w", err)
	}
	p.out = t.appendRest(p.out)
	return p.flush()
}

// atOnce limits the output buffer in bytes.
const atOnce = 32 << 10

// narrowest limits how far the widest column is cut.
const narrowest = 4

// tablePrinter formats the rows of a table.
type tablePrinter struct {
	w       io.Writer
	out     []byte
	escape  bool
	columns []column
}

type column struct {
	width int
	right bool // numbers only; right-aligned
}

// measure updates the column widths for a row.
func (p *tablePrinter) measure(row []resp.Value) {
	p.fit(row)
	for i, cell := range row {
		p.columns[i].right = p.columns[i].right && (cell.Kind == resp.Int || cell.Kind == resp.Double || cell.Kind == resp.Null)
	}
}

func (p *tablePrinter) fit(row []resp.Value) {
	for i, cell := range row {
		text := cellText(cell, p.escape)
		p.columns[i].width = max(p.columns[i].width, textWidth(text), twwidth.Width(text)) // tablewriter must not cut it
	}
}

// narrow cuts the widest columns so that the table fits width cells.
func (p *tablePrinter) narrow(width int) {
	if width <= 0 {
		return
	}
	widths := make([]int, len(p.columns))
	for i, c := range p.columns {
		widths[i] = c.width
	}
	// Each cell has a blank on both sides, and a line separates cells.
	room := width - (3*len(widths) - 1)
	slices.Sort(widths)
	for i, w := range widths {
		if share := room / (len(widths) - i); w > share {
			for c := range p.columns {
				p.columns[c].width = min(p.columns[c].width, max(share, narrowest))
			}
			return
		}
		room -= w
	}
}

// print prints the header and n rows.
func (p *tablePrinter) print(header []resp.Value, n int, row func(int) []resp.Value) error {
	table := tablewriter.NewTable(p, p.options()...)
	if err := table.Start(); err != nil {
		return err
	}
	table.Header(p.cells(header))
	for i := range n {
		if err := table.Append(p.cells(row(i))); err != nil {
			return err
		}
	}
	return table.Close()
}

// cells formats the cells of a row, cut to their columns' widths.
func (p *tablePrinter) cells(row []resp.Value) []string {
	texts := make([]string, len(row))
	for i, cell := range row {
		texts[i] = cut(cellText(cell, p.escape), p.columns[i].width)
	}
	return texts
}

// options sets the measured widths, so that rows can be printed one by one.
func (p *tablePrinter) options() []tablewriter.Option {
	const blanks = 2 // left and right of a cell
	align := make([]tw.Align, len(p.columns))
	widths := tw.NewMapper[int, int]()
	for i, c := range p.columns {
		widths.Set(i, c.width+blanks)
		if align[i] = tw.AlignLeft; c.right {
			align[i] = tw.AlignRight
		}
	}
	return []tablewriter.Option{
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{Borders: tw.BorderNone, Symbols: tw.NewSymbols(tw.StyleLight)})),
		tablewriter.WithStreaming(tw.StreamConfig{Enable: true}), tablewriter.WithColumnWidths(widths),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	}
}

// Write buffers partial lines and writes complete lines without trailing blanks.
func (p *tablePrinter) Write(text []byte) (int, error) {
	for piece := range bytes.Lines(text) {
		p.out = append(p.out, piece...)
		if n := len(p.out); n == 0 || p.out[n-1] != '\n' {
			continue
		}
		p.out = append(bytes.TrimRight(p.out[:len(p.out)-1], " "), '\n')
		if len(p.out) >= atOnce {
			if err := p.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(text), nil
}

func (p *tablePrinter) flush() error {
	_, err := p.w.Write(p.out)
	p.out = p.out[:0]
	return err
}

func (t Table) appendRest(out []byte) []byte {
	if t.Cursor == "" {
		return out
	}
	return fmt.Appendf(out, "(more after cursor %s)\n", t.Cursor)
}

// textWidth returns the number of cells of text.
func textWidth(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return uniseg.StringWidth(text)
		}
	}
	return len(text)
}

// cut returns the beginning of text that fits the width.
func cut(text string, width int) string {
	if textWidth(text) <= width {
		return text
	}
	end, used := 0, 0
	for g := uniseg.NewGraphemes(text); g.Next() && used+g.Width() < width; {
		used += g.Width()
		_, end = g.Positions()
	}
	return text[:end] + "…"
}
