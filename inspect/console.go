package inspect

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// callText is a command as a person would type it, in at most width cells.
func callText(call [][]byte, width int) string {
	var b strings.Builder
	for i, w := range call {
		if i > 0 {
			b.WriteByte(' ')
		}
		if b.Len() > 4*width {
			break
		}
		b.WriteString(word(w[:min(len(w), 4*width)]))
	}
	return truncate(b.String(), width)
}

// word is a word of a command line, in quotes where it needs them.
func word(w []byte) string {
	for _, c := range w {
		if c <= ' ' || c == '"' || c == '\'' || c == '\\' || c > '~' {
			return string(resp.AppendQuoted(nil, w, true))
		}
	}
	if len(w) == 0 {
		return `""`
	}
	return string(w)
}

// commandLine asks for a command and runs it.
func (m *Model) commandLine() tea.Cmd {
	m.overlay = &console{prompt: newPrompt(""), at: len(m.typed)}
	return nil
}

// console is the line to type a command in, with those typed before.
type console struct {
	prompt *prompt
	at     int // in the history
}

func (c *console) press(m *Model, k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		m.overlay = nil
	case "backspace":
		if len(c.prompt.text) == 0 {
			m.overlay = nil
		}
		c.prompt.key(k)
	case "up":
		c.recall(m, -1)
	case "down":
		c.recall(m, 1)
	case "enter":
		m.overlay = nil
		return m.runLine(c.prompt.String())
	default:
		c.prompt.key(k)
	}
	return nil
}

func (c *console) recall(m *Model, step int) {
	if at := c.at + step; at >= 0 && at < len(m.typed) {
		c.at = at
		c.prompt = newPrompt(m.typed[at])
	}
}

func (c *console) view(m *Model, width, height int) []string {
	return []string{fit(" "+m.styles.key.Render(": ")+m.promptLine(c.prompt, min(width, 76)-4), min(width, 76))}
}

func (c *console) footer() [][2]string {
	return [][2]string{{"⏎", "run"}, {"↑↓", "history"}, {"esc", "cancel"}}
}

// runLine runs a command that was typed. What it may change is asked and kept as
// for any other change.
func (m *Model) runLine(line string) tea.Cmd {
	call, err := resp.SplitLine(line)
	if err != nil || len(call) == 0 {
		if err != nil {
			m.fail(err)
		}
		return nil
	}
	m.typed = append(m.typed, line)
	if cmd, bad := commands.Find(call); cmd == nil && strings.HasPrefix(string(bad.Str), "ERR wrong number of arguments") {
		m.fail(replyError(bad))
		return nil
	}
	kind, keys := kindOf(call)
	if kind == reading {
		return m.show(call)
	}
	if kind == ofSession {
		m.notice = "This is about a connection, and the browser shares one: use meowdis repl."
		return nil
	}
	if !m.mayWrite() {
		return nil
	}
	return m.runWrite(call, kind, keys)
}

// runWrite runs a command that changes something.
func (m *Model) runWrite(call [][]byte, kind danger, deletes bool) tea.Cmd {
	c := change{title: callText(call, 40), calls: [][][]byte{call}, shows: true, lives: setsLife(call, m.now)}
	ask := confirmation{title: "Run " + c.title + "?", change: c}
	switch kind {
	case flushing:
		return m.flush(c)
	case swapping:
		ask.change.back, ask.change.checks = [][][]byte{call}, []check{} // the others' writes are swapped, too
		ask.always = true
	case unknownCall:
		return m.lookUp(ask)
	default:
		if !deletes {
			return m.write(c)
		}
	}
	return m.confirm(ask)
}

