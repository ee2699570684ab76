package inspect

import (
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/display"
)

// keyColumns is the widths of the columns of the list. The type is cut to its
// first letters where there is little room.
type keyColumns struct{ kind, key, ttl, size int }

func (m *Model) keyColumns() keyColumns {
	c := keyColumns{kind: 6, ttl: 7, size: 9}
	if m.listWidth() < 60 {
		c.size = 6
	}
	if m.listWidth() < 44 {
		c.kind = 4
	}
	c.key = max(m.listWidth()-c.kind-c.ttl-c.size-2-3-1, 1)
	return c
}

// listView is the pane of keys.
func (m *Model) listView() []string {
	c := m.keyColumns()
	titles := "  " + fit("TYPE", c.kind) + " " + fit("KEY", c.key) + " " + fitRight("TTL", c.ttl) + " " + fitRight("SIZE", c.size)
	lines := []string{m.filterLine(), m.styles.dim.Render(titles)}
	for i, e := range m.keys.visible() {
		lines = append(lines, m.keyLine(e, c, m.keys.top+i == m.keys.cursor))
	}
	if len(m.keys.entries) == 0 {
		lines = append(lines, m.styles.dim.Render("  "+m.emptiness()))
	}
	return lines
}

// filterLine is the filter, under edit or in force, and the type.
func (m *Model) filterLine() string {
	width := m.listWidth()
	kind := ""
	if m.keys.kind != "" {
		kind = m.styles.dim.Render("type ") + m.styles.kind(m.keys.kind).Render(m.keys.kind) + " "
	}
	switch {
	case m.filtering != nil:
		before, after := m.filtering.window(width - ansi.StringWidth(kind) - 6)
		cursor := m.styles.accent.Render("▏")
		return between("  "+m.styles.key.Render("/ ")+before+cursor+after, kind, width)
	case m.keys.filter != "":
		return between("  "+m.styles.key.Render("/ ")+m.styles.accent.Render(shown(m.keys.filter, width)), kind, width)
	case kind != "":
		return between(m.styles.dim.Render("  all names"), kind, width)
	}
	return m.styles.dim.Render("  all keys")
}

func (m *Model) keyLine(e *entry, c keyColumns, selected bool) string {
	look := m.styles.row(selected, !m.inValue)
	kind, name := look.on(m.styles.kind(e.kind)), look.text
	ttl := look.on(m.ttlStyle(e.expires))
	size := look.dim
	if e.gone != 0 {
		faded := look.on(m.styles.faded)
		kind, name, ttl, size = faded, faded, faded, faded
	}
	if selected && e.gone == 0 {
		name = name.Bold(true)
	}
	key := shown(e.key, c.key)
	return look.mark(selected) +
		kind.Render(truncateKind(e.kind, c.kind)) + look.text.Render(spaces(c.kind-len(truncateKind(e.kind, c.kind))+1)) +
		name.Render(key) + look.text.Render(spaces(c.key-ansi.StringWidth(key)+1)) +
		right(ttl, look, m.ttl(e), c.ttl) + look.text.Render(" ") +
		right(size, look, sizeOf(e.kind, e.size, c.size), c.size) + look.text.Render(" ")
}

// right renders s at the right end of width cells, the rest in the line's look.
func right(style lipgloss.Style, look row, s string, width int) string {
	s = truncate(s, width)
	return look.text.Render(spaces(width-ansi.StringWidth(s))) + style.Render(s)
}

// truncateKind is a type's name in at most width cells, in ASCII. A name that a
// module made up is cut.
func truncateKind(kind string, width int) string {
	kind = shown(kind, max(len(kind)+2, 1))
	if kind == `""` {
		return ""
	}
	if width < 6 && kind == "string" {
		return "str"
	}
	return kind[:min(len(kind), width)]
}

// ttl is what is left of e's time.
func (m *Model) ttl(e *entry) string {
	switch {
	case e.gone != 0:
		return "gone"
	case e.expires != 0:
		return remaining(e.expires - m.now)
	case e.described:
		return "—"
	}
	return ""
}

// ttlStyle draws the eye to what ends soon.
func (m *Model) ttlStyle(expires int64) lipgloss.Style {
	left := expires - m.now
	switch {
	case expires == 0:
		return m.styles.dim
	case left < 10_000:
		return m.styles.now
	case left < 60_000:
		return m.styles.soon
	}
	return m.styles.plain
}

// sizeOf is a size in at most width cells: bytes with their unit, elements as a
// number.
func sizeOf(kind string, size int64, width int) string {
	if size < 0 {
		return ""
	}
	if kind == "string" {
		return bytesize(size)
	}
	if s := grouped(size); len(s) <= width {
		return s
	}
	return display.Short(size)
}

// emptiness says why no key is shown.
func (m *Model) emptiness() string {
	switch {
	case m.keys.halted:
		return "Nothing was loaded. Press r to try again."
	case !m.keys.done:
		return "Looking…"
	case m.filtered():
		return "No such key. Press esc to see all."
	}
	return "Database " + decimal(int64(m.db)) + " is empty."
}

// listPlace says where in the list the person is, and how much of the database
// was looked at.
func (m *Model) listPlace() string {
	n := int64(len(m.keys.entries))
	if n == 0 && m.keys.done {
		return ""
	}
	at := grouped(int64(m.keys.cursor)+1) + " of " + grouped(n)
	if n == 0 {
		at = "none"
	}
	switch {
	case !m.filtered() && m.keys.done:
		return at
	case !m.filtered():
		return at + " loaded"
	case m.keys.done:
		return at + " found · searched all keys"
	}
	searched := grouped(m.keys.scanned) + " keys"
	if m.total >= 0 {
		searched = grouped(min(m.keys.scanned, m.total)) + " of " + grouped(m.total) + " keys"
	}
	return at + " found · searched " + searched
}
