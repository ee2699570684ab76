package inspect

import (
	"io"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// Bubbletea's renderer looks for a new frame many times a second, even if nothing happens. So Run sets
// it to its lowest rate and gives it a constant frame, which frames keeps from the terminal. Instead,
// frames draws each new view at once.

// constantFrame keeps bubbletea's renderer idle: it holds a private character that no view contains.
const constantFrame = "\U000FFFFD"

// terminal has the methods that bubbletea expects of a terminal.
type terminal interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// frames draws the views of a program on a terminal.
type frames struct {
	terminal
	lines         []string // on the screen; nil if unknown
	width, height int
}

// Write passes on everything except bubbletea's own frames.
func (f *frames) Write(p []byte) (int, error) {
	if strings.Contains(string(p), constantFrame) {
		return len(p), nil
	}
	return f.terminal.Write(p)
}

// draw writes the lines that differ from the lines on the screen.
func (f *frames) draw(view string) {
	lines := strings.Split(view, "\n")
	var b strings.Builder
	for i, line := range lines {
		if f.lines != nil && i < len(f.lines) && f.lines[i] == line {
			continue
		}
		b.WriteString("\x1b[" + strconv.Itoa(i+1) + ";1H" + line)
		if ansi.StringWidth(line) < f.width { // else the cursor is still on the last character
			b.WriteString(ansi.EraseLineRight)
		}
	}
	if (f.lines == nil || len(f.lines) > len(lines)) && len(lines) < f.height { // a terminal has no line below the last
		b.WriteString("\x1b[" + strconv.Itoa(len(lines)+1) + ";1H" + ansi.EraseScreenBelow)
	}
	f.lines = lines
	if b.Len() > 0 {
		io.WriteString(f.terminal, b.String())
	}
}

// framed lets frames draw the views of a program.
type framed struct {
	tea.Model
	frames *frames
}

// Update implements tea.Model. A new size, which also follows an editor or a suspension, means that the
// contents of the screen are unknown.
func (p framed) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		p.frames.lines, p.frames.width, p.frames.height = nil, size.Width, size.Height
	}
	var cmd tea.Cmd
	p.Model, cmd = p.Model.Update(msg)
	return p, cmd
}

// View implements tea.Model.
func (p framed) View() string {
	p.frames.draw(p.Model.View())
	return constantFrame
}
