package keys

import (
	"cmp"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/store/keytype"
)

// keyColumns holds the widths of the columns of the list. A narrow list abbreviates the type and has
// one column for elements or bytes: its items width is 0.
type keyColumns struct{ key, kind, ttl, items, bytes int }

func (l *Pane) keyColumns() keyColumns {
	c := keyColumns{kind: 6, ttl: 7, items: 9, bytes: 8}
	switch {
	case l.width < 44:
		c.kind, c.items, c.bytes = 4, 0, 7
	case l.width < 54:
		c.items, c.bytes = 0, 7
	case l.width < 60:
		c.kind, c.items, c.bytes = 4, 6, 7
	}
	c.key = max(l.width-2-c.right()-1, 1)
	return c
}

// right returns the width of the columns after the key, with the gaps before them.
func (c keyColumns) right() int {
	width := 1 + c.kind + 1 + c.ttl + 1 + c.bytes
	if c.items > 0 {
		width += 1 + c.items
	}
	return width
}

// share returns the width of the share of a level, which replaces the type and the TTL.
func (c keyColumns) share() int { return c.kind + 1 + c.ttl }

// View draws the pane.
func (l *Pane) View() []string {
	c := l.keyColumns()
	lines := []string{l.filterLine(), l.titleLine(c)}
	low, high, _ := l.spanRows()
	for i, r := range l.visible() {
		at := l.top + i
		_, open := l.open[r.Name]
		lines = append(lines, l.keyLine(r, c, at == l.cursor && l.Dialog == nil, low <= at && at <= high && !(r.Folder && open)))
	}
	if len(l.rows) == 0 {
		lines = append(lines, l.Styles.Dim.Render("  "+l.emptiness()))
	}
	return lines
}

// titleLine returns the column titles, with an arrow at the sort column.
func (l *Pane) titleLine(c keyColumns) string {
	titles := [5]string{"KEY", "TYPE", "TTL", "ITEMS", "BYTES"}
	if c.items == 0 {
		titles[4] = "SIZE"
	}
	column := map[catalog.Order]int{catalog.ByTTL: 2, catalog.BySize: 3, catalog.ByBytes: 4, catalog.ByType: 1}[l.order]
	arrow := "↑"
	if l.reverse != (l.order == catalog.BySize || l.order == catalog.ByBytes) {
		arrow = "↓"
	}
	switch l.order {
	case catalog.BySize:
		if c.items == 0 {
			column = 4
		}
	case catalog.ByBytes:
		titles[4] = "BYTES"
	case catalog.ByUpdated:
		titles[4], column = "CHANGED", 4
		arrow = map[bool]string{false: "↓", true: "↑"}[l.reverse]
	}
	if !l.tree() || l.order != catalog.ByName {
		room := [5]int{c.key, c.kind, c.ttl, c.items, c.bytes}[column] - 1
		titles[column] = titles[column][:min(len(titles[column]), room)] + arrow
	}
	line := "  " + display.Fit(titles[0], c.key) + " "
	if l.shares() {
		line += display.Fit("SHARE", c.share())
	} else {
		line += display.Fit(titles[1], c.kind) + " " + display.FitRight(titles[2], c.ttl)
	}
	if c.items > 0 {
		line += " " + display.FitRight(titles[3], c.items)
	}
	return l.Styles.Dim.Render(line + " " + display.FitRight(titles[4], c.bytes))
}

