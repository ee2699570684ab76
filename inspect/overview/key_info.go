package overview

import (
	"cmp"
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// keyInfoMsg carries the details of a key.
type keyInfoMsg struct {
	key      string
	facts    catalog.Facts
	encoding string
	memory   string
	tables   []catalog.Table
}

// notPermitted replaces a value that the user may not read.
const notPermitted = "not permitted"

// ShowInfo shows the details of a key.
func (v *Pane) ShowInfo(key string) tea.Cmd {
	v.Dialog = &ui.Page{Title: display.Whole(key), Lines: []string{v.Styles.Dim.Render(" loading…")}}
	conn, index, clock, db := v.Conn, v.Index, v.Clock, v.DB
	return v.Start(job.LoadingInfo, func(ctx context.Context) (tea.Msg, error) { return readKeyInfo(ctx, conn, index, clock, db, key) })
}

func readKeyInfo(ctx context.Context, conn *client.Conn, index client.Index, clock func() int64, db int, key string) (keyInfoMsg, error) {
	r := keyInfoMsg{key: key}
	values, err := conn.Do(ctx, db, client.Command("OBJECT", "ENCODING", key), client.Command("MEMORY", "USAGE", key))
	if err != nil {
		return r, err
	}
	switch encoding := values[0]; {
	case keyspace.Forbidden(encoding):
		r.encoding = notPermitted
	case !encoding.IsError():
		r.encoding = client.Text(encoding)
	}
	switch memory := values[1]; {
	case keyspace.Forbidden(memory):
		r.memory = notPermitted
	case memory.Kind == resp.Int:
		r.memory = display.Counted(memory.Int, "byte", "bytes")
	}
	if index == nil {
		facts, err := conn.Describe(ctx, db, []string{key}, clock())
		if err == nil {
			r.facts = facts[0]
		}
		if r.facts.Type == client.UnknownType {
			r.facts.Type, err = conn.Probe(ctx, db, key)
		}
		return r, err
	}
	entries, err := index.Facts(ctx, db, []string{key})
	if err != nil {
		return r, err
	}
	r.facts = entries[0].Facts
	r.tables, err = index.Rows(ctx, db, key)
	return r, err
}

// onKeyInfo shows the details.
func (v *Pane) onKeyInfo(r keyInfoMsg) {
	p, ok := v.Dialog.(*ui.Page)
	if !ok || p.Title != display.Whole(r.key) {
		return
	}
	p.Lines = nil
	add := func(name, value string) {
		if value != "" {
			p.Lines = append(p.Lines, " "+v.Styles.Dim.Render(display.Fit(name, 10))+value+" ")
		}
	}
	if ansi.StringWidth(p.Title) > v.Width-10 { // the title is cut
		for _, part := range strings.Split(ansi.Hardwrap(p.Title, max(v.Width-10, 10), true), "\n") {
			p.Lines = append(p.Lines, " "+part)
		}
		p.Lines = append(p.Lines, "")
	}
	f := r.facts
	if f.Type == "" {
		p.Lines = []string{" This key does not exist. "}
		return
	}
	add("type", v.Styles.Type(f.Type).Render(display.Type(f.Type)))
	add("encoding", r.encoding)
	if t := keytype.Of(f.Type); t.IsKnown() && f.Size >= 0 {
		add("size", display.Counted(f.Size, cmp.Or(t.One, "byte"), cmp.Or(t.Many, "bytes")))
	}
	add("memory", r.memory)
	if f.Expires != 0 || !v.Conn.Refusals.Has("PTTL") {
		add("expires", v.timeText(f.Expires, "never"))
	}
	add("created", v.timeText(f.Created, ""))
	add("changed", v.timeText(f.Updated, ""))
	if f.Version != 0 {
		add("version", client.Decimal(f.Version))
	}
	for _, t := range r.tables {
		p.Lines = append(p.Lines, "")
		p.Lines = append(p.Lines, v.tableLines(t)...)
	}
}

// timeText returns a time, and its distance from now.
func (v *Pane) timeText(ms int64, zero string) string {
	if ms == 0 {
		return zero
	}
	at := time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000 UTC")
	if ms > v.Now {
		return at + v.Styles.Dim.Render("  in "+display.Remaining(ms-v.Now))
	}
	return at + v.Styles.Dim.Render("  "+display.Remaining(v.Now-ms)+" ago")
}

// tableLines returns the rows of a table and the SQL that reads them. A single row is
// shown with one line for each column.
func (v *Pane) tableLines(t catalog.Table) []string {
	title := " " + v.Styles.Title.Render(t.Name) + v.Styles.Dim.Render("  "+display.Counted(int64(len(t.Rows)), "row", "rows"))
	if t.More {
		title += v.Styles.Dim.Render(", and more")
	}
	lines := []string{title}
	for _, line := range screen.SplitLines(t.SQL) {
		for _, part := range screen.WrapText([]byte(strings.TrimSpace(line)), max(v.Width-8, 20)) {
			lines = append(lines, " "+v.Styles.Dim.Render(strings.TrimSpace(line)[part.Start:part.End]))
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
			lines = append(lines, "   "+v.Styles.Accent.Render(display.Fit(c, 12))+display.Truncate(t.Rows[0][i], 100)+" ")
		}
		return lines
	}
	head := "   "
	for i, c := range t.Columns {
		head += display.Fit(c, widths[i]) + "  "
	}
	lines = append(lines, v.Styles.Accent.Render(head))
	for _, row := range t.Rows {
		line := "   "
		for i, cell := range row {
			line += display.Fit(cell, widths[i]) + "  "
		}
		lines = append(lines, line)
	}
	return lines
}
