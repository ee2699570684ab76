package edit

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Undo undoes the last change.
func (r *Pane) Undo() tea.Cmd {
	switch {
	case !r.mayWrite():
	case len(r.steps) == 0:
		r.Notice = "Nothing to undo."
	default:
		r.targetStep, r.stepsDone = len(r.steps)-1, 0
		return r.undoLast(false)
	}
	return nil
}

// Redo redoes the change that was undone last.
func (r *Pane) Redo() tea.Cmd {
	switch {
	case !r.mayWrite():
	case len(r.undone) == 0:
		r.Notice = "Nothing to redo."
	default:
		r.targetStep, r.stepsDone = len(r.steps)+1, 0
		return r.askRedo()
	}
	return nil
}

// undoLast undoes the last change. If another client has changed the data since, it does so
// only with wanted set.
func (r *Pane) undoLast(wanted bool) tea.Cmd {
	n := len(r.steps)
	s := r.steps[n-1]
	r.steps = r.steps[:n-1]
	r.changeTitle = s.Title
	mk := r.maker
	return r.Start(job.Writing, func(ctx context.Context) (tea.Msg, error) { return mk.Undo(ctx, s, wanted), nil })
}

// askRedo redoes the change that was undone last. It asks first if the change was confirmed
// the first time.
func (r *Pane) askRedo() tea.Cmd {
	s := r.undone[len(r.undone)-1]
	if !s.Confirmed {
		return r.redoLast(false)
	}
	return r.confirm(Confirmation{title: "Redo: " + s.Title + "?", onAgree: func() tea.Cmd { return r.redoLast(false) }})
}

// redoLast redoes the last undone change, under the same condition as undoLast.
func (r *Pane) redoLast(wanted bool) tea.Cmd {
	n := len(r.undone)
	s := r.undone[n-1]
	r.undone = r.undone[:n-1]
	r.changeTitle = s.Title
	mk := r.maker
	return r.Start(job.Writing, func(ctx context.Context) (tea.Msg, error) { return mk.Redo(ctx, s, wanted), nil })
}

// clearRedo drops the redo journal, since another change was made.
func (r *Pane) clearRedo() {
	r.undone = nil
	if err := r.maker.RedoJournal.Close(true); err != nil {
		r.Fail(err)
	}
}

func (r *Pane) onUndone(u change.UndoResult) tea.Cmd {
	if len(u.Conflicts) > 0 || u.Err != nil {
		return r.onNotUndone(u)
	}
	if u.IsRedo {
		r.steps = append(r.steps, *u.Back)
	} else if u.Back != nil {
		r.undone = append(r.undone, *u.Back)
	} else {
		r.clearRedo() // the undone changes were based on it
	}
	r.stepsDone++
	if cmd := r.nextStep(); cmd != nil {
		return cmd
	}
	verb := "Undone: "
	if u.IsRedo {
		verb = "Redone: "
	}
	r.Notice = verb + u.Step.Title + "."
	if r.stepsDone > 1 {
		r.Notice = verb + display.Counted(int64(r.stepsDone), "change", "changes") + ", the last one " + u.Step.Title + "."
	}
	if n := len(u.MissingKeys); n > 0 {
		r.Notice = u.MissingKeys[0] + " no longer exists: its TTL is not changed."
		if n > 1 {
			r.Notice = verb + u.Step.Title + ". " + display.Counted(int64(n), "key no longer exists", "keys no longer exist") + "."
		}
	}
	if n := len(u.TakenNames); n > 0 {
		r.Notice = verb + u.Step.Title + ". A key keeps its name because " + u.TakenNames[0] + " already exists."
		if n > 1 {
			r.Notice = verb + u.Step.Title + ". " + display.Grouped(int64(n)) + " keys keep their names because " + u.TakenNames[0] + " and others already exist."
		}
	}
	if len(u.LostRules) > 0 {
		r.Notice = verb + u.Step.Title + ", without " + u.LostRules[0]
	}
	return r.Emit(Changed{})
}

// onNotUndone handles an undo or a redo that was not started or was interrupted.
func (r *Pane) onNotUndone(u change.UndoResult) tea.Cmd {
	question, again := "Undo anyway?", r.undoLast
	switch {
	case !u.IsRedo:
		r.steps = append(r.steps, u.Step)
	case u.Back == nil: // nothing was done
		question, again = "Redo anyway?", r.redoLast
		r.undone = append(r.undone, u.Step)
	default:
		r.steps = append(r.steps, *u.Back)
	}
	if len(u.Conflicts) > 0 {
		return r.confirm(Confirmation{
			title: question, notes: append([]string{u.Step.Title}, u.Conflicts...), always: true,
			onAgree: func() tea.Cmd { return again(true) },
		})
	}
	if !u.IsRedo || u.Back != nil {
		r.clearRedo() // the undone changes were based on the state that is half undone now
	}
	r.Fail(u.Err)
	switch {
	case !u.IsRedo:
		r.Failure += " (press " + r.KeyFor("undo") + " to try again)"
	case u.Back == nil:
		r.Failure += " (press " + r.KeyFor("redo") + " to try again)"
	default:
		r.Failure += " (press " + r.KeyFor("undo") + " to undo the finished part)"
	}
	return r.Emit(Changed{})
}

// adoptedMsg carries the changes of an earlier session.
type adoptedMsg []change.Step

// AdoptJournal looks for the journal of an earlier session on the same target.
func (r *Pane) AdoptJournal() tea.Cmd {
	if r.OpenWriter == nil {
		return nil
	}
	r.changeTitle = "" // it runs as a change, since a change needs the journal
	journal, redo := r.maker.Journal, r.maker.RedoJournal
	return r.Start(job.Writing, func(context.Context) (tea.Msg, error) {
		steps, err := journal.Adopt()
		if err = errors.Join(err, redo.Sweep()); err != nil {
			return nil, err
		}
		return adoptedMsg(steps), nil
	})
}

// onAdopted keeps the changes of an earlier session for undo.
func (r *Pane) onAdopted(l adoptedMsg) {
	if len(l) == 0 {
		return
	}
	r.steps = l
	r.Notice = display.Counted(int64(len(l)), "change", "changes") + " of an earlier session can be undone: press " +
		r.KeyFor("unlock") + ", then " + r.KeyFor("undo") + ", or " + r.KeyFor("steps") + " for the list."
}

// DiscardHistory drops the undo journal: its changes can no longer be undone.
func (r *Pane) DiscardHistory() tea.Cmd {
	if r.Running(job.Writing) {
		r.Notice = "A change is still running; esc stops it."
		return nil
	}
	r.steps = nil
	r.clearRedo()
	if err := r.maker.Journal.Close(true); err != nil {
		r.Fail(err)
		return nil
	}
	r.Notice = "The history is discarded."
	return nil
}

// EndJournal closes the journals, and returns how many changes the undo journal keeps for
// the next session. Changes stay until they are undone or dropped, including one that is
// still running.
func (r *Pane) EndJournal() (kept int, err error) {
	err = r.maker.RedoJournal.Close(true)
	if r.Temporary {
		return 0, errors.Join(err, r.maker.Journal.Close(true))
	}
	if kept = len(r.steps); r.IsChanging() {
		kept++
	}
	return kept, errors.Join(err, r.maker.Journal.Close(kept == 0))
}
