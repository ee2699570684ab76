package edit

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Confirm is how a person confirms a deletion.
type Confirm int

const (
	ConfirmYes  Confirm = iota // by pressing y
	ConfirmNone                // not at all
	ConfirmName                // by typing the name of the target
)

// Confirmation is a dialog that asks before a change.
type Confirmation struct {
	r       *Pane
	title   string
	notes   []string
	change  change.Change
	always  bool           // ask even if Confirm is ConfirmNone: the change cannot be undone
	onAgree func() tea.Cmd // called instead of making a change
	parent  ui.Dialog      // the dialog to return to; nil for none

	name     *screen.Prompt // input for the name; nil if y confirms
	mismatch bool
}

// confirm asks, or makes the change at once if no confirmation is needed.
func (r *Pane) confirm(c Confirmation) tea.Cmd {
	c.change.Confirmed = true
	c.r = r
	switch {
	case !r.mayWrite():
		return nil
	case r.Confirm == ConfirmNone && !c.always:
		return c.agree()
	case r.Confirm == ConfirmName:
		c.name = screen.NewPrompt("")
	}
	r.Dialog = &c
	return nil
}

// Press implements ui.Dialog.
func (c *Confirmation) Press(b *ui.PaneContext, k tea.KeyMsg) tea.Cmd {
	switch key := k.String(); {
	case key == "esc":
		c.cancel()
	case key == sqlKey:
		return c.r.showSQL(c.change, c)
	case c.name == nil && (key == "y" || key == "Y"):
		return c.agree()
	case c.name == nil && (key == "n" || key == "N" || key == "q"):
		c.cancel()
	case c.name == nil:
	case key == "enter" && c.name.String() == c.r.Name:
		return c.agree()
	case key == "enter":
		c.mismatch = true
	default:
		c.name.Key(k)
		c.mismatch = false
	}
	return nil
}

func (c *Confirmation) agree() tea.Cmd {
	c.r.Dialog = c.parent
	if c.onAgree != nil {
		return c.onAgree()
	}
	return c.r.write(c.change)
}

func (c *Confirmation) cancel() {
	c.r.Dialog = c.parent
	c.r.Notice = "Nothing was changed."
	c.r.restoreInput(c.change, "You cancelled it.")
}

// View implements ui.Dialog.
func (c *Confirmation) View(b *ui.PaneContext, width, height int) []string {
	var lines []string
	for part := range strings.SplitSeq(ansi.Wrap(c.title, max(width-2, 1), ""), "\n") {
		lines = append(lines, b.Styles.Failure.Bold(true).Render(" "+part+" "))
	}
	for _, note := range c.notes {
		lines = append(lines, " "+note+" ")
	}
	if len(c.change.Calls) > 0 {
		lines = append(lines, b.Styles.Dim.Render(" "+screen.CallsText(c.change.Calls, min(width-2, 60))+" "))
	}
	switch {
	case c.name == nil:
		lines = append(lines, " "+b.Styles.Key.Render("y")+" yes   "+b.Styles.Key.Render("n")+" no ")
	case c.mismatch:
		lines = append(lines, b.Styles.Failure.Render(" That is not "+c.r.Name+". "), " "+b.Styles.Prompt(c.name, width-3))
	default:
		lines = append(lines, " Type "+b.Styles.Accent.Render(c.r.Name)+" to continue: ", " "+b.Styles.Prompt(c.name, width-3))
	}
	inner := 0
	for _, line := range lines {
		inner = min(max(inner, ansi.StringWidth(line)), width)
	}
	for i, line := range lines {
		lines[i] = screen.Pad(display.Truncate(line, inner), inner)
	}
	return lines
}

// Footer implements ui.Dialog.
func (c *Confirmation) Footer() [][2]string {
	if c.name != nil {
		return [][2]string{{"⏎", "continue"}, SQLHint, {"esc", "cancel"}}
	}
	return [][2]string{{"y", "yes"}, {"n", "no"}, SQLHint}
}

// TakesText implements ui.Dialog.
func (c *Confirmation) TakesText() bool { return c.name != nil }
