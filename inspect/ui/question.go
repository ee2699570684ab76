package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Question is a dialog with one line to type.
type Question struct {
	Title  string
	Note   string
	Prompt *screen.Prompt
	Answer func(text string) tea.Cmd
}

// Press implements Dialog.
func (q *Question) Press(b *PaneContext, k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		b.Dialog = nil
		cmd := q.Answer(q.Prompt.String())
		if b.Failure != "" && b.Dialog == nil {
			b.Dialog = q // keep the typed text beside the error
		}
		return cmd
	case "esc":
		b.Dialog = nil
	default:
		q.Prompt.Key(k)
	}
	return nil
}

// View implements Dialog.
func (q *Question) View(b *PaneContext, width, height int) []string {
	inner := min(width, 60)
	lines := []string{b.Styles.Title.Render(display.Fit(" "+q.Title, inner))}
	if height > 3 && q.Note != "" {
		for part := range strings.SplitSeq(ansi.Wordwrap(q.Note, inner-2, ""), "\n") {
			lines = append(lines, b.Styles.Dim.Render(display.Fit(" "+part, inner)))
		}
	}
	return append(lines, display.Fit(" "+b.Styles.Prompt(q.Prompt, inner-2), inner))
}

// Footer implements Dialog.
func (q *Question) Footer() [][2]string { return [][2]string{{"⏎", "ok"}, {"esc", "cancel"}} }

// TakesText implements Dialog.
func (*Question) TakesText() bool { return true }
