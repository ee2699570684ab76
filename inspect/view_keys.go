package inspect

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/keytype"
)

// keyColumns is the widths of the columns of the list. The type is cut to its
// first letters where there is little room.
type keyColumns struct{ key, kind, ttl, size int }

func (m *Model) keyColumns() keyColumns {
	c := keyColumns{kind: 6, ttl: 7, size: 10}
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
	lines := []string{m.filterLine(), m.titleLine(c)}
	for i, r := range m.keys.visible() {
		lines = append(lines, m.keyLine(r, c, m.keys.top+i == m.keys.cursor))
	}
	if len(m.keys.rows) == 0 {
		lines = append(lines, m.styles.dim.Render("  "+m.emptiness()))
	}
	return lines
}

// titleLine is the columns' titles, with an arrow at the one that makes the order.
func (m *Model) titleLine(c keyColumns) string {
	titles := [4]string{"KEY", "TYPE", "TTL", "SIZE"}
	column := map[catalog.Order]int{catalog.ByTTL: 2, catalog.BySize: 3, catalog.ByBytes: 3, catalog.ByType: 1}[m.keys.order]
	arrow := "↑"
	if m.keys.reverse != (m.keys.order == catalog.BySize || m.keys.order == catalog.ByBytes) {
		arrow = "↓"
	}
	switch m.keys.order {
	case catalog.ByBytes:
		titles[3] = "BYTES"
	case catalog.ByUpdated:
		titles[3], column = "CHANGED", 3
		arrow = map[bool]string{false: "↓", true: "↑"}[m.keys.reverse]
	}
	if !m.keys.tree() {
		room := [4]int{c.key, c.kind, c.ttl, c.size}[column] - 1
		titles[column] = titles[column][:min(len(titles[column]), room)] + arrow
	}
	return m.styles.dim.Render("  " + fit(titles[0], c.key) + " " + fit(titles[1], c.kind) + " " + fitRight(titles[2], c.ttl) + " " + fitRight(titles[3], c.size))
}

// filterLine is the filter, under edit or in force, and what else chooses keys.
func (m *Model) filterLine() string {
	width := m.listWidth()
	var chips []string
	if m.filtering != nil || m.keys.filter.text != "" {
		chips = append(chips, m.styles.dim.Render(mannerNames[m.keys.filter.manner]))
	}
	if m.keys.kind != "" {
		chips = append(chips, m.styles.kind(m.keys.kind).Render(shownKind(m.keys.kind)))
	}
	if m.keys.life != catalog.AnyLife {
		chips = append(chips, m.styles.soon.Render(lifeNames[m.keys.life]))
	}
	chosen := strings.Join(chips, m.styles.dim.Render(" · "))
	if chosen != "" {
		chosen += " "
	}
	switch {
	case m.filtering != nil:
		return between("  "+m.styles.key.Render("/ ")+m.promptLine(m.filtering, width-ansi.StringWidth(chosen)-5), chosen, width)
	case m.keys.filter.text != "":
		return between("  "+m.styles.key.Render("/ ")+m.styles.accent.Render(shown(m.keys.filter.text, width)), chosen, width)
	case m.keys.tree():
		return m.styles.dim.Render(between("  all keys, folders by "+whole(m.options.Delimiter), "", width))
	case chosen != "":
		return between(m.styles.dim.Render("  all names"), chosen, width)
	}
	return m.styles.dim.Render("  all keys")
}

// keyName is a row's name as it stands in the list: of what is in a folder only
// the rest, indented.
func (m *Model) keyName(r row, width int) string {
	name, indent := r.Name, ""
	if m.keys.tree() || r.Folder || r.level != "" {
		name = strings.TrimPrefix(name, r.level)
		sign := "  "
		if _, open := m.keys.open[r.Name]; r.Folder && open {
			sign = "▾ "
		} else if r.Folder {
			sign = "▸ "
		}
		indent = spaces(min(2*r.depth, width/2)) + sign
	}
	if _, marked := m.keys.marked[r.Name]; marked {
		indent = "✓ " + strings.TrimPrefix(indent, "  ")
	}
	return indent + shown(name, max(width-ansi.StringWidth(indent), 1))
}

