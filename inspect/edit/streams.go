package edit

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Changes of consumer groups, consumers and pending entries.

// deleteFromStream deletes the selected group, consumer or pending entry.
func (r *Pane) deleteFromStream(v ui.Selection) tea.Cmd {
	name := v.Element.Row[0]
	c := Confirmation{title: "Delete the group " + display.Text(name, 30) + "?"}
	c.change = change.Change{Title: "Deleted the group " + display.Text(name, 30), Calls: [][][]byte{client.Command("XGROUP", "DESTROY", v.Key, name)}}
	switch v.Part {
	case ui.Groups:
		c.notes = pendingNote(v.Element.Row[2])
	case ui.Consumers:
		c.title = "Delete the consumer " + display.Text(name, 30) + "?"
		c.change.Title = "Deleted the consumer " + display.Text(name, 30)
		c.change.Calls = [][][]byte{client.Command("XGROUP", "DELCONSUMER", v.Key, v.Group, name)}
		c.notes = pendingNote(v.Element.Row[1])
	case ui.Pending:
		c.title = "Acknowledge and delete the entry " + name + "?"
		c.change.Title = "Deleted the entry " + name
		c.change.Calls = [][][]byte{client.Command("XACK", v.Key, v.Group, name), client.Command("XDEL", v.Key, name)}
	}
	return r.confirm(c)
}

// pickPendingRemoval asks whether to acknowledge the selected pending entry, or to delete it as well.
func (r *Pane) pickPendingRemoval(s Subject) tea.Cmd {
	r.Dialog = &ui.Picker{Title: "Pending entry " + s.Value.Element.Row[0], Items: []ui.Item{{Label: "acknowledge", Value: "ack"}, {Label: "acknowledge and delete", Value: "delete"}}, Choose: func(choice string) tea.Cmd {
		if choice == "ack" {
			return r.Acknowledge(s)
		}
		return r.deleteFromStream(s.Value)
	}}
	return nil
}

// pendingNote says how many pending entries are lost.
func pendingNote(pending string) []string {
	if n := client.Atoi(pending); n > 0 {
		return []string{"Its pending entries are lost: " + display.Counted(n, "entry", "entries") + "."}
	}
	return nil
}

// addToStream asks for a new group or consumer.
func (r *Pane) addToStream(v ui.Selection) {
	f := &form{r: r, title: "New group of " + display.Text(v.Key, 40), fields: []field{newField("name", "", ""), newField("after", "$", "0: all entries, $: new entries only, or an id")}}
	f.make = func(values []string) (change.Change, error) {
		return change.Change{Title: "Added the group " + display.Text(values[0], 30), Calls: [][][]byte{client.Command("XGROUP", "CREATE", v.Key, values[0], values[1])}}, nil
	}
	switch v.Part {
	case ui.Consumers:
		f.title, f.fields = "New consumer of "+display.Text(v.Group, 40), f.fields[:1]
		f.make = func(values []string) (change.Change, error) {
			return change.Change{Title: "Added the consumer " + display.Text(values[0], 30), Calls: [][][]byte{client.Command("XGROUP", "CREATECONSUMER", v.Key, v.Group, values[0])}}, nil
		}
	case ui.Pending:
		r.Notice = "Entries become pending when a consumer reads them."
		return
	}
	r.Dialog = f
}

// editGroup sets the last delivered id of a group.
func (r *Pane) editGroup(v ui.Selection) {
	name, last := v.Element.Row[0], v.Element.Row[4]
	r.Dialog = &form{r: r, title: "Last delivered id of " + display.Text(name, 40), fields: []field{newField("id", last, "0: deliver all again, $: deliver none")}, make: func(values []string) (change.Change, error) {
		if values[0] == last {
			return change.Change{}, nil
		}
		return change.Change{Title: "Set the group " + display.Text(name, 30) + " to " + values[0], Calls: [][][]byte{client.Command("XGROUP", "SETID", v.Key, name, values[0])}}, nil
	}}
}

// Acknowledge acknowledges the selected pending entry.
func (r *Pane) Acknowledge(s Subject) tea.Cmd {
	v := s.Value
	if !r.pendingSelected(v) {
		return nil
	}
	id := v.Element.Row[0]
	return r.write(r.savePendingOnly(v, change.Change{Title: "Acknowledged " + id, Calls: [][][]byte{client.Command("XACK", v.Key, v.Group, id)}}))
}

// Claim asks for a consumer and assigns the selected pending entry to it.
func (r *Pane) Claim(s Subject) tea.Cmd {
	v := s.Value
	if !r.pendingSelected(v) {
		return nil
	}
	id, owner := v.Element.Row[0], v.Element.Row[3]
	r.Dialog = &form{r: r, title: "Claim " + id + " of " + display.Text(owner, 20) + " for", fields: []field{newField("consumer", "", "created if missing")}, make: func(values []string) (change.Change, error) {
		to := values[0]
		if to == "" || to == owner {
			return change.Change{}, nil
		}
		// JUSTID does not count as a delivery.
		call := client.Command("XCLAIM", v.Key, v.Group, to, "0", id, "JUSTID")
		return r.savePendingOnly(v, change.Change{Title: "Claimed " + id + " for " + display.Text(to, 30), Calls: [][][]byte{call}}), nil
	}}
	return nil
}

// pendingSelected reports whether a pending entry is selected and may be changed.
func (r *Pane) pendingSelected(v ui.Selection) bool {
	if v.Part != ui.Pending || v.Element == nil {
		r.Notice = "Only pending entries of a group can be acknowledged or claimed."
		return false
	}
	return r.mayWrite()
}

// savePendingOnly makes the undo of a change to a large stream save only the pending entry.
func (r *Pane) savePendingOnly(v ui.Selection, c change.Change) change.Change {
	if v.Size > manyElements {
		id := v.Element.Row[0]
		c.Undo.Build = change.UndoPending(v.Key, v.Group, id)
		c.Undo.Checks = []change.Check{{Call: change.PendingEntry(v.Key, v.Group, id)}}
	}
	return c
}