// filterLine returns the filter prompt or the active filters.
func (l *Pane) filterLine() string {
	width := l.width
	var chips []string
	if l.filterPrompt != nil || l.filter.text != "" {
		chips = append(chips, l.Styles.Dim.Render(modeNames[l.filter.mode]))
	}
	if l.kind != "" {
		chips = append(chips, l.Styles.Type(l.kind).Render(display.Type(l.kind)))
	}
	if l.needle != "" {
		chips = append(chips, l.Styles.Dim.Render("values: ")+l.Styles.Accent.Render(display.Text(l.needle, max(width/3, 8))))
	}
	if l.find.index != "" {
		text := display.Text(cmp.Or(l.find.text, "all"), max(width/3, 8))
		chips = append(chips, l.Styles.Dim.Render(display.Text(l.find.index, max(width/4, 8))+": ")+l.Styles.Accent.Render(text))
	}
	if l.life != catalog.AnyLifetime {
		chips = append(chips, l.Styles.Soon.Render(lifeNames[l.life]))
	}
	chosen := strings.Join(chips, l.Styles.Dim.Render(" · "))
	if chosen != "" {
		chosen += " "
	}
	switch {
	case l.filterPrompt != nil:
		return screen.Between("  "+l.Styles.Key.Render("/ ")+l.Styles.Prompt(l.filterPrompt, width-ansi.StringWidth(chosen)-5), chosen, width)
	case l.filter.text != "":
		return screen.Between("  "+l.Styles.Key.Render("/ ")+l.Styles.Accent.Render(display.Text(l.filter.text, width)), chosen, width)
	case l.tree() && l.order != catalog.ByName:
		return l.Styles.Dim.Render(screen.Between("  by "+orderNames[l.order]+", folders by "+display.Whole(l.Delimiter), "", width))
	case l.tree():
		return l.Styles.Dim.Render(screen.Between("  all keys, folders by "+display.Whole(l.Delimiter), "", width))
	case chosen != "":
		return screen.Between(l.Styles.Dim.Render("  all names"), chosen, width)
	}
	return l.Styles.Dim.Render("  all keys")
}

// keyName returns a row's name as displayed. In a folder it is indented and without the folder's name.
func (l *Pane) keyName(r row, width int, ranged bool) string {
	name, indent := r.Name, ""
	if l.tree() || r.Folder || r.level != "" {
		name = strings.TrimPrefix(name, r.level)
		sign := "  "
		if _, open := l.open[r.Name]; r.Folder && open {
			sign = "▾ "
		} else if r.Folder {
			sign = "▸ "
		}
		indent = display.Spaces(min(2*r.depth, width/2)) + sign
	}
	if ranged || l.marked.has(r.Name, r.Folder) || l.marked.covers(r, l.Delimiter) {
		indent = "✓ " + strings.TrimPrefix(indent, "  ")
	}
	return indent + display.Text(name, max(width-ansi.StringWidth(indent), 1))
}

func (l *Pane) keyLine(r row, c keyColumns, selected, ranged bool) string {
	look := l.Styles.Row(selected, !l.InValue)
	kind, name := look.On(l.Styles.Type(r.Facts.Type)), look.Text
	ttl, size := look.On(l.Styles.TTL(r.Facts.Expires, l.Now)), look.Dim
	if r.Folder {
		name = look.On(l.Styles.Accent)
	}
	if r.gone != 0 {
		faded := look.On(l.Styles.Faded)
		kind, name, ttl, size = faded, faded, faded, faded
	}
	if selected && r.gone == 0 {
		name = name.Bold(true)
	}
	key := l.keyName(r, c.key, ranged)
	line := look.Mark(selected) + l.highlight(key, name, look.On(l.Styles.Key)) + look.Text.Render(display.Spaces(c.key-ansi.StringWidth(key)+1))
	shortKind := truncateKind(r.Facts.Type, c.kind)
	switch {
	case l.shares():
		bar := screen.Bar(r.Share, c.share()-5)
		line += look.On(l.Styles.Accent).Render(bar) + look.Right(size, screen.Percent(r.Share), c.share()-ansi.StringWidth(bar)) + look.Text.Render(" ")
	case r.Folder && l.order != catalog.ByTTL:
		return line + look.Right(size, l.folderSize(r, c, c.right()-1), c.right()-1) + look.Text.Render(" ")
	default:
		line += kind.Render(shortKind) + look.Text.Render(display.Spaces(c.kind-len(shortKind)+1)) +
			look.Right(ttl, l.ttl(r), c.ttl) + look.Text.Render(" ")
	}
	if r.Folder {
		room := c.right() - c.share() - 2
		return line + look.Right(size, l.folderSize(r, c, room), room) + look.Text.Render(" ")
	}
	items, bytes := l.sizeCells(r, c)
	if c.items > 0 {
		line += look.Right(size, items, c.items) + look.Text.Render(" ")
	}
	return line + look.Right(size, bytes, c.bytes) + look.Text.Render(" ")
}

