package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
)

// tabbed drives Tabs as bubbletea does, one message at a time.
type tabbed struct {
	t      *testing.T
	tabs   *Tabs
	clock  *clock
	timers []timer
	ended  bool
	closed []string // the closed targets, and how many changes each keeps

	files  map[string]*file
	before func(name string, calls [][][]byte) // runs another client's commands before a call to a target
}

// inTabs opens targets in tabs; one named "gone" fails to open.
func inTabs(t *testing.T, width, height int, names ...string) *tabbed {
	t.Helper()
	s := &tabbed{t: t, clock: newFake().clock, files: map[string]*file{}}
	var more []Tab
	for _, name := range names[1:] {
		more = append(more, Tab{Label: name, Open: func(context.Context) (Options, error) { return s.options(name) }})
	}
	first, _ := s.options(names[0])
	s.tabs = newTabs(context.Background(), share(first, lipgloss.NewRenderer(io.Discard)), first, nil)
	s.tabs.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		s.timers = append(s.timers, timer{s.clock.now + d.Milliseconds(), msg})
		return nil
	}
	for _, each := range more {
		s.tabs.list = append(s.tabs.list, &tab{Tab: each})
	}
	s.run(s.tabs.Init())
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	s.wait(2 * ui.SettleTime)
	return s
}

// options returns a file with a key named after the target.
func (s *tabbed) options(name string) (Options, error) {
	if name == "gone" {
		return Options{}, errors.New("nobody is there")
	}
	f := newFile(s.t)
	f.fake.clock = s.clock
	f.do("SET in:" + name + " x")
	f.do("SET other:" + name + " y")
	s.files[name] = f
	o := Options{
		Client: f, Target: "/data/" + name, Label: name, Journal: s.t.TempDir(), Now: func() int64 { return s.clock.now },
		Open: func(_ context.Context, spec string) (Options, error) { return s.options(spec) },
		Targets: func() []KnownTarget {
			return []KnownTarget{{Label: "@prod", Note: "https://example.com", Spec: "prod"}}
		},
		Close: func(kept int) error { s.closed = append(s.closed, fmt.Sprintf("%s %d", name, kept)); return nil },
	}
	if f.options != nil {
		f.options(&o)
	}
	meddled := &meddler{Client: f, before: func(calls [][][]byte) {
		if s.before != nil {
			s.before(name, calls)
		}
	}}
	o.Client, o.Unlock = meddled, func(context.Context) (keyspace.Client, error) { return meddled, nil }
	return o, nil
}

func (s *tabbed) send(msg tea.Msg) {
	_, cmd := s.tabs.Update(msg)
	s.run(cmd)
}

func (s *tabbed) run(cmd tea.Cmd) {
	for _, msg := range results(cmd) {
		if _, quits := msg.(tea.QuitMsg); quits {
			s.ended = true
			return
		}
		s.send(msg)
	}
}

func (s *tabbed) wait(d time.Duration) {
	end := s.clock.now + d.Milliseconds()
	for {
		slices.SortStableFunc(s.timers, func(a, b timer) int { return int(a.at - b.at) })
		if len(s.timers) == 0 || s.timers[0].at > end {
			break
		}
		next := s.timers[0]
		s.timers = s.timers[1:]
		s.clock.now = max(s.clock.now, next.at)
		s.send(next.msg)
	}
	s.clock.now = end
}

func (s *tabbed) press(keys ...string) {
	for _, k := range keys {
		if name, ok := strings.CutPrefix(k, "@"); ok && name != "" { // an action of the palette
			s.press("ctrl+p")
			s.typing(name)
			s.press("enter")
			continue
		}
		msg, ok := namedKeys[k]
		if !ok {
			msg = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		}
		s.send(msg)
	}
	s.wait(2 * ui.SettleTime)
}