// setsLife reports whether a command sets no more than when keys end, and ends none at
// once.
func setsLife(call [][]byte, now int64) bool {
	name := strings.ToUpper(string(call[0]))
	if name == "PERSIST" {
		return true
	}
	if len(call) < 3 {
		return false
	}
	at := atoi64(string(call[2]))
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

// lookedUp is a command that is not in our table, and what the target tells of it.
type lookedUp struct{ confirmation }

// lookUp asks the target which keys a command has that is not in our table: they
// can be kept. A script may write others, too.
func (m *Model) lookUp(ask confirmation) tea.Cmd {
	db, call := m.db, ask.change.calls[0]
	ask.always = true
	return m.start(answering, func(ctx context.Context) (tea.Msg, error) {
		v, err := m.conn.one(ctx, db, append(command("COMMAND", "GETKEYS"), call...))
		var no refusal
		if err != nil && !errors.As(err, &no) {
			return nil, err
		}
		for _, e := range v.Elems {
			ask.change.keys = append(ask.change.keys, text(e))
		}
		if err != nil || len(v.Elems) == 0 || commands.Known(call).Has(commands.Scripts) {
			ask.change.final = true
			ask.notes = []string{"What it does is not known here; it cannot be undone."}
		}
		return lookedUp{ask}, nil
	})
}

// flush deletes all keys of a database, or of all, one by one, so that each is
// kept.
func (m *Model) flush(c change) tea.Cmd {
	w := weighed{change: change{title: c.title}, ask: "Run " + c.title, always: true}
	every := selection{folders: []string{""}}
	db := m.db
	if cmd, _ := commands.Find(c.calls[0]); cmd.Name == "FLUSHDB" {
		w.gone = []scope{{db, every}}
		return m.weigh(w)
	}
	return m.start(weighing, func(ctx context.Context) (tea.Msg, error) {
		dbs, err := transfer.Databases(ctx, &pinned{m.conn, db})
		if err != nil {
			return nil, err
		}
		for _, n := range dbs {
			w.gone = append(w.gone, scope{n, every})
		}
		return m.weighAll(ctx, w)
	})
}

// danger is what a command may do.
type danger int

const (
	reading     danger = iota
	changing           // some keys, which its words name
	flushing           // all keys of databases
	swapping           // databases; the same again undoes it
	ofSession          // nothing but the connection
	unknownCall        // nobody knows
)

// kindOf tells how dangerous a command is, and whether it deletes keys.
func kindOf(call [][]byte) (kind danger, deletes bool) {
	cmd, _ := commands.Find(call)
	switch {
	case commands.Known(call).Has(commands.OfConnection):
		return ofSession, false
	case cmd == nil || cmd.Has(commands.OfServer):
		return unknownCall, false
	case cmd.Name == "FLUSHALL" || cmd.Name == "FLUSHDB":
		return flushing, true
	case cmd.Name == "SWAPDB":
		return swapping, false
	case cmd.Flags&commands.Write == 0:
		return reading, false
	}
	return changing, slices.ContainsFunc(cmd.KeysOf(call), func(r commands.KeyRef) bool { return r.Access&7 == commands.RM })
}

// answered is the reply to a command that was typed.
type answered struct {
	call  [][]byte
	reply resp.Value
}

// show runs a command that reads, and shows its reply.
func (m *Model) show(call [][]byte) tea.Cmd {
	db := m.db
	if strings.EqualFold(string(call[0]), "SELECT") {
		m.notice = "Press d to go to another database."
		return nil
	}
	return m.start(answering, func(ctx context.Context) (tea.Msg, error) {
		values, err := m.conn.do(ctx, db, call)
		if err != nil {
			return nil, err
		}
		return answered{call, values[0]}, nil
	})
}

// answers shows a reply: a short one in the status line, others on a page.
func (m *Model) answers(a answered) {
	const longest = 1 << 20
	text := resp.AppendTyped(nil, a.reply, true)
	cut := len(text) > longest
	lines := splitLines(string(text[:min(len(text), longest)]))
	if len(lines) == 1 && len(lines[0]) < m.width-20 {
		m.notice = callText(a.call, m.width/2) + " → " + lines[0]
		return
	}
	for i := range lines {
		lines[i] = " " + textLine([]byte(lines[i]))
	}
	if cut {
		lines = append(lines, m.styles.dim.Render(" … and more"))
	}
	m.overlay = &page{title: callText(a.call, 60), lines: lines}
}

// showLog lists the commands that were sent, the last one first.
func (m *Model) showLog() tea.Cmd {
	entries := m.conn.log.entries()
	p := &picker{title: "Commands sent, the last one first", takes: "show its SQL", choose: func(m *Model, value string) tea.Cmd {
		return m.explain(entries[atoi64(value)].call)
	}}
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		note := decimal(e.took) + " ms"
		if e.bad {
			note = "error  " + note
		}
		p.items = append(p.items, item{label: callText(e.call, 150), note: note, value: decimal(int64(i))})
	}
	if len(p.items) == 0 {
		m.notice = "No command was sent yet."
		return nil
	}
	m.overlay = p
	return nil
}

// explain shows the SQL that a command is.
func (m *Model) explain(call [][]byte) tea.Cmd {
	return m.showSQL(change{calls: [][][]byte{call}}, nil)
}

// sqlKey shows the SQL of what is to be confirmed or sent.
const sqlKey = "ctrl+x"

var sqlHint = [2]string{"^X", "SQL"}

// showSQL shows the SQL that a change will run; behind it stands the overlay that
// it was asked from.
func (m *Model) showSQL(c change, behind overlay) tea.Cmd {
	switch {
	case m.options.Explain == nil:
		m.notice = "Only a file has SQL to show."
		return nil
	case len(c.calls) == 0:
		m.notice = "There is nothing to run yet."
		return nil
	}
	var lines []string
	for i, call := range c.calls[:min(len(c.calls), mostExplained)] {
		if i > 0 {
			lines = append(lines, "")
		}
		if len(c.calls) > 1 {
			lines = append(lines, m.styles.accent.Render(" "+callText(call, 200)))
		}
		for _, line := range splitLines(m.options.Explain(m.db, call)) {
			lines = append(lines, " "+textLine([]byte(line)))
		}
	}
	if more := len(c.calls) - mostExplained; more > 0 {
		lines = append(lines, "", m.styles.dim.Render(" … and "+counted(int64(more), "command", "commands")+" more"))
	}
	m.overlay = &page{title: callsText(c.calls, 60), laid: wrapped(lines...), behind: behind}
	return nil
}

// mostExplained is how many commands of a change are shown as SQL.
const mostExplained = 20

// callsText is the first of some commands, and how many follow.
func callsText(calls [][][]byte, width int) string {
	if len(calls) == 1 {
		return callText(calls[0], width)
	}
	more := ", and " + decimal(int64(len(calls)-1)) + " more"
	return callText(calls[0], width-len(more)) + more
}
