package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/transfer"
)

// runLine runs a typed command. Like any other change, a command that writes is confirmed
// and saved for undo.
func (r *Pane) runLine(line string) tea.Cmd {
	call, err := resp.SplitLine(line)
	if err != nil || len(call) == 0 {
		if err != nil {
			r.Fail(err)
		}
		return nil
	}
	r.history = append(r.history, line)
	if len(call) == 1 && slices.Contains([]string{"q", "q!", "quit", "exit"}, strings.ToLower(string(call[0]))) {
		return r.Emit(Quit{})
	}
	if cmd, bad := commands.Find(call); cmd == nil && strings.HasPrefix(string(bad.Str), "ERR wrong number of arguments") {
		r.Fail(client.ReplyError(bad))
		return nil
	}
	kind, keys := effectOf(call)
	if kind == effectRead {
		return r.runRead(call)
	}
	if kind == effectConnection {
		r.Notice = "Connection commands do not work here: use meowdis repl."
		return nil
	}
	if !r.mayWrite() {
		return nil
	}
	return r.runWrite(call, kind, keys)
}

// runWrite runs a command that writes.
func (r *Pane) runWrite(call [][]byte, kind effect, deletes bool) tea.Cmd {
	c := change.Change{Title: screen.CallText(call, 40), Calls: [][][]byte{call}, Origin: origin{showsReply: true}, OnlyTTLs: setsOnlyTTL(call, r.Now)}
	ask := Confirmation{title: "Run " + c.Title + "?", change: c}
	switch kind {
	case effectFlush:
		return r.flush(c)
	case effectSwap:
		ask.change.Undo.Calls, ask.change.Undo.Checks = [][][]byte{call}, []change.Check{} // the other clients' writes are swapped, too
		ask.always = true
	case effectUnknown:
		return r.findKeys(ask)
	default:
		if !deletes {
			return r.write(c)
		}
	}
	return r.confirm(ask)
}

// setsOnlyTTL reports whether a command changes only expiries, and expires no key at once.
func setsOnlyTTL(call [][]byte, now int64) bool {
	name := strings.ToUpper(string(call[0]))
	if name == "PERSIST" {
		return true
	}
	if len(call) < 3 {
		return false
	}
	at := client.Atoi(string(call[2]))
	switch name {
	case "EXPIRE", "PEXPIRE":
		return at > 0
	case "EXPIREAT":
		return at > now/1000
	case "PEXPIREAT":
		return at > now
	}
	return false
}

// keysFoundMsg carries a command missing from our table, with the keys that the target reports for it.
type keysFoundMsg struct{ Confirmation }

// findKeys asks the target for the keys of a command that is not in our table, so that they
// can be saved. A script may write other keys, too, and so cannot be undone.
func (r *Pane) findKeys(ask Confirmation) tea.Cmd {
	conn, db, call := r.Conn, r.DB, ask.change.Calls[0]
	ask.always = true
	return r.Start(job.RunningCommand, func(ctx context.Context) (tea.Msg, error) {
		v, err := conn.One(ctx, db, append(client.Command("COMMAND", "GETKEYS"), call...))
		var no client.Refusal
		if err != nil && !errors.As(err, &no) {
			return nil, err
		}
		for _, e := range v.Elems {
			ask.change.Keys = append(ask.change.Keys, client.Text(e))
		}
		if err != nil || len(v.Elems) == 0 || commands.Known(call).Has(commands.Scripts) {
			ask.change.Undo.Never = true
			ask.notes = []string{"Its effect is unknown; it cannot be undone."}
		}
		return keysFoundMsg{ask}, nil
	})
}

// flush deletes all keys of one database, or of all databases, one by one, so that each
// is saved for undo.
func (r *Pane) flush(c change.Change) tea.Cmd {
	w := countedMsg{Change: change.Change{Title: c.Title, Batch: change.Batch{Each: change.DeleteKeys}}, ask: "Run " + c.Title, always: true}
	every := change.Selection{Folders: []string{""}}
	mk, db := r.maker, r.DB
	if cmd, _ := commands.Find(c.Calls[0]); cmd.Name == "FLUSHDB" {
		w.Scopes = []change.Scope{{DB: db, Selection: every}}
		return r.countKeys(w)
	}
	return r.Start(job.CountingAffected, func(ctx context.Context) (tea.Msg, error) {
		dbs, err := transfer.Databases(ctx, mk.In(db))
		if err != nil {
			return nil, err
		}
		for _, n := range dbs {
			w.Scopes = append(w.Scopes, change.Scope{DB: n, Selection: every})
		}
		return w.count(ctx, mk)
	})
}

// Similar lists the elements of a vector set that are most similar to the selected one.
func (r *Pane) Similar(s Subject) tea.Cmd {
	e := s.Value.Outer
	if e == nil || s.Value.Type != keytype.VectorSet {
		r.Notice = "Open a vector set and select an element first."
		return nil
	}
	return r.runRead(client.Command("VSIM", s.Value.Key, "ELE", e.Name, "WITHSCORES", "COUNT", "20"))
}

// effect classifies the changes that a command may make.
type effect int

