package edit

import (
	"context"
	"io"
	"strings"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/store/keytype"
)

// copyLimit caps the length of a copied text, in bytes: terminals accept no more.
const copyLimit = 100_000

// PickCopy asks which part of the selected key to copy to the terminal's clipboard, which
// works over ssh, too.
func (r *Pane) PickCopy(s Subject) tea.Cmd {
	key := s.Key
	if !s.HasKey {
		return nil
	}
	p := &ui.Picker{Title: "Copy", Items: []ui.Item{
		{Label: "key", Value: "key"},
		{Label: "value", Value: "value", Note: "or the selected element"},
		{Label: "command", Value: "command", Note: "that reads it"},
		{Label: "shell", Value: "shell", Note: "meowdis exec …"},
	}}
	p.Choose = func(what string) tea.Cmd {
		verb, tail := "TYPE", ""
		if t := keytype.Of(s.KeyType); t.IsKnown() {
			verb, tail, _ = strings.Cut(t.Read, " key")
		}
		switch what {
		case "key":
			return r.copyText("the key", key)
		case "command":
			return r.copyText("the command", verb+" "+screen.Quote([]byte(key))+tail)
		case "shell":
			return r.copyText("the shell command", r.shellCommand()+" "+verb+" "+shellWord(key)+tail)
		}
		return r.copyValue(s)
	}
	r.Dialog = p
	return nil
}

// shellCommand returns the start of a shell command that runs a command in the current
// database.
func (r *Pane) shellCommand() string {
	if r.DB == 0 && r.startDB == 0 {
		return r.Exec
	}
	return r.Exec + " -n " + client.Decimal(int64(r.DB))
}

// shellWord quotes a word for a POSIX shell.
func shellWord(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// copyValue copies the selected element, or the open string.
func (r *Pane) copyValue(s Subject) tea.Cmd {
	if v := s.Value; r.InValue && v.Shown {
		if v.Element != nil {
			return r.copyText("the element", v.Element.Body)
		}
		if v.Text != nil && v.Text.Complete {
			return r.copyText("the value", v.Text.Data)
		}
	}
	if s.KeyType != keytype.String {
		r.Notice = "Open the value and select an element to copy."
		return nil
	}
	conn, key := r.Conn, s.Key
	db := r.DB
	return r.Start(job.RunningCommand, func(ctx context.Context) (tea.Msg, error) {
		v, err := conn.One(ctx, db, client.Command("GETRANGE", key, "0", client.Decimal(copyLimit)))
		return copiedMsg{string(v.Str)}, err
	})
}

// copiedMsg carries a value to copy.
type copiedMsg struct{ text string }

func (r *Pane) copyText(what, text string) tea.Cmd {
	if len(text) > copyLimit {
		r.Notice = "Too large for the terminal's clipboard. Press " + r.KeyFor("export") + " to export it to a file."
		return nil
	}
	r.Notice = "Copied " + what + " to the terminal's clipboard."
	out := r.Out
	if out == nil {
		return nil
	}
	return func() tea.Msg {
		io.WriteString(out, osc52.New(text).String())
		return nil
	}
}
