package value

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/meowdis/meowdis/keyspace/display"
)

// document draws the visible rows of a decoded value.
func (v *Pane) document(d *document, needle string) []string {
	var lines []string
	for i := d.top; i < min(d.top+d.height, len(d.rows)); i++ {
		r := d.rows[i]
		line := d.lines[r.line]
		mark := "  "
		if i == d.cursor && v.InValue && v.Dialog == nil {
			mark = v.Styles.Accent.Render("▌ ")
		}
		text := v.jsonLine(line[r.start:r.end], needle)
		if d.folded[r.line] {
			end := d.closing[r.line]
			text += v.Styles.Dim.Render(" … " + strings.TrimLeft(d.lines[end], " ") + "  " + display.Counted(int64(end-r.line-1), "line", "lines"))
		}
		lines = append(lines, mark+text)
	}
	return lines
}

// jsonLine renders a line with its name and its value in different colours.
func (v *Pane) jsonLine(line, needle string) string {
	if needle != "" {
		if at, _ := find(line, needle); at >= 0 {
			return v.highlight(line, needle, v.Styles.Plain)
		}
	}
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	name := ""
	if i := strings.Index(text, `": `); strings.HasPrefix(text, `"`) && i > 0 {
		name, text = text[:i+1], text[i+1:]
	}
	style := v.Styles.Plain
	switch value := strings.TrimLeft(text, ": "); {
	case strings.HasPrefix(value, `"`):
		style = v.Styles.Type("string")
	case value != "" && strings.ContainsAny(value[:1], "-0123456789tfn"):
		style = v.Styles.Type("zset")
	}
	return indent + v.Styles.Type("hash").Render(name) + style.Render(text)
}

// highlight renders text in style, with the matches of needle reversed.
func (v *Pane) highlight(text, needle string, style lipgloss.Style) string {
	at, end := -1, -1
	if needle != "" {
		at, end = find(text, needle)
	}
	if at < 0 {
		return style.Render(text)
	}
	return style.Render(text[:at]) + style.Reverse(!style.GetReverse()).Render(text[at:end]) + v.highlight(text[end:], needle, style)
}
