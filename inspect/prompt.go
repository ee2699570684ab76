package inspect

import (
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
)

// prompt is one line of text under edit.
type prompt struct {
	text []rune
	at   int // the cursor: the rune it stands before
}

func newPrompt(text string) *prompt {
	p := &prompt{text: []rune(text)}
	p.at = len(p.text)
	return p
}

func (p *prompt) String() string { return string(p.text) }

// key edits the line, and reports whether that changed it.
func (p *prompt) key(k tea.KeyMsg) (changed bool) {
	switch k.String() {
	case "left", "ctrl+b":
		p.at = max(p.at-1, 0)
	case "right", "ctrl+f":
		p.at = min(p.at+1, len(p.text))
	case "home", "ctrl+a":
		p.at = 0
	case "end", "ctrl+e":
		p.at = len(p.text)
	case "backspace", "ctrl+h":
		return p.erase(p.at-1, p.at)
	case "delete", "ctrl+d":
		return p.erase(p.at, p.at+1)
	case "ctrl+u":
		return p.erase(0, p.at)
	case "ctrl+k":
		return p.erase(p.at, len(p.text))
	case "ctrl+w", "alt+backspace":
		return p.erase(p.word(), p.at)
	default:
		return p.insert(k)
	}
	return false
}

// The joiners hold letters together, of emoji and of scripts such as Persian.
const (
	zeroWidthJoiner    = '\u200d'
	zeroWidthNonJoiner = '\u200c'
)

// insert takes what was typed or pasted, without what is no letter.
func (p *prompt) insert(k tea.KeyMsg) bool {
	if k.Alt || k.Type != tea.KeyRunes && k.Type != tea.KeySpace {
		return false
	}
	var letters []rune
	for _, r := range k.Runes {
		if unicode.IsGraphic(r) || r == zeroWidthJoiner || r == zeroWidthNonJoiner {
			letters = append(letters, r)
		}
	}
	tail := append(letters, p.text[p.at:]...)
	p.text = append(p.text[:p.at:p.at], tail...)
	p.at += len(letters)
	return len(letters) > 0
}

func (p *prompt) erase(from, to int) bool {
	from, to = max(from, 0), min(to, len(p.text))
	if from >= to {
		return false
	}
	p.text = append(p.text[:from:from], p.text[to:]...)
	p.at = from
	return true
}

// word is where the word before the cursor begins.
func (p *prompt) word() int {
	i := p.at
	for i > 0 && p.text[i-1] == ' ' {
		i--
	}
	for i > 0 && p.text[i-1] != ' ' {
		i--
	}
	return i
}

// window is what fits into width cells around the cursor: the text before it,
// and from it on.
func (p *prompt) window(width int) (before, after string) {
	width = max(width, 0)
	before = truncateLeft(string(p.text[:p.at]), width*3/4)
	return before, truncate(string(p.text[p.at:]), max(width-len([]rune(before)), 0))
}
