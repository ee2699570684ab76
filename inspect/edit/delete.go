package edit

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/display"
)

// countedMsg carries a change and the number of its keys.
type countedMsg struct {
	change.Change
	listed bool // list the affected keys and folders
	parts  []change.Part
	ask    string // the question, without the number of keys
	keys   int64
	always bool // ask even if Confirm is ConfirmNone
}

// askDelete asks before it deletes the selected keys.
func (r *Pane) askDelete(s change.Selection) tea.Cmd {
	if !r.mayWrite() || s.Empty() {
		return nil
	}
	c, ask := r.bulkChange(s, "Deleted "+s.String(), change.DeleteKeys), "Delete "+s.String()
	if len(s.Folders) == 0 && len(s.Names) == 1 {
		return r.confirmBulk(c, ask)
	}
	return r.countKeys(countedMsg{Change: c, ask: ask, listed: true})
}

// maxPartsShown limits the keys and folders listed before a deletion.
const maxPartsShown = 6

// partLines lists keys and folders with their numbers of keys and bytes, in columns.
func partLines(parts []change.Part, rest, width int) (lines []string) {
	label := 0
	for _, p := range parts {
		label = max(label, ansi.StringWidth(display.Whole(p.Label())))
	}
	label = max(min(label, width-24), 8)
	for _, p := range parts {
		keys, bytes := "1 key", "?"
		if p.Folder {
			keys = display.Counted(p.Keys, "key", "keys")
		}
		if p.Bytes >= 0 {
			bytes = display.Bytes(p.Bytes)
		}
		lines = append(lines, display.Fit(display.Text(p.Label(), label), label)+display.FitRight(keys, 14)+display.FitRight(bytes, 9))
	}
	if rest > 0 {
		lines = append(lines, "… and "+display.Grouped(int64(rest))+" more")
	}
	return lines
}

// bulkChange returns a change that applies each to all keys of a selection.
func (r *Pane) bulkChange(s change.Selection, title string, each change.KeyChange) change.Change {
	return change.Change{Title: title, Batch: change.Batch{Each: each, Scopes: []change.Scope{{DB: r.DB, Selection: s}}}}
}

// confirmBulk asks before a change to many keys. It first counts the keys if folders are
// selected.
func (r *Pane) confirmBulk(c change.Change, ask string) tea.Cmd {
	s := c.Scopes[0]
	if len(s.Folders) > 0 {
		return r.countKeys(countedMsg{Change: c, ask: ask})
	}
	var err error
	if c.Calls, err = c.Each.FirstCalls(s.Names); err != nil {
		r.Fail(err)
		return nil
	}
	c.KeyCount = int64(len(s.Names))
	return r.confirm(Confirmation{title: ask + "?", notes: batchNote(c.KeyCount, r.maker.BatchKeys()), change: c})
}

// batchNote says that the keys are changed in several batches, if there are more than atOnce.
func batchNote(keys int64, atOnce int) []string {
	if keys <= int64(atOnce) {
		return nil
	}
	return []string{display.Grouped(int64(atOnce)) + " at a time; undo restores all:"}
}

// countKeys counts the keys of a change.
func (r *Pane) countKeys(w countedMsg) tea.Cmd {
	mk := r.maker
	return r.Start(job.CountingAffected, func(ctx context.Context) (tea.Msg, error) { return w.count(ctx, mk) })
}

func (w countedMsg) count(ctx context.Context, c *change.Maker) (tea.Msg, error) {
	var err error
	if w.keys, w.Calls, err = c.Count(ctx, w.Change); err == nil && w.listed {
		w.parts, err = c.Parts(ctx, w.Scopes[0], maxPartsShown)
	}
	return w, err
}

// onCounted asks whether to make the counted change.
func (r *Pane) onCounted(w countedMsg) tea.Cmd {
	w.KeyCount = w.keys
	s, many := w.Scopes[0].Selection, ""
	if len(s.Folders) > 0 {
		many = ", " + display.Counted(w.keys, "key", "keys")
	}
	w.Title += many
	notes := partLines(w.parts, len(s.Folders)+len(s.Names)-len(w.parts), min(r.Width-8, 76))
	if !w.listed {
		notes = nil
	}
	return r.confirm(Confirmation{title: w.ask + many + "?", notes: append(notes, batchNote(w.keys, r.maker.BatchKeys())...), change: w.Change, always: w.always})
}
