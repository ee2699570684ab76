package screen

import (
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/keyspace/display"
)

// Prompt is one line of text being edited.
type Prompt struct {
	Text   []rune
	cursor int // the index of the rune after the cursor
}

// NewPrompt returns a prompt with the cursor after text.
func NewPrompt(text string) *Prompt {
	p := &Prompt{Text: []rune(text)}
	p.cursor = len(p.Text)
	return p
}

func (p *Prompt) String() string { return string(p.Text) }

// Head returns the text before the cursor.
func (p *Prompt) Head() string { return string(p.Text[:p.cursor]) }

// Put replaces the text between byte from of the head and the cursor.
func (p *Prompt) Put(from int, text string) {
	head := p.Head()
	before := append([]rune(head[:min(from, len(head))]), []rune(text)...)
	p.Text = append(before, p.Text[p.cursor:]...)
	p.cursor = len(before)
}

// Key handles an editing key and reports whether the text changed.
func (p *Prompt) Key(k tea.KeyMsg) (changed bool) {
	switch k.String() {
	case "left", "ctrl+b":
		p.cursor = max(p.cursor-1, 0)
	case "right", "ctrl+f":
		p.cursor = min(p.cursor+1, len(p.Text))
	case "home", "ctrl+a":
		p.cursor = 0
	case "end", "ctrl+e":
		p.cursor = len(p.Text)
	case "backspace", "ctrl+h":
		return p.erase(p.cursor-1, p.cursor)
	case "delete", "ctrl+d":
		return p.erase(p.cursor, p.cursor+1)
	case "ctrl+u":
		return p.erase(0, p.cursor)
	case "ctrl+k":
		return p.erase(p.cursor, len(p.Text))
	case "ctrl+w", "alt+backspace":
		return p.erase(p.wordStart(), p.cursor)
	default:
		return p.insert(k)
	}
	return false
}

// Joiners connect characters, in emoji and in scripts such as Persian.
const (
	zeroWidthJoiner    = '\u200d'
	zeroWidthNonJoiner = '\u200c'
)

// insert inserts typed or pasted text without its unprintable characters.
func (p *Prompt) insert(k tea.KeyMsg) bool {
	if k.Alt || k.Type != tea.KeyRunes && k.Type != tea.KeySpace {
		return false
	}
	var letters []rune
	for _, r := range k.Runes {
		if unicode.IsGraphic(r) || r == zeroWidthJoiner || r == zeroWidthNonJoiner {
			letters = append(letters, r)
		}
	}
	tail := append(letters, p.Text[p.cursor:]...)
	p.Text = append(p.Text[:p.cursor:p.cursor], tail...)
	p.cursor += len(letters)
	return len(letters) > 0
}

func (p *Prompt) erase(from, to int) bool {
	from, to = max(from, 0), min(to, len(p.Text))
	if from >= to {
		return false
	}
	p.Text = append(p.Text[:from:from], p.Text[to:]...)
	p.cursor = from
	return true
}

// wordStart returns the start of the word before the cursor.
func (p *Prompt) wordStart() int {
	i := p.cursor
	for i > 0 && p.Text[i-1] == ' ' {
		i--
	}
	for i > 0 && p.Text[i-1] != ' ' {
		i--
	}
	return i
}

// window returns the part of the text around the cursor that fits in width cells: before and after the
// cursor.
func (p *Prompt) window(width int) (before, after string) {
	width = max(width, 0)
	before = TruncateLeft(string(p.Text[:p.cursor]), width*3/4)
	return before, display.Truncate(string(p.Text[p.cursor:]), max(width-len([]rune(before)), 0))
}

// Prompt renders a prompt with its cursor.
func (s Styles) Prompt(p *Prompt, width int) string {
	before, after := p.window(width - 1)
	return before + s.Accent.Render("▏") + after
}
