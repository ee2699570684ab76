package stats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/keyspace/indexes"
	"github.com/meowdis/meowdis/store/keytype"
)

// Report formats summaries for display, in lines of at most Width cells.
type Report struct {
	Width  int
	Colour bool
	// Measure is the source of byte counts. Samples is the number of elements per key that a
	// server samples; 0 means all.
	Measure Measure
	Samples int64
	// File is the file size in bytes, 0 without a file.
	File int64
	// Keys is the number of keys in the database, -1 if unknown.
	Keys int64
	// Indexes are the search indexes of the target.
	Indexes []indexes.Index
}

// Measure is the source of byte counts.
type Measure string

const (
	Tables      Measure = "tables"       // exact bytes of names and values
	MemoryUsage Measure = "memory usage" // as MEMORY USAGE reports
)

// row holds the cells of a table line and the length of the bar after them, from 0 to 1.
type row struct {
	cells []string
	bar   float64
	of    int64 // the row's part of the whole, if it has a share
}

// column describes a table column. Name columns shrink when space is short.
type column struct {
	title string
	right bool
	names bool
}

// Stats returns the report of the stats verb.
func (r Report) Stats(s *Summary, prefixes int) string {
	var b strings.Builder
	b.WriteString(r.head(s))
	if s.Total.Keys == 0 {
		b.WriteString(r.indexTable())
		return b.String()
	}
	sized := s.Unsized < s.Total.Keys
	measured := func(t Totals) int64 {
		if sized && s.Total.Bytes > 0 {
			return t.Bytes
		}
		return t.Keys
	}
	tallied := func(title string, all []Group, name func(string) string) {
		columns := []column{{title: title, names: true}, {title: "KEYS", right: true}, {title: "ELEMENTS", right: true}, {title: "BYTES", right: true}, {right: true}}
		var rows []row
		for _, g := range all {
			cells := []string{name(g.Name), display.Grouped(g.Keys), dashed(g.Elements > 0, display.Grouped(g.Elements)), dashed(sized, display.Bytes(g.Bytes))}
			rows = append(rows, row{cells: cells, of: measured(g.Totals)})
		}
		b.WriteString("\n" + r.table(columns, withPercents(rows, measured(s.Total))))
	}
	tallied("TYPE", s.TypeGroups(), display.Type)
	b.WriteString(r.spread(s))
	if largest, all := s.PrefixGroups(prefixes); len(s.Separator) > 0 && prefixes > 0 {
		tallied("PREFIX", largest, prefixName)
		if more := all - len(largest); more > 0 {
			fmt.Fprintf(&b, "and %s\n", display.Counted(int64(more), "prefix more", "prefixes more"))
		}
	}
	var rows []row
	for i, l := range lifetimes {
		if n := s.Lifetimes[i]; n > 0 {
			rows = append(rows, row{cells: []string{l.name, display.Grouped(n)}, of: n})
		}
	}
	b.WriteString("\n" + r.table([]column{{title: "TIME TO LIVE"}, {title: "KEYS", right: true}, {right: true}}, withPercents(rows, s.Total.Keys)))
	if len(s.Largest) > 0 {
		b.WriteString("\n" + r.ranking("LARGEST KEYS", s.Largest, true))
	}
	b.WriteString(r.indexTable())
	return b.String()
}

// indexTable describes the search indexes, "" without any. The bytes of keys leave them out.
func (r Report) indexTable() string {
	if len(r.Indexes) == 0 {
		return ""
	}
	columns := []column{{title: "SEARCH INDEX", names: true}, {title: "DOCUMENTS", right: true}, {title: "BYTES", right: true}, {right: true}}
	var rows []row
	total := int64(0)
	for _, ix := range r.Indexes {
		known := ix.Err == nil
		rows = append(rows, row{cells: []string{display.Whole(ix.Name), dashed(known, display.Grouped(ix.Docs)), dashed(known, display.Bytes(ix.Bytes))}, of: ix.Bytes})
		total += ix.Bytes
	}
	return "\n" + r.table(columns, withPercents(rows, total))
}

// head describes the totals and the part that was read.
func (r Report) head(s *Summary) string {
	var b strings.Builder
	b.WriteString(display.Counted(s.Total.Keys, "key", "keys"))
	if s.Unsized < s.Total.Keys {
		b.WriteString(", " + display.Bytes(s.Total.Bytes))
	}
	if s.Expiring > 0 {
		b.WriteString(", " + display.Grouped(s.Expiring) + " with a time to live")
	}
	b.WriteString("\n")
	if s.Total.Keys < r.Keys {
		b.WriteString(r.sampled())
	}
	switch {
	case s.Total.Keys == 0:
	case s.Unsized == s.Total.Keys:
		b.WriteString("The target does not tell bytes (MEMORY USAGE): shares are of the keys.\n")
	case s.Unsized > 0:
		fmt.Fprintf(&b, "The bytes of %s are not known.\n", display.Counted(s.Unsized, "key", "keys"))
		fallthrough
	default:
		b.WriteString(r.measure())
	}
	return b.String()
}

// sampled says that the report is about a part of the keys.
func (r Report) sampled() string {
	return fmt.Sprintf("That is what was looked at, of %s.\n", display.Counted(r.Keys, "key", "keys"))
}

