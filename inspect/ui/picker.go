package ui

import (
	"cmp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Dialog is a box over the screen that receives the key presses.
type Dialog interface {
	Press(*PaneContext, tea.KeyMsg) tea.Cmd
	View(b *PaneContext, width, height int) []string // its inner lines, within width and height
	Footer() [][2]string                             // keys and their actions
	TakesText() bool                                 // keys are text, not commands
}

// Item is a choice in a picker.
type Item struct {
	Label string
	Note  string // shown beside the label
	Value string
	Also  string // further words that a Finder matches
}

// Picker is a dialog that lets the user choose one of a few items, by moving or typing.
type Picker struct {
	Title       string
	Purpose     job.Purpose // the job that fills the notes
	Items       []Item
	At          int
	typed       string
	ChooseLabel string // the footer's word for choosing; "take" if empty
	Top         int    // the first item on the screen
	Choose      func(value string) tea.Cmd
	Cancelled   func() // called on esc, after closing; may be nil
}

// Press implements Dialog.
func (p *Picker) Press(b *PaneContext, k tea.KeyMsg) tea.Cmd {
	moves := k.String() == "j" || k.String() == "k"
	if k.Type == tea.KeyRunes && !moves && (p.seek(p.typed+string(k.Runes)) || p.seek(string(k.Runes))) {
		return nil
	}
	p.typed = ""
	switch k.String() {
	case "up", "k", "shift+tab":
		p.At = (p.At + len(p.Items) - 1) % len(p.Items)
	case "down", "j", "tab":
		p.At = (p.At + 1) % len(p.Items)
	case "home", "pgup":
		p.At = 0
	case "end", "pgdown":
		p.At = len(p.Items) - 1
	case "enter":
		return p.Take(b)
	case "esc", "q":
		b.Dialog = nil
		b.Cancel(p.Purpose)
		if p.Cancelled != nil {
			p.Cancelled()
		}
	}
	return nil
}

// Take closes p and chooses the selected item.
func (p *Picker) Take(b *PaneContext) tea.Cmd {
	b.Dialog = nil
	return p.Choose(p.Items[p.At].Value)
}

// Footer implements Dialog.
func (p *Picker) Footer() [][2]string {
	return [][2]string{{"↑↓", "choose"}, {"⏎", cmp.Or(p.ChooseLabel, "take")}, {"esc", "close"}}
}

// seek selects the first item that starts with typed.
func (p *Picker) seek(typed string) bool {
	for i, it := range p.Items {
		if strings.HasPrefix(it.Label, typed) {
			p.At, p.typed = i, typed
			return true
		}
	}
	return false
}

// View implements Dialog.
func (p *Picker) View(b *PaneContext, width, height int) []string {
	labels, notes := 0, 0
	for _, it := range p.Items {
		labels = max(labels, ansi.StringWidth(it.Label))
		notes = max(notes, ansi.StringWidth(it.Note))
	}
	inner := min(max(labels+notes+4, ansi.StringWidth(p.Title)+2), width)
	lines := []string{b.Styles.Title.Render(display.Fit(" "+p.Title, inner))}
	rows := max(height-1, 1)
	p.Top = max(min(p.At-rows/2, len(p.Items)-rows), 0)
	for i := p.Top; i < min(p.Top+rows, len(p.Items)); i++ {
		it := p.Items[i]
		look := b.Styles.Row(i == p.At, true)
		mark := look.Mark(i == p.At)
		lines = append(lines, mark+look.Text.Render(display.Fit(it.Label, inner-notes-3))+look.Dim.Render(display.FitRight(it.Note, notes)+" "))
	}
	return lines
}

// TakesText implements Dialog.
func (*Picker) TakesText() bool { return false }
