package inspect

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// form is an overlay with some lines to fill in.
type form struct {
	title  string
	fields []field
	at     int
	submit func(m *Model, values []string) tea.Cmd
}

// field is a line of a form.
type field struct {
	label  string
	note   string
	prompt *prompt
}

func newField(label, text, note string) field { return field{label, note, newPrompt(text)} }

func (f *form) press(m *Model, k tea.KeyMsg) tea.Cmd {
	last := len(f.fields) - 1
	switch k.String() {
	case "esc":
		m.overlay = nil
	case "enter":
		if f.at < last {
			f.at++
			return nil
		}
		return f.send(m)
	case "ctrl+s":
		return f.send(m)
	case "tab", "down":
		f.at = (f.at + 1) % len(f.fields)
	case "shift+tab", "up":
		f.at = (f.at + last) % len(f.fields)
	default:
		f.fields[f.at].prompt.key(k)
	}
	return nil
}

// send submits what was typed. The form stays when that says what is wrong.
func (f *form) send(m *Model) tea.Cmd {
	values := make([]string, len(f.fields))
	for i, field := range f.fields {
		values[i] = field.prompt.String()
	}
	m.overlay = nil
	cmd := f.submit(m, values)
	if m.failure != "" && m.overlay == nil {
		m.overlay = f
	}
	return cmd
}

func (f *form) view(m *Model, width, height int) []string {
	inner, labels := min(width, 64), 0
	for _, field := range f.fields {
		labels = max(labels, ansi.StringWidth(field.label))
	}
	lines := []string{m.styles.title.Render(fit(" "+f.title, inner))}
	for i, field := range f.fields {
		mark, room := "  ", inner-labels-4
		value := shown(field.prompt.String(), room)
		switch {
		case i == f.at:
			mark = m.styles.accent.Render("▌ ")
			value = m.promptLine(field.prompt, room)
		case field.prompt.String() == "":
			value = m.styles.dim.Render(truncate(field.note, room))
		}
		lines = append(lines, padded(mark+m.styles.dim.Render(fit(field.label, labels))+"  "+value, inner))
	}
	return lines
}

func (f *form) footer() [][2]string {
	if f.at < len(f.fields)-1 {
		return [][2]string{{"⏎", "next"}, {"^S", "ok"}, {"esc", "cancel"}}
	}
	if len(f.fields) == 1 {
		return [][2]string{{"⏎", "ok"}, {"esc", "cancel"}}
	}
	return [][2]string{{"⏎", "ok"}, {"tab", "next"}, {"esc", "cancel"}}
}
