package inspect

import (
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace"
)

// clock is the time of a test; only the test advances it.
type clock struct{ now int64 }

func newFake() *fake { return &fake{clock: &clock{now: 1_700_000_000_000}} }

// timer is a message due at a time.
type timer struct {
	at  int64
	msg tea.Msg
}

// session drives a Model as bubbletea does, one message at a time.
type session struct {
	t      *testing.T
	model  *Model
	fake   *fake
	timers []timer
}

// browse starts the browser on f and lets it load.
func browse(t *testing.T, f *fake, width, height int) *session {
	t.Helper()
	return browseOn(t, f, f, width, height)
}

// browseOn is browse with another client and f's clock.
func browseOn(t *testing.T, c keyspace.Client, f *fake, width, height int) *session {
	t.Helper()
	s := &session{t: t, fake: f}
	o := Options{Client: c, Target: "/data/app.db", Journal: t.TempDir(), Now: func() int64 { return atomic.LoadInt64(&f.clock.now) }}
	if f.options != nil {
		f.options(&o)
	}
	s.model = New(o, lipgloss.NewRenderer(io.Discard))
	s.model.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
		s.timers = append(s.timers, timer{f.clock.now + d.Milliseconds(), msg})
		return nil
	}
	s.run(s.model.Init())
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	s.wait(2 * ui.SettleTime)
	return s
}

func (s *session) send(msg tea.Msg) {
	_, cmd := s.model.Update(msg)
	s.run(cmd)
}

// run runs cmd and all commands that follow from it.
func (s *session) run(cmd tea.Cmd) {
	for _, msg := range results(cmd) {
		s.send(msg)
	}
}

// results runs a command now, or each command of a batch.
func results(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		var all []tea.Msg
		for _, c := range msg {
			all = append(all, results(c)...)
		}
		return all
	default:
		return []tea.Msg{msg}
	}
}

// wait advances the clock.
func (s *session) wait(d time.Duration) {
	end := s.fake.clock.now + d.Milliseconds()
	for {
		slices.SortStableFunc(s.timers, func(a, b timer) int { return int(a.at - b.at) })
		if len(s.timers) == 0 || s.timers[0].at > end {
			break
		}
		next := s.timers[0]
		s.timers = s.timers[1:]
		atomic.StoreInt64(&s.fake.clock.now, max(s.fake.clock.now, next.at))
		s.send(next.msg)
	}
	atomic.StoreInt64(&s.fake.clock.now, end)
}

var namedKeys = map[string]tea.KeyMsg{
	"enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc}, "tab": {Type: tea.KeyTab}, "shift+up": {Type: tea.KeyShiftUp}, "shift+down": {Type: tea.KeyShiftDown},
	"up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown}, "left": {Type: tea.KeyLeft}, "right": {Type: tea.KeyRight},
	"pgup": {Type: tea.KeyPgUp}, "pgdown": {Type: tea.KeyPgDown}, "home": {Type: tea.KeyHome}, "end": {Type: tea.KeyEnd},
	"backspace": {Type: tea.KeyBackspace}, "delete": {Type: tea.KeyDelete}, "space": {Type: tea.KeySpace, Runes: []rune{' '}},
	"ctrl+a": {Type: tea.KeyCtrlA}, "ctrl+e": {Type: tea.KeyCtrlE}, "ctrl+k": {Type: tea.KeyCtrlK}, "ctrl+u": {Type: tea.KeyCtrlU},
	"ctrl+p": {Type: tea.KeyCtrlP}, "ctrl+r": {Type: tea.KeyCtrlR}, "ctrl+t": {Type: tea.KeyCtrlT}, "ctrl+w": {Type: tea.KeyCtrlW}, "ctrl+x": {Type: tea.KeyCtrlX},
}

// press presses keys by name, or @NAME, which chooses an action in the palette, and then waits for SettleTime.
func (s *session) press(keys ...string) {
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

// choose selects a key in the flat list.
func (s *session) choose(key string) {
	s.t.Helper()
	if s.model.keys.IsTree() {
		s.press("`")
	}
	s.press("home")
	for range 1000 {
		if s.model.keys.SelectedName() == key {
			s.wait(2 * ui.SettleTime)
			return
		}
		s.send(namedKeys["down"])
	}
	s.t.Fatalf("there is no key %q in the list:\n%s", key, s.screen())
}

// typing types text letter by letter.
func (s *session) typing(text string) {
	for _, r := range text {
		s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	s.wait(2 * ui.SettleTime)
}

// screen returns the screen without escape sequences and trailing spaces.
func (s *session) screen() string {
	s.t.Helper()
	lines := strings.Split(ansi.Strip(s.model.View()), "\n")
	if len(lines) > s.model.Height {
		s.t.Errorf("%d lines on a screen of %d", len(lines), s.model.Height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > s.model.Width {
			s.t.Errorf("line %d is %d cells wide on a screen of %d: %q", i, w, s.model.Width, line)
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

func (s *session) shows(texts ...string) {
	s.t.Helper()
	screen := s.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			s.t.Errorf("the screen does not show %q:\n%s", text, screen)
		}
	}
}

func (s *session) hides(texts ...string) {
	s.t.Helper()
	screen := s.screen()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			s.t.Errorf("the screen shows %q:\n%s", text, screen)
		}
	}
}
