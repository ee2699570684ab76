package edit

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
)

// write makes a change if writing is unlocked.
func (r *Pane) write(c change.Change) tea.Cmd {
	if !r.mayWrite() {
		r.restoreInput(c, r.Notice)
		return nil
	}
	if c.Scopes != nil {
		r.Emit(SelectionUsed{})
	}
	mk, db := r.maker, r.DB
	r.changeTitle = c.Title
	return r.Start(job.Writing, func(ctx context.Context) (tea.Msg, error) {
		w, doubt := mk.Make(ctx, db, c)
		if doubt != nil {
			return *doubt, nil
		}
		return w, nil
	})
}

// origin records where a change was requested.
type origin struct {
	draft      string // the file with the edited text; "" for none
	form       *form  // the form to correct the input in; nil for none
	showsReply bool   // show the reply
}

func originOf(c change.Change) origin {
	o, _ := c.Origin.(origin)
	return o
}

// onMade adds a finished change to the undo steps and refreshes the screen.
func (r *Pane) onMade(w change.Made) tea.Cmd {
	from := originOf(w.Change)
	if w.Step != nil {
		r.steps = append(r.steps, *w.Step)
	}
	if w.Step != nil || w.Undo.Never && w.Err == nil {
		r.clearRedo()
	}
	switch {
	case w.Err != nil && w.Step != nil:
		r.Fail(w.Err)
		r.Failure += " (press " + r.KeyFor("undo") + " to undo the finished part)"
	case w.Err != nil:
		r.Fail(w.Err)
	case from.showsReply:
		r.onReply(replyMsg{call: w.Calls[0], reply: w.Reply})
	default:
		r.Notice = w.Title + "."
		if from.draft != "" {
			r.Notice += r.editedIn()
		}
		if w.Step != nil {
			r.Notice += " Press " + r.KeyFor("undo") + " to undo it."
		}
	}
	if w.Err != nil {
		r.restoreInput(w.Change, w.Err.Error())
		r.showNotKept(w.Err)
	} else if from.draft != "" {
		r.dropDraft(from.draft)
	}
	if w.Err != nil && w.Step == nil {
		return nil
	}
	return r.Emit(Changed{w.Reveal})
}

// restoreInput keeps the person's input if a change was not made, or only in part.
func (r *Pane) restoreInput(c change.Change, why string) {
	switch from := originOf(c); {
	case from.draft != "":
		r.showNotSaved(why, from.draft)
	case from.form != nil:
		r.Dialog = from.form
	}
}

// showNotKept explains that the journal cannot be written, which does not fit into the
// status line.
func (r *Pane) showNotKept(err error) {
	var why change.JournalError
	if !errors.As(err, &why) {
		return
	}
	r.Failure = ""
	r.Dialog = &ui.Page{Title: "Nothing was changed", Parent: r.Dialog, Layout: ui.Wrapped(
		" The undo data cannot be saved:", r.Styles.Failure.Render(" "+screen.VisibleText([]byte(why.Err.Error()))), " Free space there, or make the directory writable.",
	)}
}

// onUnconfirmed asks whether to make a change anyway.
func (r *Pane) onUnconfirmed(d change.Unconfirmed) tea.Cmd {
	return r.confirm(Confirmation{title: d.Title, notes: []string{d.Note}, change: d.Change, always: true})
}
