package inspect

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// form is an overlay with some lines to fill in, which make a change.
type form struct {
	title  string
	fields []field
	at     int
	// make is the change that the values make. One without commands changes nothing.
	make func(m *Model, values []string) (change, error)
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
	case sqlKey:
		c, err := f.change(m)
		if err != nil {
			m.fail(err)
			return nil
		}
		return m.showSQL(c, f)
	case "tab", "down":
		f.at = (f.at + 1) % len(f.fields)
	case "shift+tab", "up":
		f.at = (f.at + last) % len(f.fields)
	default:
		f.fields[f.at].prompt.key(k)
	}
	return nil
}

func (f *form) change(m *Model) (change, error) {
	values := make([]string, len(f.fields))
	for i, field := range f.fields {
		values[i] = field.prompt.String()
	}
	c, err := f.make(m, values)
	c.form = f
	return c, err
}

// send makes the change. The form stays when something is wrong with it.
func (f *form) send(m *Model) tea.Cmd {
	c, err := f.change(m)
	if err != nil {
		m.fail(err)
		return nil
	}
	m.overlay = nil
	if len(c.calls) == 0 {
		m.notice = "Nothing was changed."
		return nil
	}
	return m.write(c)
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
			if field.prompt.String() == "" {
				value += m.styles.dim.Render(truncate(field.note, room-1))
			}
		case field.prompt.String() == "":
			value = m.styles.dim.Render(truncate(field.note, room))
		}
		lines = append(lines, padded(mark+m.styles.dim.Render(fit(field.label, labels))+"  "+value, inner))
	}
	if c, err := f.change(m); err == nil && len(c.calls) > 0 && len(lines) < height {
		lines = append(lines, m.styles.dim.Render(fit("  "+callsText(c.calls, inner-3), inner)))
	}
	return lines
}

func (f *form) footer() [][2]string {
	switch {
	case f.at < len(f.fields)-1:
		return [][2]string{{"⏎", "next"}, {"^S", "ok"}, {"^X", "SQL"}, {"esc", "cancel"}}
	case len(f.fields) == 1:
		return [][2]string{{"⏎", "ok"}, {"^X", "SQL"}, {"esc", "cancel"}}
	}
	return [][2]string{{"⏎", "ok"}, {"tab", "next"}, {"^X", "SQL"}, {"esc", "cancel"}}
}
