package inspect

import (
	"fmt"
	"io"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestFullList scans more keys than a list keeps; + lists the next ones.
func TestFullList(t *testing.T) {
	race.Skip(t)
	f := newFake()
	s := browse(t, f, 100, 24)
	f.plain(3000)
	s.model.keys.MaxScanned = 1000
	s.press("0", "3", "enter", "0", "0", "enter", "`")
	s.shows("key:00000", "1 of 1,500", "list full, + shows the next")
	s.press("+")
	s.shows("key:01500", "1 of 1,500", "after the first 1,500")
	s.hides("full")
	s.press("end")
	s.shows("key:02999")
	s.press("R")
	s.shows("key:01499", "full")
	s.press("home", "/")
	s.typing("2000")
	s.press("enter")
	s.shows("key:02000", "1 of 1 found")
}

// TestFirstScreenOfAScan checks that the first row is the first key, which a later page returned,
// unless the user pressed a key: then the cursor stays.
func TestFirstScreenOfAScan(t *testing.T) {
	for _, touched := range []bool{false, true} {
		f := newFake()
		for i := range 2000 {
			f.add(fakeValue{key: fmt.Sprintf("key:%05d", 1999-i), kind: "string", str: "v"})
		}
		s := &session{t: t, fake: f}
		s.model = New(Options{Client: f, Journal: t.TempDir(), Now: func() int64 { return f.clock.now }}, lipgloss.NewRenderer(io.Discard))
		s.model.After = func(time.Duration, tea.Msg) tea.Cmd { return nil }
		h := hang(s)
		close(f.gate)
		h.start(s.model.Init())
		h.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		h.press("`")
		want := "key:00000"
		for h.n > 0 {
			if touched && s.model.keys.Loaded() > 0 && want == "key:00000" {
				want = s.model.keys.SelectedName()
				h.press("j")
				h.press("k")
			}
			h.one()
		}
		if got := s.model.keys.SelectedName(); got != want {
			t.Errorf("touched %v: at %s, want %s", touched, got, want)
		}
	}
}
