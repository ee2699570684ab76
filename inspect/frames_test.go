package inspect

import (
	"bytes"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// fakeTerminal records what a program writes.
type fakeTerminal struct{ bytes.Buffer }

func (*fakeTerminal) Close() error { return nil }
func (*fakeTerminal) Fd() uintptr  { return 0 }

// view is a Model that shows a text.
type view struct{ text string }

func (v *view) Init() tea.Cmd                       { return nil }
func (v *view) Update(tea.Msg) (tea.Model, tea.Cmd) { return v, nil }
func (v *view) View() string                        { return v.text }

// TestFrames checks that only changed lines are drawn, everything after a new size, and bubbletea's own
// frames never.
func TestFrames(t *testing.T) {
	var out fakeTerminal
	v := &view{}
	p := framed{v, &frames{terminal: &out}}
	draws := func(text, want string) {
		t.Helper()
		v.text = text
		out.Reset()
		if frame := p.View(); frame != constantFrame {
			t.Errorf("the frame is %q", frame)
		}
		if got := out.String(); got != want {
			t.Errorf("%q draws %q, want %q", text, got, want)
		}
	}
	p.Update(tea.WindowSizeMsg{Width: 3, Height: 3})
	draws("a\nbcd", "\x1b[1;1Ha\x1b[K\x1b[2;1Hbcd\x1b[3;1H\x1b[J")
	draws("a\nbcd", "")
	draws("a\nb", "\x1b[2;1Hb\x1b[K")
	draws("a", "\x1b[2;1H\x1b[J")
	p.Update(tea.WindowSizeMsg{Width: 9, Height: 3})
	draws("a", "\x1b[1;1Ha\x1b[K\x1b[2;1H\x1b[J")
	draws("", "\x1b[1;1H\x1b[K")
	p.Update(tea.WindowSizeMsg{Width: 1, Height: 2})
	draws("a\nb", "\x1b[1;1Ha\x1b[2;1Hb") // nothing is below the last line

	out.Reset()
	p.frames.Write([]byte("\x1b[H" + constantFrame + "\x1b[K"))
	p.frames.Write([]byte("\x1b[?1049h"))
	if got := out.String(); got != "\x1b[?1049h" {
		t.Errorf("%q passed", got)
	}
}
