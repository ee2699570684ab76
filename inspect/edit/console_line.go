package edit

import (
	"cmp"
	"context"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/repl"
)

// CommandLine opens the command line.
func (r *Pane) CommandLine() tea.Cmd {
	r.Dialog = &console{r: r, prompt: screen.NewPrompt(""), at: len(r.history), assistant: r.assistant()}
	return nil
}

// assistant returns the completion and hints for the command line, the same as in meowdis repl.
func (r *Pane) assistant() *repl.Assistant {
	t := repl.Target{Session: r.Conn.In(r.DB)}
	if r.Index != nil {
		t.Keys = keyIndex{r.Index, r.DB}
	}
	return repl.NewAssistant(t)
}

// keyIndex adapts the index of a database's keys to completion.
type keyIndex struct {
	client.Index
	db int
}

func (x keyIndex) FirstKeys(ctx context.Context, prefix, from []byte, kind string, look int) (found resp.Value, next []byte, err error) {
	var after catalog.Mark
	if n := len(from) - 1; n >= len(prefix) { // Page begins after its mark
		after = catalog.Mark{Set: true, Name: string(from[:n])}
		if from[n] > 0 {
			after.Name += string(append([]byte{from[n] - 1}, '\xff'))
		}
	}
	p, err := x.Page(ctx, catalog.Query{DB: x.db, Prefix: string(prefix)}, after, false, look)
	found = resp.EmptyMap
	for _, e := range p.Entries {
		next = append([]byte(e.Name), 0)
		if kind == "" || kind == e.Facts.Type {
			found.Elems = append(found.Elems, resp.MakeString(e.Name), resp.MakeString(e.Facts.Type))
		}
	}
	if p.End {
		next = nil
	}
	return found, next, err
}

func (x keyIndex) KeysOfType(ctx context.Context, prefix []byte, kind string, look int) (found resp.Value, all bool, err error) {
	p, err := x.Page(ctx, catalog.Query{DB: x.db, Prefix: string(prefix), Type: kind}, catalog.Mark{}, false, look)
	found = resp.EmptyMap
	for _, e := range p.Entries {
		found.Elems = append(found.Elems, resp.MakeString(e.Name), resp.MakeString(e.Facts.Type))
	}
	return found, p.End, err
}

// console holds the command line, its history and its completion.
type console struct {
	r         *Pane
	prompt    *screen.Prompt
	at        int // index in the history
	assistant *repl.Assistant

	found  repl.Completion
	head   string // the text before the cursor when found was computed
	listed bool   // the candidates are visible
	chosen int    // index of the selected candidate; -1 for none
	note   string // why the list is empty
}

// completedMsg carries the result of a completion.
type completedMsg struct {
	head      string
	found     repl.Completion
	requested bool // the person pressed TAB
}

// Press implements ui.Dialog.
func (c *console) Press(b *ui.PaneContext, k tea.KeyMsg) tea.Cmd {
	c.note = ""
	switch key := k.String(); {
	case key == "tab" && !c.listed:
		return c.complete(true)
	case c.listed && c.pressListed(key):
	case key == "esc":
		b.Cancel(job.Completing)
		b.Dialog = nil
	case key == "backspace" && len(c.prompt.Text) == 0:
		b.Dialog = nil
	case key == "up":
		c.showHistory(-1)
	case key == "down":
		c.showHistory(1)
	case key == "enter":
		b.Cancel(job.Completing)
		b.Dialog = nil
		return c.r.runLine(c.prompt.String())
	default:
		changed := c.prompt.Key(k)
		if c.listed && changed {
			c.chosen = -1
			return c.complete(false)
		}
		c.listed = false
	}
	return nil
}

// pressListed handles a key while candidates are listed. It returns false for a key that
// does the same as without them.
func (c *console) pressListed(key string) bool {
	n := len(c.found.Items)
	switch key {
	case "tab", "down":
		c.choose((c.chosen + 1) % n)
	case "shift+tab", "up":
		c.choose((max(c.chosen, 0) + n - 1) % n)
	case "enter":
		if c.chosen < 0 {
			c.listed = false
			return false
		}
		c.put(c.found.Items[c.chosen].Text + " ")
		c.listed = false
	case "esc":
		c.prompt.Put(c.found.From, c.head[c.found.From:])
		c.listed = false
	default:
		return false
	}
	return true
}