func (s *tabbed) screen() string {
	s.t.Helper()
	lines := strings.Split(ansi.Strip(s.tabs.View()), "\n")
	if len(lines) > s.tabs.height {
		s.t.Errorf("%d lines on a screen of %d:\n%s", len(lines), s.tabs.height, strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		if ansi.StringWidth(line) > s.tabs.width {
			s.t.Errorf("line %d is too wide: %q", i, line)
		}
	}
	return strings.Join(lines, "\n")
}

func (s *tabbed) shows(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.screen(), text) {
			s.t.Errorf("the screen does not show %q:\n%s", text, s.screen())
		}
	}
}

func (s *tabbed) hides(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if strings.Contains(s.screen(), text) {
			s.t.Errorf("the screen shows %q:\n%s", text, s.screen())
		}
	}
}

func TestTabs(t *testing.T) {
	s := inTabs(t, 80, 24, "a.db", "b.db", "gone")
	s.shows(" 1 a.db ", " 2 b.db ", " 3 ✗ gone ", "/data/a.db", "in:")
	s.press("}")
	s.shows("/data/b.db")
	s.press("G", "{")
	s.shows("/data/a.db", "▌ ▸ in:")
	s.press("2")
	s.shows("/data/b.db", "▌ ▸ other:") // the position is kept
	s.press("9")
	s.shows("/data/b.db")
	s.press("}")
	s.shows("✗ nobody is there", "R try again   ^T open another   ^W close   q quit")
	s.press("R")
	s.shows("✗ nobody is there")
	s.press("}")
	s.shows("/data/a.db")
	s.send(tea.MouseMsg{X: 10, Y: 0, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	s.shows("/data/b.db")
	s.send(tea.MouseMsg{X: 5, Y: 4, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	s.shows("▌ ▾ in:") // below the tab bar

	// Keys typed together go to the tab on the screen.
	s.press("{G")
	s.shows("/data/a.db", "▌ ▸ other:")

	// Further tabs are opened by name or typed target, and closed.
	s.press("ctrl+t")
	s.shows("Open a profile", "@prod", "https://example.com")
	s.press("p", "r", "enter")
	s.shows(" 4 prod ", "/data/prod")
	s.press("ctrl+t", "c.db", "enter")
	s.shows(" 5 c.db ", "/data/c.db")
	s.press("ctrl+w")
	s.shows("/data/prod")
	s.hides("c.db")
	if want := []string{"c.db 0"}; !slices.Equal(s.closed, want) {
		t.Errorf("closed %q, not %q", s.closed, want)
	}
	s.press("3", "ctrl+w", "ctrl+w", "ctrl+w")
	s.shows("/data/a.db")
	s.hides(" 1 a.db ")
	s.press("}")
	s.shows("There is only one tab. Press ^T to open another.")
	s.press("ctrl+w")
	if !s.ended {
		t.Error("closing the last tab does not end the program")
	}
	if err := s.tabs.end(); err != nil || len(s.closed) != 4 {
		t.Errorf("closed %q, %v", s.closed, err)
	}
}

// TestTabsKeepTheirOwn unlocks writing in one tab, which keeps its change for undo.
func TestTabsKeepTheirOwn(t *testing.T) {
	s := inTabs(t, 80, 24, "a.db", "b.db")
	s.press("w", "G", "d", "}")
	s.shows("/data/b.db")
	s.press("{")
	s.shows("Delete other:*") // the question stays open
	s.press("y")
	s.shows("Deleted other:*", "1 ● a.db")
	s.press("}", "G", "d")
	s.shows("The inspector is read-only", "▸ other:")
	s.press("w")
	s.press("d", "n", "{")
	s.shows("WRITING")
	s.hides("▸ other:")
	s.press("u")
	s.shows("Undone: Deleted other:*")
	s.press("d", "y", "ctrl+w")
	s.shows("/data/b.db")
	if err := s.tabs.end(); err != nil || !slices.Equal(s.closed, []string{"a.db 1", "b.db 0"}) {
		t.Errorf("closed %q, %v", s.closed, err)
	}
}

// TestHiddenTabsDoNotLook checks that hidden tabs do not check for changes.
func TestHiddenTabsDoNotLook(t *testing.T) {
	s := inTabs(t, 80, 24, "a.db", "b.db")
	s.press("}")
	a, b := s.tabs.list[0].model, s.tabs.list[1].model
	seen, other := a.lastWatch, b.lastWatch
	if seen.data == 0 {
		t.Fatal("the first tab has not looked at all")
	}
	a.lastWatch, b.lastWatch = watched{}, watched{}
	s.wait(5 * time.Second)
	if a.lastWatch != (watched{}) || b.lastWatch.data != other.data && other.data != 0 {
		t.Errorf("unseen it has seen %+v, on the screen %+v", a.lastWatch, b.lastWatch)
	}
	s.press("{")
	if a.lastWatch.data != seen.data {
		t.Errorf("shown again it has seen %+v, not %+v", a.lastWatch, seen)
	}
}

// TestTabThatDoesNotOpen checks the keys that open another tab and close a tab whose target failed to
// open.
func TestTabThatDoesNotOpen(t *testing.T) {
	race.Skip(t)
	s := inTabs(t, 80, 24, "a.db", "gone", "gone")
	s.press("2", "ctrl+t")
	s.shows("Open a profile", "@prod")
	s.press("p", "r", "enter")
	s.shows("/data/prod")
	s.press("2", "ctrl+w")
	s.hides(" 4 ")
	s.shows("✗ nobody is there")
	s.press("ctrl+w")
	s.shows("/data/prod")
	s.press("ctrl+w")
	s.shows("/data/a.db")

	s = inTabs(t, 80, 24, "a.db", "gone")
	s.press("ctrl+w")
	s.shows("✗ nobody is there")
	if s.press("ctrl+w"); !s.ended {
		t.Error("the last tab cannot be closed")
	}
}

// TestManyTabs checks that the bar fits on any screen and includes the tab on the screen.
func TestManyTabs(t *testing.T) {
	names := []string{"a.db", "gone"}
	for i := range 8 {
		names = append(names, fmt.Sprintf("%s%d.sqlite", strings.Repeat("long", i), i))
	}
	for _, size := range [][2]int{{80, 24}, {33, 9}, {1, 1}} {
		s := inTabs(t, size[0], size[1], names...)
		for i := range names {
			s.screen()
			if of := fmt.Sprintf(" %d ", i+1); size[1] > 8 {
				bar, _, _ := strings.Cut(s.screen(), "\n")
				if !strings.Contains(bar, of) {
					t.Errorf("%v: tab %d is not in the bar %q", size, i+1, bar)
				}
			}
			s.run(s.tabs.switchBy(1))
		}
		s.press("ctrl+p")
		s.screen()
	}
}

// TestQuitAsksForEveryTab checks that quitting shows the hidden tab with a running change and asks
// there.
func TestQuitAsksForEveryTab(t *testing.T) {
	race.Skip(t)
	s := inTabs(t, 80, 24, "a.db", "b.db")
	s.press("w", "G", "d")
	_, change := s.tabs.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y")}) // the change is still running
	s.press("ctrl+w")
	s.shows("A change is running", "/data/a.db")
	s.press("}", "q")
	s.shows("/data/a.db", "wait for it, then quit")
	s.press("enter")
	s.shows("Quits when the change ends")
	s.run(change)
	if !s.ended {
		t.Errorf("it has not quit:\n%s", s.screen())
	}
}

// TestDraftsOfAnotherTab checks that a draft is saved in its tab, even if the user switched tabs before
// the editor opened.
func TestDraftsOfAnotherTab(t *testing.T) {
	race.Skip(t)
	s := inTabs(t, 80, 24, "a.db", "b.db")
	var path string
	first := s.tabs.list[0].model
	first.edit.Editor = func(p string) *exec.Cmd {
		path = p
		return exec.Command("true")
	}
	s.press("w", "`", "enter", "E", "2")
	if err := os.WriteFile(path, []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.send(edit.Edited{Path: path})
	s.shows("b.db")
	s.press("1")
	s.shows("Changed in:a.db", "edited")
}
