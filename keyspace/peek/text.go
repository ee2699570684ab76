package peek

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/decode"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/keyspace/stats"
	"github.com/meowdis/meowdis/store/keytype"
)

// Text formats p for display at the given width. The function aside styles text that is not
// data of the key, for example with color.
func (p Peek) Text(width int, aside func(string) string) string {
	var b strings.Builder
	fact := func(name, text string) { b.WriteString(aside(display.Fit(name, 6)) + text + "\n") }
	t := keytype.Of(p.Key.Type)
	fact("key", display.Whole(string(p.Key.Name)))
	fact("type", display.Type(p.Key.Type))
	if p.Encoding != "" {
		fact("form", display.Whole(p.Encoding)+", by OBJECT ENCODING")
	}
	if p.Key.TTL >= 0 {
		fact("ttl", display.Remaining(p.Key.TTL))
	} else {
		fact("ttl", "none")
	}
	if p.Key.Count >= 0 {
		fact("size", display.Counted(p.Key.Count, t.One, t.Many))
	}
	switch {
	case p.Key.Bytes >= 0 && p.measure == stats.Tables:
		fact("bytes", display.Grouped(p.Key.Bytes)+" of name and value")
	case p.Key.Bytes >= 0:
		fact("bytes", "about "+display.Grouped(p.Key.Bytes)+", by MEMORY USAGE")
	}
	switch {
	case len(p.First) == 0:
	case t.Parts == nil:
		b.WriteString("\n" + beginning(p.Key, p.First[0][0], width, aside))
	default:
		b.WriteString("\n" + elements(p.Key, p.First, width, aside))
	}
	return b.String()
}

// maxValueLines limits the displayed lines of a value.
const maxValueLines = 40

// beginning formats the beginning of a value in its recognised format.
func beginning(key keyspace.Key, read []byte, width int, aside func(string) string) string {
	var b strings.Builder
	shown := decode.Value(read, decode.Options{Partial: key.Count > int64(len(read))})
	if !shown.IsPlain() {
		b.WriteString(aside(shown.Chain()) + "\n")
	}
	lines := strings.Split(shown.Text, "\n")
	for _, line := range lines[:min(len(lines), maxValueLines)] {
		b.WriteString(display.Truncate(line, width) + "\n")
	}
	switch more := len(lines) - maxValueLines; {
	case more > 0:
		b.WriteString("… and " + display.Counted(int64(more), "line more", "lines more") + "\n")
	case key.Count > int64(len(read)):
		b.WriteString("… and " + display.Counted(key.Count-int64(len(read)), "byte more", "bytes more") + "\n")
	}
	if shown.Note != "" {
		b.WriteString(aside(shown.Note) + "\n")
	}
	return b.String()
}

// elements formats elements with names in one column and values in the remaining width.
func elements(key keyspace.Key, first [][][]byte, width int, aside func(string) string) string {
	var b strings.Builder
	names := 0
	for _, e := range first {
		names = max(names, ansi.StringWidth(display.Text(string(e[0]), width/2)))
	}
	for _, e := range first {
		line := inALine(e[0], width, aside)
		if len(e) > 1 {
			line = display.Fit(display.Text(string(e[0]), width/2), names) + " "
		}
		for _, part := range e[1:] {
			line += " " + inALine(part, width, aside)
		}
		b.WriteString(display.Truncate(line, width) + "\n")
	}
	if more := key.Count - int64(len(first)); more > 0 {
		b.WriteString("… and " + display.Grouped(more) + " more\n")
	}
	return b.String()
}

// inALine formats an element's value on one line: text unchanged, encoded or binary data
// decoded.
func inALine(part []byte, width int, aside func(string) string) string {
	shown := decode.Value(part, decode.Options{DumpBytes: 16})
	text := display.Text(string(part), width)
	if !utf8.Valid(part) || len(shown.Layers) > 1 {
		if shown.Layers[len(shown.Layers)-1].Name != "binary" {
			text = display.Truncate(strings.Join(strings.Fields(shown.Text), " "), width)
		}
		text = aside("("+shown.Chain()+")") + " " + text
	}
	if shown.Note != "" {
		text += "  " + aside(shown.Note)
	}
	return text
}
