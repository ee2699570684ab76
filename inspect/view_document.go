package inspect

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
)

// document is the rows of a decoded value that are on the screen.
func (m *Model) document(d *document, needle string) []string {
	var lines []string
	for i := d.top; i < min(d.top+d.height, len(d.rows)); i++ {
		r := d.rows[i]
		line := d.lines[r.line]
		mark := "  "
		if i == d.cursor && m.inValue {
			mark = m.styles.accent.Render("▌ ")
		}
		text := m.jsonLine(line[r.start:r.end], needle)
		if d.shut[r.line] {
			end := d.ends[r.line]
			text += m.styles.dim.Render(" … " + strings.TrimLeft(d.lines[end], " ") + "  " + counted(int64(end-r.line-1), "line", "lines"))
		}
		lines = append(lines, mark+text)
	}
	return lines
}

// jsonLine is a line with its name and its value in different colours.
func (m *Model) jsonLine(line, needle string) string {
	if needle != "" {
		if at, _ := find(line, needle); at >= 0 {
			return m.lit(line, needle, m.styles.plain)
		}
	}
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	name := ""
	if i := strings.Index(text, `": `); strings.HasPrefix(text, `"`) && i > 0 {
		name, text = text[:i+1], text[i+1:]
	}
	style := m.styles.plain
	switch value := strings.TrimLeft(text, ": "); {
	case strings.HasPrefix(value, `"`):
		style = m.styles.kind("string")
	case value != "" && strings.ContainsAny(value[:1], "-0123456789tfn"):
		style = m.styles.kind("zset")
	}
	return indent + m.styles.kind("hash").Render(name) + style.Render(text)
}

// lit is text in a style, with what matches needle in reverse.
func (m *Model) lit(text, needle string, style lipgloss.Style) string {
	at, end := -1, -1
	if needle != "" {
		at, end = find(text, needle)
	}
	if at < 0 {
		return style.Render(text)
	}
	return style.Render(text[:at]) + style.Reverse(!style.GetReverse()).Render(text[at:end]) + m.lit(text[end:], needle, style)
}

// padded is a styled text on exactly width cells.
func padded(s string, width int) string { return s + spaces(width-ansi.StringWidth(s)) }
