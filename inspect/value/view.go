package value

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/display"
)

// View draws the pane.
func (v *Pane) View() []string {
	switch {
	case v.Running(job.Opening) && v.Frame > 1 && !v.Shows(v.wanted):
		return []string{" " + v.Styles.Title.Render(display.Text(v.wanted, v.width)), " " + v.Styles.Dim.Render("loading…")}
	case v.phase == stopped && !v.Shows(v.wanted):
		return []string{" " + v.Styles.Title.Render(display.Text(v.wanted, v.width)), " " + v.Styles.Dim.Render("not loaded")}
	case v.showing == showsNothing:
		return nil
	}
	title := display.Text(v.Key, v.width)
	if s := v.sheet(); s != nil {
		title = display.Truncate(s.title, v.width)
	}
	if v.InValue {
		title = v.Styles.Accent.Bold(true).Render(title)
	} else {
		title = v.Styles.Title.Render(title)
	}
	lines := append([]string{title, v.facts()}, v.content()...)
	for i, line := range lines {
		lines[i] = " " + line
	}
	return lines
}

// facts returns the line under the title: type, size, expiry, form. It is shortened if the pane is
// narrow.
func (v *Pane) facts() string {
	line := strings.Join(v.factsOf(false), v.Styles.Dim.Render(" · "))
	if ansi.StringWidth(line) <= v.width {
		return line
	}
	return strings.Join(v.factsOf(true), v.Styles.Dim.Render(" · "))
}

func (v *Pane) factsOf(short bool) []string {
	var parts []string
	dim := v.Styles.Dim.Render
	s := v.sheet()
	if v.Kind != "" {
		parts = append(parts, v.Styles.Type(v.Kind).Render(display.Text(display.Type(v.Kind), 16)))
	}
	if s != nil && len(v.sheets) > 1 && s.src == nil {
		parts = append(parts, dim("one element of "+display.Grouped(v.size)), dim(display.Bytes(s.size)))
	} else if src := sourceOf(v.Kind); src != nil && v.size >= 0 && src.unit[1] != "" {
		size := display.Counted(v.size, src.unit[0], src.unit[1])
		if short && src.columns == nil {
			size = display.Bytes(v.size)
		}
		parts = append(parts, dim(size))
	}
	switch {
	case v.gone():
		parts = append(parts, v.Styles.Now.Render("gone"))
	case v.expires != 0 && short:
		parts = append(parts, v.Styles.TTL(v.expires, v.Now).Render(display.Remaining(v.expires-v.Now)+" left"))
	case v.expires != 0:
		parts = append(parts, v.Styles.TTL(v.expires, v.Now).Render("expires in "+display.Remaining(v.expires-v.Now)))
	case v.Kind == client.ClosedType || v.Conn.Refusals.Has("PTTL"):
	case !short:
		parts = append(parts, dim("no expiry"))
	}
	if s == nil {
		return parts
	}
	return append(parts, v.sheetFacts(s)...)
}

// sheetFacts returns the facts of a sheet: its form, its filter and its notes.
func (v *Pane) sheetFacts(s *sheet) (parts []string) {
	dim := v.Styles.Dim.Render
	switch {
	case s.isTable():
	case s.inDocument() && s.doc.chain != "":
		parts = append(parts, dim(s.doc.chain))
	case s.form == asHex:
		parts = append(parts, dim("hex"))
	case s.form == asBits:
		parts = append(parts, dim("bits"))
	}
	if s.filter != nil {
		parts = append(parts, v.Styles.Accent.Render(s.filter.summary()))
	}
	if s.live {
		parts = append(parts, v.Styles.Now.Render("live"))
	}
	if s.note != "" {
		parts = append(parts, dim(s.note))
	}
	if s.doc != nil && s.doc.note != "" {
		parts = append(parts, dim(s.doc.note))
	}
	return parts
}

// content returns the visible lines of the top sheet, or the reason why nothing is visible.
func (v *Pane) content() []string {
	s := v.sheet()
	if s != nil && s.isTable() && s.size != 0 {
		if n := s.chart.lines(v.height); n > 0 {
			return append(s.chart.draw(v, v.width, n), v.table(s)...)
		}
		return v.table(s)
	}
	lines := make([]string, v.headings(s))
	if s != nil && s.inDocument() {
		return append(lines, v.document(s.doc, s.needle)...)
	}
	if s == nil || s.size == 0 {
		return append(lines, v.Styles.Dim.Render(v.emptiness()))
	}
	return append(lines, v.bytes(s)...)
}

