package inspect

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
)

// valueView is the pane of the value.
func (m *Model) valueView() []string {
	v := &m.value
	switch {
	case m.running(opening) && m.frame > 1 && (!v.loaded || v.key != v.wanted):
		return []string{" " + m.styles.title.Render(shown(v.wanted, v.width)), " " + m.styles.dim.Render("loading…")}
	case v.halted && (!v.loaded || v.key != v.wanted):
		return []string{" " + m.styles.title.Render(shown(v.wanted, v.width)), " " + m.styles.dim.Render("not loaded")}
	case !v.loaded:
		return nil
	}
	title := shown(v.key, v.width)
	if s := v.sheet(); s != nil {
		title = truncate(s.title, v.width)
	}
	if m.inValue || !m.wide() {
		title = m.styles.accent.Bold(true).Render(title)
	} else {
		title = m.styles.title.Render(title)
	}
	lines := append([]string{title, m.facts()}, m.content()...)
	for i, line := range lines {
		lines[i] = " " + line
	}
	return lines
}

// facts is the line under the title: type, size, time to live, form. Where there
// is little room, what need not be said is left out.
func (m *Model) facts() string {
	line := strings.Join(m.factsOf(false), m.styles.dim.Render(" · "))
	if ansi.StringWidth(line) <= m.value.width {
		return line
	}
	return strings.Join(m.factsOf(true), m.styles.dim.Render(" · "))
}

func (m *Model) factsOf(short bool) []string {
	v := &m.value
	var parts []string
	dim := m.styles.dim.Render
	s := v.sheet()
	if v.kind != "" {
		parts = append(parts, m.styles.kind(v.kind).Render(shown(shownKind(v.kind), 16)))
	}
	if s != nil && len(v.sheets) > 1 && s.src == nil {
		parts = append(parts, dim("one element of "+grouped(v.size)), dim(bytesize(s.size)))
	} else if src := sourceOf(v.kind); src != nil && v.size >= 0 {
		size := counted(v.size, src.unit[0], src.unit[1])
		if short && src.columns == nil {
			size = bytesize(v.size)
		}
		parts = append(parts, dim(size))
	}
	switch {
	case v.gone:
		parts = append(parts, m.styles.now.Render("gone"))
	case v.expires != 0 && short:
		parts = append(parts, m.ttlStyle(v.expires).Render(remaining(v.expires-m.now)+" left"))
	case v.expires != 0:
		parts = append(parts, m.ttlStyle(v.expires).Render("expires in "+remaining(v.expires-m.now)))
	case v.kind == closedKind || m.conn.refusals.has("PTTL"):
	case !short:
		parts = append(parts, dim("no expiry"))
	}
	switch {
	case s == nil || s.tabular():
	case s.inDocument() && s.doc.chain != "":
		parts = append(parts, dim(s.doc.chain))
	case s.form == asHex:
		parts = append(parts, dim("hex"))
	case s.form == asBits:
		parts = append(parts, dim("bits"))
	}
	if s != nil && s.note != "" {
		parts = append(parts, dim(s.note))
	}
	if s != nil && s.doc != nil && s.doc.note != "" {
		parts = append(parts, dim(s.doc.note))
	}
	return parts
}

// content is the lines of the top sheet that are on the screen, or why there are
// none.
func (m *Model) content() []string {
	s := m.value.sheet()
	if s != nil && s.tabular() && s.size != 0 {
		return m.table(s)
	}
	lines := make([]string, m.value.headings(s))
	if s != nil && s.inDocument() {
		return append(lines, m.document(s.doc, s.needle)...)
	}
	if s == nil || s.size == 0 {
		return append(lines, m.styles.dim.Render(m.value.emptiness()))
	}
	return append(lines, m.bytes(s)...)
}

// emptiness says why there is nothing to show.
func (v *valuePane) emptiness() string {
	switch {
	case v.kind == "":
		return "There is no such key."
	case v.tooLarge:
		return "Too large to be fetched whole. Type : JSON.GET KEY $.path"
	case v.kind == closedKind:
		return "This user may not read this key."
	case v.kind == unknownKind:
		return "The target does not tell the type of this key."
	case v.sheet() == nil:
		return "Values of this type are not shown here."
	}
	return "Empty."
}

// each calls draw for the lines of s that are on the screen; nil for the first
// that is not loaded.
func (s *sheet) each(draw func(at spot, c *chunk)) {
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

// bytes is a screen of text or of a hex dump.
func (m *Model) bytes(s *sheet) []string {
	var lines []string
	s.each(func(at spot, c *chunk) {
		if c == nil {
			lines = append(lines, m.styles.dim.Render("…"))
			return
		}
		span := c.lines[at.line]
		if s.form == asBits {
			place, bits := bitsLine(int64(at.chunk)*windowSize+int64(span.start), c.data[span.start:span.end])
			lines = append(lines, m.styles.dim.Render(place)+"  "+bits)
			return
		}
		if s.form != asHex {
			lines = append(lines, m.lit(textLine(c.data[span.start:span.end]), s.needle, m.styles.plain))
			return
		}
		offset := int64(at.chunk)*windowSize + int64(span.start)
		place, hex, letters := hexLine(offset, c.data[span.start:span.end], hexWidth(s.width))
		from, to := int(s.seen-1-offset), int(s.seen-1-offset)+s.match
		if s.seen == 0 {
			from, to = 0, 0
		}
		lines = append(lines, m.styles.dim.Render(place)+"  "+m.found(hex, hexColumn(from), hexColumn(to), m.styles.plain)+" "+
			m.found(letters, from, to, m.styles.kind("string")))
	})
	return lines
}

// found is text in a style, reversed between two of its columns.
func (m *Model) found(text string, from, to int, style lipgloss.Style) string {
	from, to = min(max(from, 0), len(text)), min(max(to, 0), len(text))
	if from >= to {
		return style.Render(text)
	}
	return style.Render(text[:from]) + style.Reverse(true).Render(text[from:to]) + style.Render(text[to:])
}

// place says where in the value the person is.
func (v *valuePane) place() string {
	s := v.sheet()
	if s == nil || s.size == 0 {
		return ""
	}
	if s.inDocument() && len(s.doc.rows) > 0 {
		return "line " + grouped(int64(s.doc.rows[s.doc.cursor].line)+1) + " of " + grouped(int64(len(s.doc.lines)))
	}
	if !s.tabular() {
		return s.bytePlace()
	}
	n, known := s.pager.place(s.pager.cursor)
	if s.numbered() {
		n, known = s.index(s.pager.cursor)+1, true
	}
	of := s.size
	if all, read := s.pager.all(); read {
		of = all // the count may be older
	}
	switch {
	case of <= 0:
		return ""
	case !known:
		return " of " + grouped(of)
	}
	return grouped(n) + " of " + grouped(max(n, of))
}

// bytePlace says how far into the bytes the screen reaches.
func (s *sheet) bytePlace() string {
	bottom, _ := s.pager.advance(s.pager.top, s.pager.height-1)
	c := s.pager.chunks[bottom.chunk]
	if c == nil || bottom.line >= len(c.lines) {
		return ""
	}
	at := min(int64(bottom.chunk)*windowSize+int64(c.lines[bottom.line].end), s.size)
	// A newline at the end is on no line.
	if _, more := s.pager.next(bottom); !more && bottom.chunk == s.pager.furthest() {
		at = s.size
	}
	return bytesize(at) + " of " + bytesize(s.size) + " · " + decimal(100*at/s.size) + "%"
}
