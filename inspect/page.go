package inspect

import (
	"math"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// page is an overlay of text to read.
type page struct {
	title  string
	lines  []string                         // styled
	laid   func(width, height int) []string // lays the lines out for a size of the box; nil: they are as they are
	top    int
	rows   int                                      // on the screen
	extra  func(*Model, tea.KeyMsg) (tea.Cmd, bool) // what other keys do; nil: nothing
	hints  [][2]string                              // of the other keys
	behind overlay                                  // what is there again when it closes; nil for nothing
}

func (p *page) press(m *Model, k tea.KeyMsg) tea.Cmd {
	if p.extra != nil {
		if cmd, done := p.extra(m, k); done {
			return cmd
		}
	}
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
		m.overlay = p.behind
	}
	return nil
}

func (p *page) view(m *Model, width, height int) []string {
	p.rows = max(height-1, 1)
	if p.laid != nil {
		p.lines = p.laid(width, p.rows)
	}
	p.top = max(min(p.top, len(p.lines)-p.rows), 0)
	title := " " + p.title
	if len(p.lines) > p.rows {
		title = truncate(title, width-13) + m.styles.dim.Render("  ↑↓ for more")
	}
	lines := []string{m.styles.title.Render(truncate(title, width))}
	for _, line := range p.lines[p.top:min(p.top+p.rows, len(p.lines))] {
		lines = append(lines, truncate(line+" ", width))
	}
	return lines
}

// wrapped lays lines out so that one that is too long goes on below, set in.
func wrapped(lines ...string) func(width, height int) []string {
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

func (p *page) footer() [][2]string {
	return append(p.hints[:len(p.hints):len(p.hints)], [2]string{"↑↓", "scroll"}, [2]string{"esc", "close"})
}
