package edit

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Rename asks for a new name for the selected key, or for a pattern for many keys. It
// confirms before it overwrites a key.
func (r *Pane) Rename(s Subject) tea.Cmd {
	switch {
	case !r.mayWrite() || s.Keys.Empty():
		return nil
	case len(s.Keys.Folders) > 0 || len(s.Keys.Names) > 1:
		return r.loadNames(s.Keys)
	}
	key := s.Keys.Names[0]
	typed, read := screen.Typeable(key)
	r.Dialog = &form{r: r, title: "Rename " + display.Text(key, 40), fields: []field{newField("name", typed, "")}, make: func(v []string) (change.Change, error) {
		name, err := read(v[0])
		if err != nil || name == key {
			return change.Change{}, err
		}
		c := change.Change{Title: "Renamed to " + display.Text(name, 40), Reveal: name}
		onto := c
		onto.Calls = [][][]byte{client.Command("RENAME", key, name)}
		c.Calls, c.Overwrite = [][][]byte{client.Command("RENAMENX", key, name)}, &onto
		c.Undo.Calls = [][][]byte{client.Command("RENAME", name, key)}
		c.Undo.Checks = []change.Check{{Call: client.Command("EXISTS", key)}, {Call: client.Command("EXISTS", name)}}
		return c, nil
	}}
	return nil
}

// namesMsg carries the names of the keys to rename.
type namesMsg struct {
	change.Selection
	names []string
}

// loadNames loads the names of the keys to rename.
func (r *Pane) loadNames(s change.Selection) tea.Cmd {
	mk, db := r.maker, r.DB
	return r.Start(job.CountingAffected, func(ctx context.Context) (tea.Msg, error) {
		names, err := mk.Names(ctx, db, s)
		return namesMsg{s, names}, err
	})
}

// Limits of the preview: names that the pattern is tried on, and changed names shown.
const (
	maxPreviewed  = 2000
	maxNamesShown = 8
)

// onNames asks for a rename pattern.
func (r *Pane) onNames(n namesMsg) {
	if len(n.names) == 0 {
		r.Notice = "There is no key to rename."
		return
	}
	alike := commonPrefix(n.names, r.Delimiter) + "*"
	f := &form{r: r, title: "Rename " + display.Counted(int64(len(n.names)), "key", "keys") + " by a pattern", fields: []field{
		newField("old", alike, "user:*, a text, or /(regular) expression/"), newField("new", alike, "account:*, or $1"),
	}, at: 1}
	var p change.Pattern
	f.make = func(v []string) (c change.Change, err error) {
		if p, err = change.ParsePattern(v[0], v[1]); err != nil {
			return c, err
		}
		tried := n.names[:min(len(n.names), maxPreviewed)]
		i := slices.IndexFunc(tried, func(name string) bool { return p.Apply(name) != name })
		if c.Scopes = []change.Scope{{DB: r.DB}}; i >= 0 {
			c.Calls = [][][]byte{client.Command("RENAMENX", tried[i], p.Apply(tried[i]))}
		}
		return c, nil
	}
	f.preview = func(width, height int) []string {
		return r.previewNames(p, n.names, width, min(height, maxNamesShown+1))
	}
	f.ask = func(change.Change) tea.Cmd { return r.planNames(f, n, p) }
	r.Dialog = f
}

// commonPrefix returns the longest prefix of all names that ends with a delimiter.
func commonPrefix(names []string, delimiter string) string {
	first, last := slices.Min(names), slices.Max(names)
	i := 0
	for i < min(len(first), len(last)) && first[i] == last[i] {
		i++
	}
	if end := strings.LastIndex(first[:i], delimiter); end >= 0 {
		i = end + len(delimiter)
	}
	if typed, _ := screen.Typeable(first[:i]); typed != first[:i] {
		return ""
	}
	return first[:i]
}

// previewNames renders the old and new names.
func (r *Pane) previewNames(p change.Pattern, names []string, width, height int) (lines []string) {
	tried, changed := names[:min(len(names), maxPreviewed)], 0
	for _, old := range tried {
		name := p.Apply(old)
		if name == old {
			continue
		}
		if changed++; changed < height {
			lines = append(lines, "  "+renameText(old, name, width-3))
		}
	}
	of := " of "
	if len(tried) < len(names) {
		of = " of the first "
	}
	return append(lines, r.Styles.Dim.Render(display.Truncate("  "+display.Grouped(int64(changed))+of+display.Counted(int64(len(tried)), "key gets", "keys get")+" a new name", width)))
}

// renameText renders an old name and the new one in at most width cells.
func renameText(old, name string, width int) string {
	each := max((width-3)/2, 1)
	return display.Text(old, each) + " → " + display.Text(name, each)
}

// plannedMsg carries the new names that a pattern produces.
type plannedMsg struct {
	form    *form
	pattern change.Pattern
	change.Renaming
}

func (r *Pane) planNames(f *form, n namesMsg, p change.Pattern) tea.Cmd {
	mk, db := r.maker, r.DB
	return r.Start(job.CountingAffected, func(ctx context.Context) (tea.Msg, error) {
		plan, err := mk.Plan(ctx, db, n.names, p)
		return plannedMsg{f, p, plan}, err
	})
}

// onPlanned asks before it renames keys, or lists the names that are taken.
func (r *Pane) onPlanned(m plannedMsg) tea.Cmd {
	many := display.Counted(int64(len(m.Old)), "key", "keys")
	switch {
	case len(m.Clashes) > 0:
		r.Dialog = m.form
		lines := []string{" Nothing was renamed.", ""}
		for _, c := range m.Clashes {
			lines = append(lines, " "+renameText(c.Old, c.New, max(r.Width-40, 40))+"  "+r.Styles.Failure.Render(c.Why))
		}
		r.Dialog = &ui.Page{Title: display.Counted(int64(len(m.Clashes)), "name is", "names are") + " taken", Layout: ui.Wrapped(lines...), Parent: m.form}
		return nil
	case len(m.Old) == 0:
		r.Dialog = m.form
		r.Fail(errors.New("the pattern changes no name"))
		return nil
	}
	c := r.bulkChange(change.Selection{Names: m.Old}, "Renamed "+many, change.RenameKeys(m.pattern))
	c.KeyCount, c.Origin = int64(len(m.Old)), origin{form: m.form}
	c.Calls, _ = c.Each.FirstCalls(m.Old) // it does not fail
	var notes []string
	shown := min(len(m.Old), maxNamesShown, max(r.Height-12, 1))
	for i := range shown {
		notes = append(notes, renameText(m.Old[i], m.New[i], min(r.Width-8, 100)))
	}
	if rest := len(m.Old) - shown; rest > 0 {
		notes = append(notes, "… and "+display.Grouped(int64(rest))+" more")
	}
	if m.Same > 0 {
		notes = append(notes, display.Counted(int64(m.Same), "key keeps its name", "keys keep their names"))
	}
	return r.confirm(Confirmation{title: "Rename " + many + "?", notes: notes, change: c})
}
