package edit

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/target"
)

// weighedMsg is how many keys a change would delete.
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
	w := weighedMsg{Change: change.Change{Title: "Deleted " + s.String(), Gone: []change.Scope{{DB: r.DB, Selection: s}}}, ask: "Delete " + s.String()}
	if len(s.Folders) == 0 {
		if n := len(s.Names); n <= change.KeysAtOnce {
			w.Calls = [][][]byte{target.Command(append([]string{"DEL"}, s.Names...)...)}
		}
		r.Tell(Taken{})
		return r.confirm(Confirmation{title: w.ask + "?", change: w.Change})
	}
	return r.weigh(w)
}

// weigh counts the keys of a change that deletes.
func (r *Room) weigh(w weighedMsg) tea.Cmd {
	mk := r.maker
	return r.Start(job.Weighing, func(ctx context.Context) (tea.Msg, error) { return w.weigh(ctx, mk) })
}

func (w weighedMsg) weigh(ctx context.Context, c *change.Maker) (tea.Msg, error) {
	var err error
	w.keys, w.Calls, err = c.Count(ctx, w.Gone)
	return w, err
}

// onWeighed asks whether to delete what was counted.
func (r *Room) onWeighed(w weighedMsg) tea.Cmd {
	w.Many = w.keys
	many := ", " + display.Counted(w.keys, "key", "keys")
	w.Title += many
	r.Tell(Taken{})
	c := Confirmation{title: w.ask + many + "?", change: w.Change, always: w.always}
	if w.keys > change.KeysAtOnce {
		c.notes = []string{target.Decimal(change.KeysAtOnce) + " at a time, each kept for undo:"}
	}
	return r.confirm(c)
}