// emptiness returns the reason why there is nothing to show.
func (v *viewState) emptiness() string {
	switch {
	case v.Kind == "":
		return "This key does not exist."
	case v.showing == showsTooLarge:
		return "Too large to load. Type : JSON.GET KEY $.path"
	case v.Kind == client.ClosedType:
		return "Not permitted to read this key."
	case v.Kind == client.UnknownType:
		return "The type of this key is not permitted to read."
	case v.sheet() != nil && v.sheet().filter != nil && v.sheet().filter.trail != nil:
		return "Loading…"
	case v.sheet() != nil && v.sheet().filter != nil:
		return "No match. Press esc to see all."
	case v.sheet() == nil:
		return "This type cannot be shown."
	}
	return "Empty."
}

// each calls draw for the visible lines of s. It calls draw with nil for the first line that is not
// loaded, and stops.
func (s *sheet) each(draw func(at position, c *chunk)) {
	at := s.pager.top
	for range s.pager.height {
		c := s.pager.chunks[at.chunk]
		if c == nil {
			draw(at, nil)
			return
		}
		if at.line < c.len() {
			draw(at, c)
		}
		next, ok := s.pager.next(at)
		if !ok && s.pager.chunks[next.chunk] == nil && next.chunk <= s.pager.furthest() {
			draw(next, nil)
			return
		}
		if !ok {
			return
		}
		at = next
	}
}

// bytes draws text, bits or a hex dump.
func (v *Pane) bytes(s *sheet) []string {
	var lines []string
	s.each(func(at position, c *chunk) {
		if c == nil {
			lines = append(lines, v.Styles.Dim.Render("…"))
			return
		}
		span := c.lines[at.line]
		if s.form == asBits {
			place, bits := screen.BitsLine(int64(at.chunk)*windowSize+int64(span.Start), c.data[span.Start:span.End])
			lines = append(lines, v.Styles.Dim.Render(place)+"  "+bits)
			return
		}
		if s.form != asHex {
			lines = append(lines, v.highlight(screen.VisibleText(c.data[span.Start:span.End]), s.needle, v.Styles.Plain))
			return
		}
		offset := int64(at.chunk)*windowSize + int64(span.Start)
		place, hex, letters := screen.HexLine(offset, c.data[span.Start:span.End], screen.HexWidth(s.width))
		from, to := int(s.foundByte-1-offset), int(s.foundByte-1-offset)+s.foundLen
		if s.foundByte == 0 {
			from, to = 0, 0
		}
		lines = append(lines, v.Styles.Dim.Render(place)+"  "+v.highlightColumns(hex, screen.HexColumn(from), screen.HexColumn(to), v.Styles.Plain)+" "+
			v.highlightColumns(letters, from, to, v.Styles.Type("string")))
	})
	return lines
}

// highlightColumns renders text in style, with the columns from from to to reversed.
func (v *Pane) highlightColumns(text string, from, to int, style lipgloss.Style) string {
	from, to = min(max(from, 0), len(text)), min(max(to, 0), len(text))
	if from >= to {
		return style.Render(text)
	}
	return style.Render(text[:from]) + style.Reverse(true).Render(text[from:to]) + style.Render(text[to:])
}

// Place describes the position in the value.
func (v *viewState) Place() string {
	s := v.sheet()
	switch {
	case s != nil && s.filter != nil && s.size == 0:
		return s.filter.place()
	case s == nil || s.size == 0:
		return ""
	}
	if s.inDocument() && len(s.doc.rows) > 0 {
		return "line " + display.Grouped(int64(s.doc.rows[s.doc.cursor].line)+1) + " of " + display.Grouped(int64(len(s.doc.lines)))
	}
	if !s.isTable() {
		return s.bytePlace()
	}
	n, known := s.pager.lineNumber(s.pager.cursor)
	if s.numbered() || s.filter != nil {
		n, known = s.index(s.pager.cursor)+1, true
	}
	of := s.size
	if all, read := s.pager.lineCount(); read {
		of = all // the count may be older
	}
	switch {
	case s.filter != nil:
		return display.Grouped(n) + " of " + display.Grouped(s.size) + " · " + s.filter.place()
	case of <= 0:
		return ""
	case !known:
		return " of " + display.Grouped(of)
	}
	return display.Grouped(n) + " of " + display.Grouped(max(n, of))
}

// bytePlace describes how far into the bytes the screen reaches.
func (s *sheet) bytePlace() string {
	bottom, _ := s.pager.advance(s.pager.top, s.pager.height-1)
	c := s.pager.chunks[bottom.chunk]
	if c == nil || bottom.line >= len(c.lines) {
		return ""
	}
	at := min(int64(bottom.chunk)*windowSize+int64(c.lines[bottom.line].End), s.size)
	// A newline at the end is not on any line.
	if _, more := s.pager.next(bottom); !more && bottom.chunk == s.pager.furthest() {
		at = s.size
	}
	return display.Bytes(at) + " of " + display.Bytes(s.size) + " · " + client.Decimal(100*at/s.size) + "%"
}
