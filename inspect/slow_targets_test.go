package inspect

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
)

// hanging makes f stop replying. Further commands of the browser run in the background.
type hanging struct {
	*session
	done chan tea.Msg
	n    int
}

func hang(s *session) *hanging {
	s.fake.gate = make(chan struct{}, 1)
	return &hanging{session: s, done: make(chan tea.Msg, 100)}
}

func (h *hanging) press(key string) {
	msg, ok := namedKeys[key]
	if !ok {
		msg = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
	}
	h.send(msg)
}

func (h *hanging) send(msg tea.Msg) {
	_, cmd := h.model.Update(msg)
	h.start(cmd)
}

func (h *hanging) start(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	h.n++
	go func() { h.done <- cmd() }()
}

// finish handles all messages of ended commands.
func (h *hanging) finish() {
	for h.n > 0 {
		h.one()
	}
}

// one handles one message of an ended command.
func (h *hanging) one() { h.take(<-h.done) }

func (h *hanging) take(msg tea.Msg) {
	h.n--
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			h.start(c)
		}
	default:
		h.send(msg)
	}
}

// tick advances the spinner.
func (h *hanging) tick(d time.Duration) {
	atomic.AddInt64(&h.fake.clock.now, d.Milliseconds())
	h.send(job.SpinMsg{})
}

func TestSlowTargetIsCancelled(t *testing.T) {
	s := browse(t, newFake().plain(2000), 80, 24)
	s.press("`")
	h := hang(s)
	h.press("R")
	h.tick(3 * time.Second)
	s.shows("3s", "key:00000")
	h.press("j")
	s.shows("2 of 2,000")
	h.press("esc")
	s.shows("Stopped.")
	s.hides("scanning")
	h.finish()
	if p, any := s.model.Longest(); any {
		t.Errorf("%s still runs", p.String())
	}
	close(s.fake.gate)
	s.press("R")
	s.shows("2 of 2,000")
	s.hides("Stopped")
}

func TestSlowValueIsLeft(t *testing.T) {
	f := newFake().zoo()
	s := browse(t, f, 80, 18) // without a preview
	s.choose("user:1")
	h := hang(s)
	h.press("enter")
	h.tick(job.FrameTime)
	h.tick(job.FrameTime)
	s.shows("user:1", "loading…")
	h.press("esc")
	s.shows("KEY↑")
	h.finish()
	close(f.gate)
	s.press("enter")
	s.shows("hash · 4 fields")
}

// TestEnterWaitsForThePreview opens a value that the preview reads already: it is not read twice.
func TestEnterWaitsForThePreview(t *testing.T) {
	f := newFake().zoo()
	s := browse(t, f, 80, 24)
	s.press("`")
	h := hang(s)
	h.press("G")
	timers := s.timers
	s.timers = nil
	atomic.AddInt64(&f.clock.now, ui.SettleTime.Milliseconds())
	for _, due := range timers {
		h.send(due.msg)
	}
	close(f.gate)
	for len(h.done) < h.n { // the preview has been read, and is not shown yet
		time.Sleep(time.Millisecond)
	}
	h.press("enter")
	h.finish()
	s.shows("user:1", "hash · 4 fields", "esc back")
	reads := 0
	for _, call := range f.calls {
		if strings.HasPrefix(call, "HSCAN user:1 ") {
			reads++
		}
	}
	if reads != 1 {
		t.Errorf("the value was read %d times: %q", reads, f.calls[max(0, len(f.calls)-12):])
	}
}