const (
	effectRead       effect = iota
	effectWrite             // keys that its arguments name
	effectFlush             // all keys of a database
	effectSwap              // two databases; the same command undoes it
	effectConnection        // only the connection
	effectUnknown           // unknown
)

// effectOf returns the effect of a command, and whether it deletes keys.
func effectOf(call [][]byte) (kind effect, deletes bool) {
	cmd, _ := commands.Find(call)
	switch {
	case commands.Known(call).Has(commands.OfConnection):
		return effectConnection, false
	case cmd == nil || cmd.Has(commands.ChangesServer) || cmd.Has(commands.Scripts):
		return effectUnknown, false
	case cmd.Name == "FLUSHALL" || cmd.Name == "FLUSHDB":
		return effectFlush, true
	case cmd.Name == "SWAPDB":
		return effectSwap, false
	case cmd.Flags&commands.Write == 0:
		return effectRead, false
	}
	return effectWrite, slices.ContainsFunc(cmd.KeysOf(call), func(k commands.KeyRef) bool { return k.Access&7 == commands.RM })
}

// replyMsg carries the reply to a typed command.
type replyMsg struct {
	call  [][]byte
	reply resp.Value
}

// runRead runs a command that reads, and shows its reply.
func (r *Pane) runRead(call [][]byte) tea.Cmd {
	db := r.DB
	if strings.EqualFold(string(call[0]), "SELECT") && len(call) == 2 {
		n, err := strconv.Atoi(string(call[1]))
		if err != nil || n < 0 || n >= client.MostDatabases {
			r.Fail(fmt.Errorf("database %q is out of range: use 0 to %d", call[1], client.MostDatabases-1))
			return nil
		}
		return r.Emit(DatabaseSelected{n})
	}
	conn := r.Conn
	return r.Start(job.RunningCommand, func(ctx context.Context) (tea.Msg, error) {
		values, err := conn.Do(ctx, db, call)
		if err != nil {
			return nil, err
		}
		return replyMsg{call, values[0]}, nil
	})
}

// onReply shows a reply: a short one in the status line, a longer one on a page.
func (r *Pane) onReply(a replyMsg) {
	const longest = 1 << 20
	text := resp.AppendTyped(nil, a.reply, true)
	cut := len(text) > longest
	lines := screen.SplitLines(string(text[:min(len(text), longest)]))
	if len(lines) == 1 && len(lines[0]) < r.Width-20 {
		r.Notice = screen.CallText(a.call, r.Width/2) + " → " + lines[0]
		return
	}
	for i := range lines {
		lines[i] = " " + screen.VisibleText([]byte(lines[i]))
	}
	if cut {
		lines = append(lines, r.Styles.Dim.Render(" … and more"))
	}
	r.Dialog = &ui.Page{Title: screen.CallText(a.call, 60), Lines: lines}
}

// ShowLog lists the commands that were sent, the latest first.
func (r *Pane) ShowLog() tea.Cmd {
	entries := r.Conn.Log.Entries()
	p := &ui.Picker{Title: "Commands sent, latest first", ChooseLabel: "show its SQL", Choose: func(value string) tea.Cmd {
		return r.explain(entries[client.Atoi(value)].Call)
	}}
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		note := client.Decimal(e.Took) + " ms"
		if e.Bad {
			note = "error  " + note
		}
		p.Items = append(p.Items, ui.Item{Label: screen.CallText(e.Call, 150), Note: note, Value: client.Decimal(int64(i))})
	}
	if len(p.Items) == 0 {
		r.Notice = "No command was sent yet."
		return nil
	}
	r.Dialog = p
	return nil
}

// explain shows the SQL of a command.
func (r *Pane) explain(call [][]byte) tea.Cmd {
	return r.showSQL(change.Change{Calls: [][][]byte{call}}, nil)
}

// sqlKey shows the SQL of the change that a dialog is about to make.
const sqlKey = "ctrl+x"

var SQLHint = [2]string{"^X", "SQL"}

// showSQL shows the SQL that a change will run. Closing it returns to the dialog behind.
func (r *Pane) showSQL(c change.Change, behind ui.Dialog) tea.Cmd {
	switch {
	case r.Explain == nil:
		r.Notice = "Only a file has SQL."
		return nil
	case len(c.Calls) == 0:
		r.Notice = "Nothing to run yet."
		return nil
	}
	var lines []string
	for i, call := range c.Calls[:min(len(c.Calls), maxExplained)] {
		if i > 0 {
			lines = append(lines, "")
		}
		if len(c.Calls) > 1 {
			lines = append(lines, r.Styles.Accent.Render(" "+screen.CallText(call, 200)))
		}
		for _, line := range screen.SplitLines(r.Explain(r.DB, call)) {
			lines = append(lines, " "+screen.VisibleText([]byte(line)))
		}
	}
	if more := len(c.Calls) - maxExplained; more > 0 {
		lines = append(lines, "", r.Styles.Dim.Render(" … and "+display.Counted(int64(more), "command", "commands")+" more"))
	}
	r.Dialog = &ui.Page{Title: screen.CallsText(c.Calls, 60), Layout: ui.Wrapped(lines...), Parent: behind}
	return nil
}

// maxExplained limits the commands of a change shown as SQL.
const maxExplained = 20