func (m *Model) keyLine(r row, c keyColumns, selected bool) string {
	look := m.styles.row(selected, !m.inValue)
	kind, name := look.on(m.styles.kind(r.Facts.Type)), look.text
	ttl, size := look.on(m.ttlStyle(r.Facts.Expires)), look.dim
	if r.Folder {
		name = look.on(m.styles.accent)
	}
	if r.gone != 0 {
		faded := look.on(m.styles.faded)
		kind, name, ttl, size = faded, faded, faded, faded
	}
	if selected && r.gone == 0 {
		name = name.Bold(true)
	}
	key := m.keyName(r, c.key)
	line := look.mark(selected) + name.Render(key) + look.text.Render(spaces(c.key-ansi.StringWidth(key)+1))
	if r.Folder {
		return line + right(size, look, m.folderSize(r, c), c.kind+c.ttl+c.size+2) + look.text.Render(" ")
	}
	shortKind := truncateKind(r.Facts.Type, c.kind)
	return line + kind.Render(shortKind) + look.text.Render(spaces(c.kind-len(shortKind)+1)) +
		right(ttl, look, m.ttl(r), c.ttl) + look.text.Render(" ") +
		right(size, look, m.sizeCell(r, c.size), c.size) + look.text.Render(" ")
}

// folderSize is how many keys a folder holds, and how many bytes where an index can
// tell, once they are counted.
func (m *Model) folderSize(r row, c keyColumns) string {
	t, known := m.keys.tallies[r.Name]
	room, size := c.kind+c.ttl+c.size+2, ""
	if m.options.Index != nil {
		if room -= c.size + 1; t.sized {
			size = bytesize(t.bytes)
		} else if known {
			size = "…"
		}
		size = " " + fitRight(size, c.size)
	}
	if !known {
		return "…" + size
	}
	if s := counted(t.keys, "key", "keys"); len(s) <= room {
		return s + size
	}
	return display.Short(t.keys) + size
}

// sizeCell is the last column: what the order goes by, or else the size.
func (m *Model) sizeCell(r row, width int) string {
	switch {
	case m.keys.order == catalog.ByBytes && r.Facts.Bytes >= 0:
		return bytesize(r.Facts.Bytes)
	case m.keys.order == catalog.ByUpdated && r.Facts.Updated > 0:
		return remaining(m.now-r.Facts.Updated) + " ago"
	case r.Facts.Type == "":
		return ""
	}
	return sizeOf(r.Facts.Type, r.Facts.Size, width)
}

// right renders s at the right end of width cells, the rest in the line's look.
func right(style lipgloss.Style, l look, s string, width int) string {
	s = truncate(s, width)
	return l.text.Render(spaces(width-ansi.StringWidth(s))) + style.Render(s)
}

// shownKind is a type's name as people say it.
func shownKind(kind string) string { return keytype.Of(kind).Said() }

// truncateKind is a type's name in at most width cells, in ASCII. A name that a
// module made up is cut.
func truncateKind(kind string, width int) string {
	if kind == "" {
		return ""
	}
	if t := keytype.Of(kind); t.Known() {
		return t.Brevity(width)
	}
	kind = shown(kind, max(len(kind)+2, 1))
	return kind[:min(len(kind), width)]
}

