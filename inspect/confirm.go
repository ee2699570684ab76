package inspect

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// Confirm is what a person must answer before something is deleted.
type Confirm int

const (
	ConfirmYes  Confirm = iota // y
	ConfirmNone                // nothing
	ConfirmName                // the name of the target
)

// confirmation is a question before a change.
type confirmation struct {
	title  string
	notes  []string
	change change
	always bool                 // ask even where nothing is to be confirmed: it cannot be undone
	agreed func(*Model) tea.Cmd // what follows when there is no change to be made

	name  *prompt // where the name is typed; nil where y will do
	wrong bool
}

// confirm asks, or makes the change at once where nothing is to be confirmed.
func (m *Model) confirm(c confirmation) tea.Cmd {
	switch {
	case !m.mayWrite():
		return nil
	case m.options.Confirm == ConfirmNone && !c.always:
		return m.write(c.change)
	case m.options.Confirm == ConfirmName:
		c.name = newPrompt("")
	}
	m.overlay = &c
	return nil
}

func (c *confirmation) press(m *Model, k tea.KeyMsg) tea.Cmd {
	switch key := k.String(); {
	case key == "esc":
		c.refuse(m)
	case key == sqlKey:
		return m.showSQL(c.change, c)
	case c.name == nil && (key == "y" || key == "Y"):
		return c.agree(m)
	case c.name == nil && (key == "n" || key == "N" || key == "q"):
		c.refuse(m)
	case c.name == nil:
	case key == "enter" && c.name.String() == m.options.Name:
		return c.agree(m)
	case key == "enter":
		c.wrong = true
	default:
		c.name.key(k)
		c.wrong = false
	}
	return nil
}

func (c *confirmation) agree(m *Model) tea.Cmd {
	m.overlay = nil
	if c.agreed != nil {
		return c.agreed(m)
	}
	return m.write(c.change)
}

func (c *confirmation) refuse(m *Model) {
	m.overlay = nil
	m.notice = "Nothing was changed."
	m.refused(c.change, "You did not want it.")
}

func (c *confirmation) view(m *Model, width, height int) []string {
	lines := []string{m.styles.failure.Bold(true).Render(" " + c.title + " ")}
	for _, note := range c.notes {
		lines = append(lines, " "+note+" ")
	}
	if len(c.change.calls) > 0 {
		lines = append(lines, m.styles.dim.Render(" "+callsText(c.change.calls, min(width-2, 60))+" "))
	}
	switch {
	case c.name == nil:
		lines = append(lines, " "+m.styles.key.Render("y")+" yes   "+m.styles.key.Render("n")+" no ")
	case c.wrong:
		lines = append(lines, m.styles.failure.Render(" That is not "+m.options.Name+". "), " "+m.promptLine(c.name, width-3))
	default:
		lines = append(lines, " Type "+m.styles.accent.Render(m.options.Name)+" to go on: ", " "+m.promptLine(c.name, width-3))
	}
	inner := 0
	for _, line := range lines {
		inner = min(max(inner, ansi.StringWidth(line)), width)
	}
	for i, line := range lines {
		lines[i] = padded(truncate(line, inner), inner)
	}
	return lines
}

func (c *confirmation) footer() [][2]string {
	if c.name != nil {
		return [][2]string{{"⏎", "go on"}, sqlHint, {"esc", "cancel"}}
	}
	return [][2]string{{"y", "yes"}, {"n", "no"}, sqlHint}
}
