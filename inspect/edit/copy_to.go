package edit

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// CopyTo asks for the new name of a copy, or which open target to copy keys to and whether to replace
// existing keys. A copy in another target belongs to it: its profile decides about confirmations, and
// its tab shows and undoes the change.
func (r *Pane) CopyTo(s Subject) tea.Cmd {
	if s.Keys.Empty() {
		return nil
	}
	var others []Other
	if r.Others != nil {
		others = r.Others()
	}
	single := len(s.Keys.Folders) == 0 && len(s.Keys.Names) == 1
	switch {
	case len(others) == 0 && single:
		return r.duplicate(s.Keys.Names[0])
	case len(others) == 0:
		r.Notice = "No other target is open. Press " + r.KeyFor("tab_open") + " to open one."
		return nil
	}
	p := &ui.Picker{Title: "Copy " + s.Keys.String() + " to", Choose: func(at string) tea.Cmd {
		if at == here {
			return r.duplicate(s.Keys.Names[0])
		}
		to := others[client.Atoi(at)]
		if why := to.Pane.whyNotWritable(to.Name); why != "" {
			r.Notice = why
			return nil
		}
		r.Dialog = &ui.Picker{Title: "Keys that already exist in " + to.Name, Items: []ui.Item{
			{Label: "keep them", Value: "stay"}, {Label: "replace them", Value: "replace", Note: "undo restores them"},
		}, Choose: func(what string) tea.Cmd { return r.copyTo(to, s.Keys, what == "replace") }}
		return nil
	}}
	for i, other := range others {
		note := "db " + client.Decimal(int64(other.Pane.DB))
		if !other.Pane.IsUnlocked() {
			note += ", locked"
		}
		p.Items = append(p.Items, ui.Item{Label: other.Name, Note: note, Value: strconv.Itoa(i)})
	}
	if single {
		p.Items = append(p.Items, ui.Item{Label: "a new name here", Value: here})
	}
	r.Dialog = p
	return nil
}

// here marks the choice of a copy in the same database.
const here = "here"

// duplicate asks for the name of a copy of key in the same database.
func (r *Pane) duplicate(key string) tea.Cmd {
	if !r.mayWrite() {
		return nil
	}
	typed, read := screen.Typeable(key)
	r.Dialog = &form{r: r, title: "Copy " + display.Text(key, 40), fields: []field{newField("new name", typed, "")}, make: func(v []string) (change.Change, error) {
		name, err := read(v[0])
		if err != nil || name == key {
			return change.Change{}, err
		}
		return change.Change{Title: "Copied to " + display.Text(name, 40), Calls: [][][]byte{client.Command("COPY", key, name)}, MustBeMissing: name, Reveal: name}, nil
	}}
	return nil
}

// whyNotWritable returns why nothing can be copied to the target name; "" if it can.
func (r *Pane) whyNotWritable(name string) string {
	switch {
	case r.OpenWriter == nil:
		return name + " is read-only."
	case !r.IsUnlocked():
		return name + " is locked: press " + r.KeyFor("unlock") + " in its tab first."
	case r.Running(job.Writing):
		return "A change is still running in " + name + "."
	case r.Dialog != nil:
		return "The tab of " + name + " has an open dialog."
	}
	return ""
}

// copyTo switches to the other tab and copies there.
func (r *Pane) copyTo(to Other, keys change.Selection, replace bool) tea.Cmd {
	c := change.Change{Title: "Copied " + keys.String() + " from " + display.Text(r.Name, 30), Copies: &change.Copying{From: r.maker, DB: r.DB, Keys: keys, Replace: replace}}
	if len(keys.Folders) == 0 {
		c.KeyCount = int64(len(keys.Names))
	}
	o := to.Pane
	if !replace && o.Confirm != ConfirmName {
		return tea.Batch(to.Show(), o.write(c))
	}
	ask := "Copy " + keys.String() + " to " + to.Name
	if replace {
		ask += " and replace existing keys"
	}
	return tea.Batch(to.Show(), o.confirm(Confirmation{title: ask + "?", change: c}))
}
