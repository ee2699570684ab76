package edit

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/target"
)

// weighedMsg is how many keys a change is about.
type weighedMsg struct {
	change.Change
	ask    string // the question; the number of keys is added
	keys   int64
	always bool // ask even where nothing is to be confirmed
}

// askDelete counts what would go, and asks.
func (r *Room) askDelete(s change.Selection) tea.Cmd {
	if !r.mayWrite() || s.Empty() {
		return nil
	}
	return r.askAll(r.toAll(s, "Deleted "+s.String(), change.Deletes), "Delete "+s.String())
}

// toAll is a change that does the same to all keys of a selection.
func (r *Room) toAll(s change.Selection, title string, each change.Each) change.Change {
	return change.Change{Title: title, Each: each, Over: []change.Scope{{DB: r.DB, Selection: s}}}
}

// askAll asks before a change to many keys, which are counted first where they are not
// named.
func (r *Room) askAll(c change.Change, ask string) tea.Cmd {
	s := c.Over[0]
	if len(s.Folders) > 0 {
		return r.weigh(weighedMsg{Change: c, ask: ask})
	}
	var err error
	if c.Calls, err = c.Each.First(s.Names); err != nil {
		r.Fail(err)
		return nil
	}
	c.Many = int64(len(s.Names))
	return r.confirm(Confirmation{title: ask + "?", notes: someAtATime(c.Many), change: c})
}

// someAtATime says that so many keys are not changed together.
func someAtATime(keys int64) []string {
	if keys <= change.KeysAtOnce {
		return nil
	}
	return []string{target.Decimal(change.KeysAtOnce) + " at a time, each kept for undo:"}
}

// weigh counts the keys of a change.
func (r *Room) weigh(w weighedMsg) tea.Cmd {
	mk := r.maker
	return r.Start(job.Weighing, func(ctx context.Context) (tea.Msg, error) { return w.weigh(ctx, mk) })
}

func (w weighedMsg) weigh(ctx context.Context, c *change.Maker) (tea.Msg, error) {
	var err error
	w.keys, w.Calls, err = c.Count(ctx, w.Change)
	return w, err
}

// onWeighed asks whether to change what was counted.
func (r *Room) onWeighed(w weighedMsg) tea.Cmd {
	w.Many = w.keys
	many := ", " + display.Counted(w.keys, "key", "keys")
	w.Title += many
	return r.confirm(Confirmation{title: w.ask + many + "?", notes: someAtATime(w.keys), change: w.Change, always: w.always})
}