// choose inserts a candidate into the line.
func (c *console) choose(n int) {
	c.chosen = n
	c.put(c.found.Items[n].Text)
}

func (c *console) put(text string) { c.prompt.Put(c.found.From, text) }

// complete looks up candidates for the text before the cursor.
func (c *console) complete(lists bool) tea.Cmd {
	assistant, head := c.assistant, c.prompt.Head()
	return c.r.Start(job.Completing, func(ctx context.Context) (tea.Msg, error) {
		return completedMsg{head, assistant.Complete(ctx, head), lists}, nil
	})
}

// onCompleted inserts the only candidate, or the common prefix, and lists the candidates.
func (r *Pane) onCompleted(m completedMsg) {
	c, open := r.Dialog.(*console)
	if !open || c.prompt.Head() != m.head {
		return
	}
	c.found, c.head, c.chosen, c.listed = m.found, m.head, -1, len(m.found.Items) > 0
	if !c.listed {
		if m.requested {
			c.note = cmp.Or(m.found.Why, "nothing to complete here")
		}
		return
	}
	if sure := m.found.Sure(); m.requested && sure != "" {
		c.put(sure)
		c.head = c.prompt.Head()
		c.listed = len(m.found.Items) > 1
	}
}

func (c *console) showHistory(step int) {
	if at := c.at + step; at >= 0 && at < len(c.r.history) {
		c.at = at
		c.prompt = screen.NewPrompt(c.r.history[at])
	}
}

// maxListed limits the visible candidates.
const maxListed = 8

// View implements ui.Dialog.
func (c *console) View(b *ui.PaneContext, width, height int) []string {
	inner := min(width, 76)
	line := " " + b.Styles.Key.Render(": ") + b.Styles.Prompt(c.prompt, inner-4)
	lines := []string{display.Fit(line+c.hint(b, inner-ansi.StringWidth(line)-1), inner)}
	if c.note != "" && height > 1 {
		return append(lines, b.Styles.Dim.Render(display.Fit("   "+display.Whole(c.note), inner)))
	}
	if !c.listed {
		return lines
	}
	items := c.found.Items
	rows, labels := max(min(maxListed, len(items), height-2), 1), 0
	for _, item := range items {
		labels = max(labels, ansi.StringWidth(display.Whole(item.Text)))
	}
	labels = min(labels, max(inner/2, 8))
	top := max(min(max(c.chosen, 0)-rows/2, len(items)-rows), 0)
	for i := top; i < top+rows; i++ {
		look := b.Styles.Row(i == c.chosen, true)
		text := display.Fit(display.Text(items[i].Text, labels), labels+2)
		lines = append(lines, " "+look.Mark(i == c.chosen)+look.Text.Render(text)+look.Dim.Render(display.Fit(items[i].About, inner-labels-5)))
	}
	if len(items) > rows || c.found.More {
		count := display.Grouped(int64(len(items))) + " in total"
		if c.found.More {
			count = display.Grouped(int64(len(items))) + " or more"
		}
		lines = append(lines, b.Styles.Dim.Render(display.Fit("   "+count, inner)))
	}
	return lines
}

// hint returns the possible continuation of the text, or its error.
func (c *console) hint(b *ui.PaneContext, columns int) string {
	const least = 6
	text := c.prompt.String()
	if columns < least || text == "" || c.prompt.Head() != text {
		return ""
	}
	hint, wrong := c.assistant.Hint(text, columns-1)
	style := b.Styles.Dim
	if wrong {
		style = b.Styles.Failure
	}
	return style.Render(display.Truncate(" "+hint, columns))
}

// Footer implements ui.Dialog.
func (c *console) Footer() [][2]string {
	if c.listed {
		return [][2]string{{"tab", "next"}, {"⏎", "take"}, {"esc", "back"}}
	}
	return [][2]string{{"⏎", "run"}, {"tab", "complete"}, {"↑↓", "history"}, {"esc", "cancel"}}
}

// TakesText implements ui.Dialog.
func (*console) TakesText() bool { return true }
