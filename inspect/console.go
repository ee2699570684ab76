package inspect

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/resp"
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
	c := change{title: callText(call, 40), calls: [][][]byte{call}, shows: true}
	switch kindOf(call) {
	case reading:
		return m.show(call)
	case changing:
		if m.locked() {
			return nil
		}
		return m.write(c)
	case sweeping:
		c.final = true
		return m.confirm(confirmation{title: "Run " + callText(call, 40) + "?", notes: []string{"This cannot be undone."}, change: c, always: true})
	}
	c.final = true
	return m.confirm(confirmation{title: "Run " + callText(call, 40) + "?", notes: []string{"What it does is not known here; it cannot be undone."}, change: c, always: true})
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
	p := &picker{title: "Commands that were sent, the last one first", takes: "show its SQL", choose: func(m *Model, value string) tea.Cmd {
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
	if m.options.Explain == nil {
		m.notice = "Only a file has SQL to show."
		return nil
	}
	lines := splitLines(m.options.Explain(m.db, call))
	for i := range lines {
		lines[i] = " " + textLine([]byte(lines[i]))
	}
	m.overlay = &page{title: callText(call, 60), lines: lines}
	return nil
}
