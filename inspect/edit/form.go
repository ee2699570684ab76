package edit

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// form implements a dialog with fields that define a change.
type form struct {
	r      *Pane
	title  string
	fields []field
	at     int
	// make returns the change for the field values. A change without commands does nothing.
	make func(values []string) (change.Change, error)
	// preview renders the effect of the values below the fields; nil: the commands are shown.
	preview func(width, height int) []string
	// ask confirms a change to many keys; nil if the form never makes one.
	ask func(change.Change) tea.Cmd
}

// field describes a line of a form.
type field struct {
	label  string
	note   string
	prompt *screen.Prompt
}

func newField(label, text, note string) field { return field{label, note, screen.NewPrompt(text)} }

// Press implements ui.Dialog.
func (f *form) Press(b *ui.PaneContext, k tea.KeyMsg) tea.Cmd {
	last := len(f.fields) - 1
	switch k.String() {
	case "esc":
		b.Dialog = nil
	case "enter":
		if f.at < last {
			f.at++
			return nil
		}
		return f.send()
	case "ctrl+s":
		return f.send()
	case sqlKey:
		c, err := f.change()
		if err != nil {
			f.r.Fail(err)
			return nil
		}
		return f.r.showSQL(c, f)
	case "tab", "down":
		f.at = (f.at + 1) % len(f.fields)
	case "shift+tab", "up":
		f.at = (f.at + last) % len(f.fields)
	default:
		f.fields[f.at].prompt.Key(k)
	}
	return nil
}

func (f *form) change() (change.Change, error) {
	values := make([]string, len(f.fields))
	for i, field := range f.fields {
		values[i] = field.prompt.String()
	}
	c, err := f.make(values)
	c.Origin = origin{form: f}
	return c, err
}

// send makes the change. The form stays open if a value is invalid.
func (f *form) send() tea.Cmd {
	c, err := f.change()
	if err != nil {
		f.r.Fail(err)
		return nil
	}
	f.r.Dialog = nil
	switch {
	case c.Scopes != nil:
		return f.ask(c)
	case len(c.Calls) == 0:
		f.r.Notice = "Nothing was changed."
		return nil
	}
	return f.r.write(c)
}

// View implements ui.Dialog.
func (f *form) View(b *ui.PaneContext, width, height int) []string {
	inner, labels := min(width, 64), 0
	if f.preview != nil {
		inner = min(width, 110)
	}
	for _, field := range f.fields {
		labels = max(labels, ansi.StringWidth(field.label))
	}
	lines := []string{b.Styles.Title.Render(display.Fit(" "+f.title, inner))}
	for i, field := range f.fields {
		mark, room := "  ", inner-labels-4
		value := display.Text(field.prompt.String(), room)
		switch {
		case i == f.at:
			mark = b.Styles.Accent.Render("▌ ")
			value = b.Styles.Prompt(field.prompt, room)
			if field.prompt.String() == "" {
				value += b.Styles.Dim.Render(display.Truncate(field.note, room-1))
			}
		case field.prompt.String() == "":
			value = b.Styles.Dim.Render(display.Truncate(field.note, room))
		}
		lines = append(lines, screen.Pad(mark+b.Styles.Dim.Render(display.Fit(field.label, labels))+"  "+value, inner))
	}
	c, err := f.change()
	switch {
	case err != nil && f.preview != nil:
		lines = append(lines, b.Styles.Failure.Render(display.Fit("  "+err.Error(), inner)))
	case err != nil:
	case f.preview != nil:
		for _, line := range f.preview(inner, height-len(lines)) {
			lines = append(lines, screen.Pad(line, inner))
		}
	case len(c.Calls) > 0 && len(lines) < height:
		lines = append(lines, b.Styles.Dim.Render(display.Fit("  "+screen.CallsText(c.Calls, inner-3), inner)))
	}
	return lines
}

// Footer implements ui.Dialog.
func (f *form) Footer() [][2]string {
	switch {
	case f.at < len(f.fields)-1:
		return [][2]string{{"⏎", "next"}, {"^S", "ok"}, SQLHint, {"esc", "cancel"}}
	case len(f.fields) == 1:
		return [][2]string{{"⏎", "ok"}, SQLHint, {"esc", "cancel"}}
	}
	return [][2]string{{"⏎", "ok"}, {"tab", "next"}, SQLHint, {"esc", "cancel"}}
}

// TakesText implements ui.Dialog.
func (*form) TakesText() bool { return true }
