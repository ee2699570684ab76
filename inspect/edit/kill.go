package edit

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Kill asks whether to close the connection of a client. Afterwards it returns to parent.
func (r *Pane) Kill(id, name string, behind ui.Dialog) tea.Cmd {
	c := change.Change{Title: "Closed client " + id, Calls: [][][]byte{client.Command("CLIENT", "KILL", "ID", id)}, Undo: change.Undo{Never: true}}
	return r.confirm(Confirmation{
		title: "Close client " + id + ", " + display.Text(name, 40) + "?", notes: []string{"Its running command ends; it may reconnect."},
		change: c, always: true, parent: behind,
	})
}