// ttl is what is left of a key's time.
func (m *Model) ttl(r row) string {
	switch {
	case r.gone != 0:
		return "gone"
	case r.Facts.Expires != 0:
		return remaining(r.Facts.Expires - m.now)
	case r.Facts.Type != "" && m.conn.refusals.has("PTTL"):
		return "?"
	case r.Facts.Type != "":
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
	if kind == keytype.String || kind == keytype.JSON {
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
	case m.scan != nil && m.conn.refusals.has("SCAN"):
		return "SCAN is refused: o opens a key"
	case m.keys.halted:
		return "Nothing was loaded; r tries again."
	case m.keys.stale || !m.keys.atEnd || m.isSorting() || m.scan != nil && !m.scan.done && !m.scan.paused():
		return "Looking…"
	case m.filtered():
		return "No such key. Press esc to see all."
	}
	return "Database " + decimal(int64(m.db)) + " is empty."
}

// listPlace says where in the list the person is, and how much of the database
// was looked at.
func (m *Model) listPlace() string {
	l := &m.keys
	var parts []string
	if n := len(l.marked); n > 0 {
		parts = append(parts, counted(int64(n), "row", "rows")+" marked")
	}
	if at := m.rowPlace(); at != "" {
		parts = append(parts, at)
	}
	if m.scan != nil && m.scan.passed > 0 {
		parts = append(parts, "behind the first "+grouped(m.scan.passed))
	}
	switch s := m.scan; {
	case m.isSorting():
		looked, _ := m.sorted.Looked()
		parts = append(parts, "the first so far · "+m.scannedOf(looked, "sorted "))
	case m.levelSurvey != nil && m.running(sizing):
		looked, _ := m.levelSurvey.Looked()
		parts = append(parts, m.scannedOf(looked, "added up "))
	case m.outdated:
		parts = append(parts, "changed since it was sorted, r sorts again")
	case s != nil && m.conn.refusals.has("SCAN"):
	case s != nil && s.done && !m.filtered():
	case s != nil && s.done:
		parts = append(parts, "searched all keys")
	case s != nil:
		parts = append(parts, m.scannedOf(s.scanned, "scanned "))
		switch {
		case s.full():
			parts = append(parts, "list full, + for the next")
		case s.paused():
			parts = append(parts, "paused, + goes on")
		}
	case m.filtered() && l.atEnd && !l.stale:
		parts = append(parts, "searched all keys")
	case m.filtered() && l.filter.text != "":
		parts = append(parts, m.scannedOf(l.looked, "searched "))
	}
	if r := l.selected(); r != nil && !l.stale && !l.tree() && m.isCut(*r) {
		parts = append(parts, shown(r.Name, m.width))
	}
	return strings.Join(parts, " · ")
}

func (m *Model) scannedOf(n int64, verb string) string {
	if m.total >= 0 {
		return verb + grouped(min(n, m.total)) + " of " + counted(m.total, "key", "keys")
	}
	return verb + counted(n, "key", "keys")
}

// isCut reports whether the list has no room for a row's whole name.
func (m *Model) isCut(r row) bool {
	key := m.keyName(r, m.keyColumns().key)
	return strings.HasSuffix(key, "…")
}

// rowPlace is the number of the selected row, or its whole name in the tree, which
// shows a part of it.
func (m *Model) rowPlace() string {
	l := &m.keys
	r := l.selected()
	switch {
	case l.stale || m.isSorting():
		return ""
	case r == nil && m.filtered():
		return "none found"
	case r == nil:
		return ""
	case l.tree() && (r.level != "" || m.isCut(*r)):
		return shown(r.Name, m.width)
	case l.tree():
		return ""
	case l.base < 0:
		return ""
	}
	at := grouped(l.base + int64(l.cursor) + 1)
	switch n := l.base + int64(len(l.rows)); {
	case m.filtered() && l.atEnd:
		return at + " of " + grouped(n) + " found"
	case m.filtered():
		return at + " of " + grouped(n) + " or more found"
	case l.atEnd:
		return at + " of " + grouped(n)
	case m.scan != nil:
		return at + " of " + grouped(int64(m.scan.keys.len()))
	case m.total >= 0:
		return at + " of " + grouped(m.total)
	}
	return at
}
