package edit

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/room"
)

// Undo takes the last change back.
func (r *Room) Undo() tea.Cmd {
	if !r.mayWrite() {
		return nil
	}
	if len(r.steps) == 0 {
		r.Notice = "There is nothing to undo."
		return nil
	}
	return r.undoLast(false)
}

// undoLast takes the last change back: when others changed what it left only if the
// person wants that.
func (r *Room) undoLast(wanted bool) tea.Cmd {
	n := len(r.steps)
	s := r.steps[n-1]
	r.steps = r.steps[:n-1]
	r.making = s.Title
	mk := r.maker
	return r.Start(job.Writing, func(ctx context.Context) (tea.Msg, error) { return mk.Undo(ctx, s, wanted), nil })
}

func (r *Room) onUndone(u change.Undone) tea.Cmd {
	if len(u.Doubts) > 0 {
		r.steps = append(r.steps, u.Step)
		return r.confirm(Confirmation{
			title: "Undo nevertheless?", notes: append([]string{u.Step.Title}, u.Doubts...), always: true,
			agreed: func() tea.Cmd { return r.undoLast(true) },
		})
	}
	if u.Err != nil {
		r.steps = append(r.steps, u.Step)
		r.Fail(u.Err)
		r.Failure += " (u tries again)"
		return r.Tell(Changed{})
	}
	r.Notice = "Undone: " + u.Step.Title + "."
	if n := len(u.Gone); n > 0 {
		r.Notice = u.Gone[0] + " is not there any more: its time to live is not undone."
		if n > 1 {
			r.Notice = "Undone: " + u.Step.Title + ", but of " + display.Counted(int64(n), "key that is", "keys that are") + " not there any more."
		}
	}
	return r.Tell(Changed{})
}

// leftBehindMsg is the changes of an earlier session.
type leftBehindMsg []change.Step

// LookBack looks for the journal that an earlier session on the same target left.
func (r *Room) LookBack() tea.Cmd {
	if r.Writer == nil {
		return nil
	}
	r.making = "" // it takes the turn of a change, which needs the journal
	journal := r.maker.Journal
	return r.Start(job.Writing, func(context.Context) (tea.Msg, error) {
		steps, err := journal.Adopt()
		if err != nil {
			return nil, err
		}
		return leftBehindMsg(steps), nil
	})
}

// onLeftBehind asks what to do with changes that were left behind.
func (r *Room) onLeftBehind(l leftBehindMsg) {
	if len(l) == 0 {
		return
	}
	r.steps = l
	many := display.Counted(int64(len(l)), "change", "changes")
	r.Dialog = &room.Picker{
		Title: "Changes of an earlier session",
		Items: []room.Item{{Label: "keep its " + many + " for undo", Value: "keep"}, {Label: "drop them", Value: "drop"}},
		Choose: func(choice string) tea.Cmd {
			if choice == "keep" {
				r.Notice = "Press U to unlock, then u to undo: " + l[len(l)-1].Title + "."
				return nil
			}
			r.steps = nil
			r.Notice = "They stay as they are."
			if err := r.maker.Journal.Close(true); err != nil {
				r.Fail(err)
			}
			return nil
		},
	}
}

// EndJournal ends the session's use of the journal, and returns how many changes that
// keeps. What can be undone stays until it is undone or dropped, and so does a change
// that is still being made.
func (r *Room) EndJournal() (kept int, err error) {
	if r.Fleeting {
		return 0, r.maker.Journal.Close(true)
	}
	if kept = len(r.steps); r.IsChanging() {
		kept++
	}
	return kept, r.maker.Journal.Close(kept == 0)
}