// highlight renders a displayed name in style, and the parts that the filter matched in matched.
func (l *Pane) highlight(name string, style, matched lipgloss.Style) string {
	var b strings.Builder
	end := 0
	for _, at := range l.filter.spans(name) {
		if at[0] > end {
			b.WriteString(style.Render(name[end:at[0]]))
		}
		b.WriteString(matched.Render(name[at[0]:at[1]]))
		end = at[1]
	}
	if end < len(name) {
		b.WriteString(style.Render(name[end:]))
	}
	return b.String()
}

// folderSize returns the number of keys in a folder, and its bytes where they can be computed, in room cells.
func (l *Pane) folderSize(r row, c keyColumns, room int) string {
	t := l.tallies[r.Name]
	known := t.counted != unknown
	size := ""
	if c.items == 0 && known && l.order == catalog.BySize {
		return display.Short(t.keys)
	}
	if c.items == 0 && l.order == catalog.ByBytes && t.sized != unknown {
		return t.bytesText()
	}
	if l.canMeasure() {
		if room -= c.bytes + 1; t.sized != unknown {
			size = t.bytesText()
		} else if known && l.canMeasureNow() {
			size = "…"
		}
		size = display.FitRight(size, c.bytes+1)
	}
	if !known {
		return "…" + size
	}
	counted := display.Counted(t.keys, "key", "keys")
	if l.order != catalog.ByName {
		counted = display.Grouped(t.keys)
	}
	if len(counted) <= room {
		return counted + size
	}
	return display.Short(t.keys) + size
}

// sizeCells returns the cells for the elements and for the bytes of a key, which count its name, as stats does. The
// last cell is the time of the last change if the list is sorted by it. Without a column for elements, it holds the
// size of the value.
func (l *Pane) sizeCells(r row, c keyColumns) (items, bytes string) {
	if k := r.Facts.Type; k != "" && r.Facts.Size >= 0 {
		if k == keytype.String || k == keytype.JSON {
			bytes = valueBytes(r, c)
		} else if items = display.Grouped(r.Facts.Size); len(items) > max(c.items, 6) {
			items = display.Short(r.Facts.Size)
		}
	}
	if l.order == catalog.ByBytes && r.Facts.Bytes >= 0 {
		bytes = display.Bytes(r.Facts.Bytes)
	}
	if l.order == catalog.ByUpdated && r.Facts.Updated > 0 {
		bytes = display.Remaining(l.Now - r.Facts.Updated)
	}
	if c.items == 0 {
		bytes = cmp.Or(bytes, items)
	}
	return items, bytes
}

// valueBytes returns the bytes of a string or a document, with its name in a column of bytes.
func valueBytes(r row, c keyColumns) string {
	if c.items == 0 {
		return display.Bytes(r.Facts.Size)
	}
	return display.Bytes(r.Facts.Size + int64(len(r.Name)))
}

// truncateKind returns a type's name in at most width ASCII cells. The name of an unknown type is cut.
func truncateKind(kind string, width int) string {
	if kind == "" {
		return ""
	}
	if t := keytype.Of(kind); t.IsKnown() {
		return t.ShortName(width)
	}
	kind = display.Text(kind, max(len(kind)+2, 1))
	return kind[:min(len(kind), width)]
}

// ttl returns the remaining time of a key.
func (l *Pane) ttl(r row) string {
	switch {
	case r.gone != 0:
		return "gone"
	case r.Folder && r.Facts.Expires <= l.Now:
		return ""
	case r.Facts.Expires != 0:
		return display.Remaining(r.Facts.Expires - l.Now)
	case r.Facts.Type != "" && l.Conn.Refusals.Has("PTTL"):
		return "?"
	case r.Facts.Type != "":
		return "—"
	}
	return ""
}

// emptiness returns the reason why no key is shown.
func (l *Pane) emptiness() string {
	switch {
	case l.scan != nil && l.Conn.Refusals.Has("SCAN"):
		return "SCAN is refused: " + l.KeyFor("open_by_name") + " opens a key"
	case l.halted:
		return "Not loaded. Press " + l.KeyFor("refresh") + " to try again."
	case l.shown == rowsPrevious || !l.atEnd || l.isSorting() || l.scan != nil && !l.scan.done && !l.scan.paused():
		return "Loading…"
	case l.HasFilter():
		return "No match. Press " + l.KeyFor("all_keys") + " to see all."
	}
	return "Database " + client.Decimal(int64(l.DB)) + " is empty."
}

