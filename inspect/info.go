package inspect

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/resp"
)

// informed is all that is known about a key.
type informed struct {
	key      string
	facts    catalog.Facts
	encoding string
	memory   string
	tables   []catalog.Table
}

// notAllowed stands for what the target does not tell this person.
const notAllowed = "not told to this user"

// showInfo tells all about the selected key.
func (m *Model) showInfo() tea.Cmd {
	key, ok := m.currentKey()
	if !ok {
		return nil
	}
	m.overlay = &page{title: whole(key), lines: []string{m.styles.dim.Render(" looking…")}}
	db := m.db
	return m.start(informing, func(ctx context.Context) (tea.Msg, error) { return m.inform(ctx, db, key) })
}

// currentKey is the key that the person looks at.
func (m *Model) currentKey() (string, bool) {
	if m.inValue && m.value.any {
		return m.value.wanted, true
	}
	r := m.keys.selected()
	if r == nil || r.Folder {
		return "", false
	}
	return r.Name, true
}

func (m *Model) inform(ctx context.Context, db int, key string) (informed, error) {
	r := informed{key: key}
	values, err := m.conn.do(ctx, db, command("OBJECT", "ENCODING", key), command("MEMORY", "USAGE", key))
	if err != nil {
		return r, err
	}
	switch encoding := values[0]; {
	case isForbidden(encoding):
		r.encoding = notAllowed
	case !encoding.IsError():
		r.encoding = text(encoding)
	}
	switch memory := values[1]; {
	case isForbidden(memory):
		r.memory = notAllowed
	case memory.Kind == resp.Int:
		r.memory = counted(memory.Int, "byte", "bytes")
	}
	if m.options.Index == nil {
		facts, err := m.conn.describe(ctx, db, []string{key}, m.options.Now())
		if err == nil {
			r.facts = facts[0]
		}
		if r.facts.Type == unknownKind {
			r.facts.Type, err = m.conn.probe(ctx, db, key)
		}
		return r, err
	}
	entries, err := m.options.Index.Facts(ctx, db, []string{key})
	if err != nil {
		return r, err
	}
	r.facts = entries[0].Facts
	r.tables, err = m.options.Index.Rows(ctx, db, key)
	return r, err
}

// informs shows it.
func (m *Model) informs(r informed) {
	p, ok := m.overlay.(*page)
	if !ok || p.title != whole(r.key) {
		return
	}
	p.lines = nil
	add := func(name, value string) {
		if value != "" {
			p.lines = append(p.lines, " "+m.styles.dim.Render(fit(name, 10))+value+" ")
		}
	}
	f := r.facts
	if f.Type == "" {
		p.lines = []string{" There is no such key. "}
		return
	}
	add("type", m.styles.kind(f.Type).Render(shownKind(f.Type)))
	add("encoding", r.encoding)
	if src := sourceOf(f.Type); src != nil && f.Size >= 0 {
		add("size", counted(f.Size, src.unit[0], src.unit[1]))
	}
	add("memory", r.memory)
	if f.Expires != 0 || !m.conn.refusals.has("PTTL") {
		add("expires", m.when(f.Expires, "never"))
	}
	add("created", m.when(f.Created, ""))
	add("changed", m.when(f.Updated, ""))
	if f.Version != 0 {
		add("version", decimal(f.Version))
	}
	for _, t := range r.tables {
		p.lines = append(p.lines, "")
		p.lines = append(p.lines, m.tableLines(t)...)
	}
}

// when is a time, with how far it is from now.
func (m *Model) when(ms int64, zero string) string {
	if ms == 0 {
		return zero
	}
	at := time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000 UTC")
	if ms > m.now {
		return at + m.styles.dim.Render("  in "+remaining(ms-m.now))
	}
	return at + m.styles.dim.Render("  "+remaining(m.now-ms)+" ago")
}

// tableLines is the rows of a table, a line a column where there is one row, and
// the SQL that reads them.
func (m *Model) tableLines(t catalog.Table) []string {
	title := " " + m.styles.title.Render(t.Name) + m.styles.dim.Render("  "+counted(int64(len(t.Rows)), "row", "rows"))
	if t.More {
		title += m.styles.dim.Render(", and more")
	}
	lines := []string{title}
	for _, line := range splitLines(t.SQL) {
		for _, part := range textLines([]byte(strings.TrimSpace(line)), max(m.width-8, 20)) {
			lines = append(lines, " "+m.styles.dim.Render(strings.TrimSpace(line)[part.start:part.end]))
		}
	}
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = len(c)
		for _, row := range t.Rows {
			widths[i] = min(max(widths[i], len(row[i])), 40)
		}
	}
	if len(t.Rows) == 1 && t.Name == "keys" {
		for i, c := range t.Columns {
			lines = append(lines, "   "+m.styles.accent.Render(fit(c, 12))+truncate(t.Rows[0][i], 100)+" ")
		}
		return lines
	}
	head := "   "
	for i, c := range t.Columns {
		head += fit(c, widths[i]) + "  "
	}
	lines = append(lines, m.styles.accent.Render(head))
	for _, row := range t.Rows {
		line := "   "
		for i, cell := range row {
			line += fit(cell, widths[i]) + "  "
		}
		lines = append(lines, line)
	}
	return lines
}
