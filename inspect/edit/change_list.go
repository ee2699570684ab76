package edit

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// ShowSteps lists the changes that can be undone or redone, the latest first. Choosing a
// change returns to the state right after it.
func (r *Pane) ShowSteps() tea.Cmd {
	n := len(r.steps)
	if n+len(r.undone) == 0 {
		r.Notice = "No changes yet."
		return nil
	}
	p := &ui.Picker{Title: "Return to the state after", ChooseLabel: "return", Choose: func(value string) tea.Cmd {
		r.targetStep, r.stepsDone = int(client.Atoi(value)), 0
		if r.targetStep == len(r.steps) || !r.mayWrite() {
			return nil
		}
		return r.nextStep()
	}}
	item := func(s change.Step, state string, after int) {
		p.Items = append(p.Items, ui.Item{Label: s.Title, Note: r.stepNote(s, state), Value: client.Decimal(int64(after))})
	}
	for i, s := range r.undone { // the latest undone change is redone first
		item(s, "undone", n+len(r.undone)-i)
	}
	p.At = len(p.Items)
	for i := n - 1; i >= 0; i-- {
		state := ""
		if i == n-1 {
			state = "now"
		}
		item(r.steps[i], state, i+1)
	}
	start := ui.Item{Label: "before all changes", Value: "0"}
	if n == 0 {
		start.Note = "now"
	}
	p.Items = append(p.Items, start)
	r.Dialog = p
	return nil
}

// stepNote returns the state, key count and age of a change; on a narrow screen only the
// first of these.
func (r *Pane) stepNote(s change.Step, state string) string {
	var parts []string
	if state != "" {
		parts = append(parts, state)
	}
	if s.Keys > 0 {
		parts = append(parts, display.Counted(s.Keys, "key", "keys"))
	}
	when := "just now"
	if ago := r.Now - s.When; ago >= 1000 {
		when = display.Remaining(ago) + " ago"
	}
	parts = append(parts, when)
	if r.Width < 60 {
		parts = parts[:1]
	}
	return strings.Join(parts, " · ")
}

// nextStep undoes or redoes the next step on the way to targetStep; nil if it is reached.
func (r *Pane) nextStep() tea.Cmd {
	switch n := len(r.steps); {
	case r.targetStep < n:
		return r.undoLast(false)
	case r.targetStep > n && len(r.undone) > 0:
		return r.askRedo()
	}
	return nil
}