// Place describes the position in the list and the progress of a search.
func (l *Pane) Place() string {
	var parts []string
	if n := l.marked.len(); n > 0 {
		parts = append(parts, display.Counted(int64(n), "row", "rows")+" marked")
	}
	if low, high, whole := l.spanRows(); whole {
		parts = append(parts, display.Counted(int64(len(markable(l.rows[low:high+1], l.open))), "row", "rows")+" in range")
	} else if l.span != nil {
		parts = append(parts, "range")
	}
	if at := l.rowPlace(); at != "" {
		parts = append(parts, at)
	}
	if l.scan != nil && l.scan.releasedCount > 0 {
		parts = append(parts, "after the first "+display.Grouped(l.scan.releasedCount))
	}
	switch s := l.scan; {
	case l.isSorting():
		looked, _ := l.sorted.Progress()
		parts = append(parts, "the first so far · "+l.scannedOf(looked, "sorted "))
	case l.levelSums != nil && l.Running(job.MeasuringFolder):
		looked, _ := l.levelSums.Progress()
		parts = append(parts, l.scannedOf(looked, "measured "))
	case l.isPartial():
		parts = append(parts, "only the first keys of this folder")
	case l.orderOutdated:
		parts = append(parts, "changed since sorting, "+l.KeyFor("refresh")+" sorts again")
	case s != nil && l.Conn.Refusals.Has("SCAN"):
	case s != nil && l.needle != "":
		parts = append(parts, l.searchedPlace(s)...)
		if s.paused() {
			parts = append(parts, "paused, "+l.KeyFor("scan_on")+" continues")
		}
	case s != nil && s.done && (l.find.index != "" || !l.HasFilter()):
	case s != nil && s.done:
		parts = append(parts, "searched all keys")
	case s != nil:
		parts = append(parts, l.scannedOf(s.scanned, "scanned "))
		switch {
		case s.full():
			parts = append(parts, "list full, + shows the next")
		case s.paused():
			parts = append(parts, "paused, "+l.KeyFor("scan_on")+" continues")
		}
	case l.HasFilter() && l.atEnd && l.shown != rowsPrevious:
		parts = append(parts, "searched all keys")
	case l.HasFilter() && l.filter.text != "":
		parts = append(parts, l.scannedOf(l.readCount, "searched "))
	}
	if r := l.selected(); r != nil && l.shown != rowsPrevious && !l.tree() && l.isTruncated(*r) {
		parts = append(parts, display.Text(r.Name, l.Width))
	}
	return strings.Join(parts, " · ")
}

func (l *Pane) scannedOf(n int64, verb string) string {
	if l.Total >= 0 {
		return verb + display.Grouped(min(n, l.Total)) + " of " + display.Counted(l.Total, "key", "keys")
	}
	return verb + display.Counted(n, "key", "keys")
}

// isTruncated reports whether the list is too narrow for a row's full name.
func (l *Pane) isTruncated(r row) bool {
	key := l.keyName(r, l.keyColumns().key, false)
	return strings.HasSuffix(key, "…")
}

// rowPlace returns the number of the selected row. In the tree it returns the full name, because the
// row shows only a part.
func (l *Pane) rowPlace() string {
	r := l.selected()
	switch {
	case l.shown == rowsPrevious || l.isSorting():
		return ""
	case r == nil && l.HasFilter():
		return "no match"
	case r == nil:
		return ""
	case l.tree() && (r.level != "" || l.isTruncated(*r)):
		return display.Text(r.Name, l.Width)
	case l.tree():
		return ""
	case l.firstIndex < 0:
		return ""
	}
	at := display.Grouped(l.firstIndex + int64(l.cursor) + 1)
	switch n := l.firstIndex + int64(len(l.rows)); {
	case l.HasFilter() && l.atEnd:
		return at + " of " + display.Grouped(n) + " found"
	case l.HasFilter() && l.scan != nil && l.scan.done && l.scan.rescanned == nil:
		return at + " of " + display.Grouped(int64(l.scan.keys.len())) + " found"
	case l.HasFilter():
		return at + " of " + display.Grouped(n) + " or more found"
	case l.atEnd:
		return at + " of " + display.Grouped(n)
	case l.scan != nil:
		return at + " of " + display.Grouped(int64(l.scan.keys.len()))
	case l.Total >= 0:
		return at + " of " + display.Grouped(l.Total)
	}
	return at
}
