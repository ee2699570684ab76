package ui

import (
	"math"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/keyspace/display"
)

// Page is a dialog that shows text.
type Page struct {
	Title  string
	Lines  []string                         // styled
	Layout func(width, height int) []string // computes the lines for a size of the box; nil: Lines is fixed
	top    int
	rows   int    // rows on the screen
	Parent Dialog // the dialog to show again when it closes, or nil
}

// Press implements Dialog.
func (p *Page) Press(b *PaneContext, k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "down", "j":
		p.top++
	case "up", "k":
		p.top--
	case "pgdown", " ", "ctrl+f", "ctrl+d":
		p.top += max(p.rows-1, 1)
	case "pgup", "ctrl+b", "ctrl+u":
		p.top -= max(p.rows-1, 1)
	case "home", "g":
		p.top = 0
	case "end", "G":
		p.top = math.MaxInt / 2
	default:
		b.Dialog = p.Parent
	}
	return nil
}

// View implements Dialog.
func (p *Page) View(b *PaneContext, width, height int) []string {
	p.rows = max(height-1, 1)
	if p.Layout != nil {
		p.Lines = p.Layout(width, p.rows)
	}
	p.top = max(min(p.top, len(p.Lines)-p.rows), 0)
	title := " " + p.Title
	if len(p.Lines) > p.rows {
		title = display.Truncate(title, width-13) + b.Styles.Dim.Render("  ↑↓ for more")
	}
	lines := []string{b.Styles.Title.Render(display.Truncate(title, width))}
	for _, line := range p.Lines[p.top:min(p.top+p.rows, len(p.Lines))] {
		lines = append(lines, display.Truncate(line+" ", width))
	}
	return lines
}

// Wrapped returns a layout that wraps long lines with an indent.
func Wrapped(lines ...string) func(width, height int) []string {
	return func(width, _ int) (out []string) {
		for _, line := range lines {
			for i, part := range strings.Split(ansi.Wrap(line, width-7, ""), "\n") {
				if i > 0 {
					part = "     " + strings.TrimLeft(part, " ")
				}
				out = append(out, part)
			}
		}
		return out
	}
}

// Footer implements Dialog.
func (*Page) Footer() [][2]string {
	return [][2]string{{"↑↓", "scroll"}, {"esc", "close"}}
}

// TakesText implements Dialog.
func (*Page) TakesText() bool { return false }