func (r Report) measure() string {
	switch {
	case r.Measure == Tables && r.File > 0:
		return "Bytes are those of names and values.\nThe whole file takes " + display.Bytes(r.File) + ".\n"
	case r.Measure == Tables:
		return "Bytes are those of names and values.\n"
	case r.Samples == 0:
		return "Bytes are what MEMORY USAGE says.\n"
	}
	return fmt.Sprintf("Bytes are what MEMORY USAGE estimates from %s of each key.\n", display.Counted(r.Samples, "element", "elements"))
}

// BigKeys returns the report of the bigkeys verb.
func (r Report) BigKeys(s *Summary) string {
	var b strings.Builder
	b.WriteString(r.head(s))
	for _, g := range s.TypeGroups() {
		fmt.Fprintf(&b, "\n%s: %s", display.Type(g.Name), display.Counted(g.Keys, "key", "keys"))
		if g.Elements > 0 {
			b.WriteString(", " + display.Counted(g.Elements, keytype.Of(g.Name).One, keytype.Of(g.Name).Many))
		}
		if len(s.ByBytes[g.Name]) > 0 {
			b.WriteString(", " + display.Bytes(g.Bytes))
		}
		b.WriteString("\n")
		b.WriteString(r.ranking("BY BYTES", s.ByBytes[g.Name], false))
		if g.Elements > 0 {
			b.WriteString(r.ranking("BY "+strings.ToUpper(keytype.Of(g.Name).Many), s.ByCount[g.Name], false))
		}
	}
	return b.String()
}

func (r Report) ranking(title string, keys Ranking, types bool) string {
	if len(keys) == 0 {
		return ""
	}
	columns := []column{{title: title, names: true}, {right: true}, {right: true}}
	if types {
		columns = slices.Insert(columns, 1, column{})
	}
	var rows []row
	for _, k := range keys {
		counted := "-"
		if keytype.Of(k.Type).Parts != nil && k.Count >= 0 {
			counted = display.Counted(k.Count, keytype.Of(k.Type).One, keytype.Of(k.Type).Many)
		}
		cells := []string{display.Whole(string(k.Name)), counted, dashed(k.Bytes >= 0, display.Bytes(k.Bytes))}
		if types {
			cells = slices.Insert(cells, 1, display.Type(k.Type))
		}
		rows = append(rows, row{cells: cells, bar: -1})
	}
	return r.table(columns, rows)
}

func prefixName(name string) string {
	switch name {
	case NoPrefix:
		return "(no prefix)"
	case OtherPrefixes:
		return "(not told apart)"
	}
	return display.Whole(name)
}

func dashed(known bool, text string) string {
	if !known {
		return "-"
	}
	return text
}

// withPercents adds a cell with the share of each row, in tenths of a percent of all.
func withPercents(rows []row, all int64) []row {
	parts := make([]int64, len(rows))
	for i, r := range rows {
		parts[i] = r.of
	}
	for i, n := range display.Shares(parts, all, 1000) {
		rows[i].cells = append(rows[i].cells, fmt.Sprintf("%d.%d%%", n/10, n%10))
		rows[i].bar = float64(rows[i].of) / float64(all)
	}
	return rows
}

// Bars fill the free width within these limits.
const (
	shortestBar = 4
	longestBar  = 60
)

// alignCells pads cells to the widths of their columns, and joins them.
func alignCells(columns []column, widths []int, cells []string) string {
	var out strings.Builder
	for i, c := range columns {
		if i > 0 {
			out.WriteString("  ")
		}
		if c.right {
			out.WriteString(display.FitRight(cells[i], widths[i]))
		} else {
			out.WriteString(display.Fit(cells[i], widths[i]))
		}
	}
	return out.String()
}

// table aligns rows in columns, with bars in the remaining width.
func (r Report) table(columns []column, rows []row) string {
	widths := make([]int, len(columns))
	total, names := 2*(len(columns)-1), -1
	for i, c := range columns {
		widths[i] = ansi.StringWidth(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row.cells[i]))
		}
		if total += widths[i]; c.names {
			names = i
		}
	}
	bars := len(rows) > 0 && rows[0].bar >= 0
	if last := len(columns) - 1; bars && total > r.Width && columns[last].title == "" {
		total -= widths[last] + 2 // drop the shares: the other columns imply them
		columns = columns[:last]
	}
	most := r.Width
	if bars {
		most -= shortestBar + 2
	}
	if over := total - most; over > 0 && names >= 0 {
		cut := min(over, max(widths[names]-8, 0))
		widths[names], total = widths[names]-cut, total-cut
	}
	room := min(r.Width-total-2, longestBar)
	var b strings.Builder
	line := func(cells []string, bar string) {
		text := alignCells(columns, widths, cells)
		if bar != "" {
			text += "  " + r.paint("36", bar)
		} else {
			text = strings.TrimRight(text, " ")
		}
		b.WriteString(text + "\n")
	}
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
	}
	line(titles, "")
	for _, row := range rows {
		line(row.cells, drawBar(row.bar, room))
	}
	return b.String()
}

// drawBar returns a bar of at most width cells, in eighths of a cell.
func drawBar(share float64, width int) string {
	if share <= 0 || width < shortestBar {
		return ""
	}
	eighths := max(int(share*float64(8*width)+0.5), 1)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}

func (r Report) paint(code, text string) string {
	if !r.Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
