package ui

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Finder is a dialog that lets the user find one of many items by typing.
type Finder struct {
	Title       string
	Items       []Item
	ChooseLabel string                          // the footer's word for choosing; "take" if empty
	Choose      func(value string) tea.Cmd      // handles the chosen item
	ChooseText  func(text string) tea.Cmd       // handles the typed text if no item matches; nil: it cannot be chosen
	Keys        map[string]func(i Item) tea.Cmd // further keys, which act on the selected item
	Hints       [][2]string                     // for the footer: the hints of Keys
	Parent      Dialog                          // the dialog to show again when it closes, or nil

	prompt *screen.Prompt
	found  []foundItem
	at     int // an index in found
	top    int // the first item on the screen
}

// foundItem holds a matching item and the matching runes of its label.
type foundItem struct {
	Item
	score int
	runes []int
}

// finderHead counts the lines above the items.
const finderHead = 2

// Search finds the items that match text, the best first. An empty text matches all items in order.
func (f *Finder) Search(text string) {
	f.prompt, f.found, f.at = screen.NewPrompt(text), nil, 0
	f.search()
}

func (f *Finder) search() {
	f.found, f.at = f.found[:0], 0
	for _, it := range f.Items {
		if score, runes, ok := match(it, f.prompt.String()); ok {
			f.found = append(f.found, foundItem{it, score, runes})
		}
	}
	smallsort.Sort(f.found, func(a, b foundItem) int { return cmp.Compare(a.score, b.score) })
}

// Remove removes an item.
func (f *Finder) Remove(it Item) {
	at := f.at
	f.Items = slices.DeleteFunc(f.Items, func(each Item) bool { return each.Value == it.Value })
	f.search()
	f.at = max(min(at, len(f.found)-1), 0)
}

// Press implements Dialog.
func (f *Finder) Press(b *PaneContext, k tea.KeyMsg) tea.Cmd {
	if does := f.Keys[k.String()]; does != nil && len(f.found) > 0 {
		return does(f.found[f.at].Item)
	}
	n := len(f.found)
	switch k.String() {
	case "up", "ctrl+p", "shift+tab":
		f.at = (f.at + n - 1) % max(n, 1)
	case "down", "ctrl+n", "tab":
		f.at = (f.at + 1) % max(n, 1)
	case "pgup":
		f.at = 0
	case "pgdown":
		f.at = max(n-1, 0)
	case "enter":
		return f.Take(b, f.at)
	case "esc":
		b.Dialog = f.Parent
	case "backspace":
		if len(f.prompt.Text) == 0 {
			b.Dialog = f.Parent
			return nil
		}
		fallthrough
	default:
		if f.prompt.Key(k) {
			f.search()
		}
	}
	return nil
}

// Selected returns the value of the selected item, or "" if no item matches.
func (f *Finder) Selected() string {
	if f.at >= len(f.found) {
		return ""
	}
	return f.found[f.at].Value
}

// Take closes f and chooses item i of the found items.
func (f *Finder) Take(b *PaneContext, i int) tea.Cmd {
	switch text := strings.TrimSpace(f.prompt.String()); {
	case i < len(f.found):
		b.Dialog = nil
		return f.Choose(f.found[i].Value)
	case f.ChooseText != nil && text != "":
		b.Dialog = nil
		return f.ChooseText(text)
	}
	return nil
}

// Line returns the index of the found item on line y of the box, from 0; -1 for none.
func (f *Finder) Line(y int) int {
	if i := f.top + y - finderHead; y >= finderHead && i < len(f.found) {
		return i
	}
	return -1
}

// View implements Dialog.
func (f *Finder) View(b *PaneContext, width, height int) []string {
	labels, notes := 0, 0
	for _, it := range f.Items {
		labels = max(labels, ansi.StringWidth(it.Label))
		notes = max(notes, ansi.StringWidth(it.Note))
	}
	inner := min(max(labels+notes+5, ansi.StringWidth(f.Title)+2, 40), width)
	notes = min(notes, max(inner-labels-5, inner/3))
	lines := []string{
		b.Styles.Title.Render(display.Fit(" "+f.Title, inner)),
		display.Fit(" "+b.Styles.Key.Render("> ")+b.Styles.Prompt(f.prompt, inner-4), inner),
	}
	rows := max(min(height-finderHead, max(len(f.Items), 1)), 1)
	f.top = max(min(f.at-rows/2, len(f.found)-rows), 0)
	for i := f.top; i < f.top+rows; i++ {
		switch {
		case i < len(f.found):
			lines = append(lines, f.found[i].line(b, i == f.at, inner, notes))
		case i == 0:
			lines = append(lines, b.Styles.Dim.Render(display.Fit("  "+f.none(), inner)))
		default:
			lines = append(lines, display.Spaces(inner))
		}
	}
	return lines
}

// none returns the message for no match.
func (f *Finder) none() string {
	if f.ChooseText != nil {
		return "⏎ opens the typed target"
	}
	return "No match."
}

// line draws an item with the typed letters highlighted.
func (it foundItem) line(b *PaneContext, selected bool, width, notes int) string {
	look := b.Styles.Row(selected, true)
	label, note := width-notes-4, display.FitRight(it.Note, notes)
	var text strings.Builder
	letters := []rune(display.Fit(it.Label, label))
	for from, to := 0, 0; from < len(letters); from = to {
		typed := slices.Contains(it.runes, from)
		for to = from; to < len(letters) && slices.Contains(it.runes, to) == typed; {
			to++
		}
		style := look.Text
		if typed {
			style = look.On(b.Styles.Key)
		}
		text.WriteString(style.Render(string(letters[from:to])))
	}
	return look.Mark(selected) + text.String() + look.Dim.Render(" "+note+" ")
}

// Footer implements Dialog.
func (f *Finder) Footer() [][2]string {
	hints := [][2]string{{"↑↓", "choose"}, {"⏎", cmp.Or(f.ChooseLabel, "take")}}
	return append(append(hints, f.Hints...), [2]string{"esc", "close"})
}

// TakesText implements Dialog.
func (*Finder) TakesText() bool { return true }
