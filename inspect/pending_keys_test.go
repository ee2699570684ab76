package inspect

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace"
)

// folders returns a writable server with a folder of n keys and some keys after it.
func folders(n int) *fake {
	f := newFake()
	f.options = func(o *Options) { o.Unlock = func(context.Context) (keyspace.Client, error) { return f, nil } }
	for i := range n {
		f.add(fakeValue{key: fmt.Sprintf("a:%04d", i), kind: "string", str: "in the folder"})
	}
	f.add(fakeValue{key: "b", kind: "list", elems: []string{"b0", "b1"}}, fakeValue{key: "c", kind: "list", elems: []string{"c0", "c1"}})
	return f
}

func TestKeysTypedAheadOfAFolder(t *testing.T) {
	s := browse(t, folders(3), 80, 24)
	h := hang(s)
	for _, key := range []string{"enter", "j", "j", "enter"} {
		h.press(key)
	}
	if s.model.InValue {
		t.Fatal("Enter opened a row of before")
	}
	h.tick(job.FrameTime)
	s.shows("3 keys wait")
	close(s.fake.gate)
	h.finish()
	s.shows("a:0001", "in the folder")
}

func TestKeysTypedAheadOfAValue(t *testing.T) {
	f := folders(3)
	s := browse(t, f, 80, 18) // without a preview
	s.press("w", "j", "enter", "esc", "j")
	s.shows("WRITING")
	h := hang(s)
	h.press("enter")
	h.press("j")
	h.press("d")
	if s.model.Dialog != nil {
		t.Fatal("D was about the value of before")
	}
	close(f.gate)
	h.finish()
	s.shows("Delete 1 of c?")
}

// TestKeysTypedAheadAnswerNothing deletes a folder, which is counted first. Keys typed before the
// question appears do not answer it.
func TestKeysTypedAheadAnswerNothing(t *testing.T) {
	f := folders(3)
	s := browse(t, f, 80, 24)
	s.press("w")
	h := hang(s)
	h.press("d")
	h.press("y")
	close(f.gate)
	h.finish()
	s.shows("Delete a:*, 3 keys?")
	if n := f.sent("DEL") + f.sent("UNLINK"); n != 0 {
		t.Errorf("%d deletes", n)
	}
	if len(s.model.pendingKeys) != 0 {
		t.Error("a key still waits")
	}
}

func TestEscTakesBackWhatWasTypedAhead(t *testing.T) {
	s := browse(t, folders(3), 80, 24)
	h := hang(s)
	for _, key := range []string{"enter", "j", "enter", "esc"} {
		h.press(key)
	}
	close(s.fake.gate)
	h.finish()
	if s.model.InValue || s.model.keys.SelectedName() != "a:" {
		t.Errorf("in value %v, at %q", s.model.InValue, s.model.keys.SelectedName())
	}
}

func TestFewKeysWait(t *testing.T) {
	s := browse(t, folders(200), 80, 24)
	h := hang(s)
	h.press("enter")
	for range 1000 {
		h.press("j")
	}
	if n := len(s.model.pendingKeys); n != maxPendingKeys {
		t.Errorf("%d keys wait", n)
	}
	h.press("esc")
	h.press("q")
	if !s.model.quitting {
		t.Error("q does not quit")
	}
	close(s.fake.gate)
	h.finish()
}

// TestMovesBeyondWhatIsLoaded moves beyond the loaded rows: the rest of the move follows when more rows
// load.
func TestMovesBeyondWhatIsLoaded(t *testing.T) {
	s := browse(t, newFake().plain(3000), 80, 24)
	s.press("`")
	at := func() string { return s.model.keys.SelectedName() }
	h := hang(s)
	loaded := s.model.keys.Loaded()
	h.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("j", loaded))})
	h.press("j")
	if want := fmt.Sprintf("key:%05d", loaded-1); at() != want {
		t.Errorf("at %s, want %s", at(), want)
	}
	close(s.fake.gate)
	h.finish()
	if want := fmt.Sprintf("key:%05d", loaded+1); at() != want {
		t.Errorf("then at %s, want %s", at(), want)
	}
}

func TestMovesBeyondWhatIsLoadedOfAValue(t *testing.T) {
	f := newFake()
	var elems []string
	for i := range 1000 {
		elems = append(elems, fmt.Sprintf("element %d", i))
	}
	f.add(fakeValue{key: "l", kind: "list", elems: elems})
	s := browse(t, f, 80, 24)
	s.press("enter")
	h := hang(s)
	h.press("G")
	h.press("k")
	h.press("enter")
	close(f.gate)
	h.finish()
	s.shows("l ▸ 998", "element 998")
	s.press("esc", "g")
	s.fake.gate = make(chan struct{})
	for range 12 {
		h.press("pgdown")
	}
	close(s.fake.gate)
	h.finish()
	if want := fmt.Sprintf("element %d", 12*s.model.pageLines()); !strings.Contains(selectedLine(s), want) {
		t.Errorf("the selected line is %q, want %q", selectedLine(s), want)
	}
}

func selectedLine(s *session) string {
	for line := range strings.Lines(s.screen()) {
		if strings.ContainsAny(line, "▌▏") {
			return line
		}
	}
	return ""
}

// TestFolderOpensWhileRowsAreRead opens a folder while the rows reload after another client's change.
// The running load does not know of the folder.
func TestFolderOpensWhileRowsAreRead(t *testing.T) {
	s := browse(t, folders(3), 80, 24)
	h := hang(s)
	h.start(s.model.keys.Follow(true))
	h.send(job.SpinMsg{}) // starts to read them
	h.press("enter")
	close(s.fake.gate)
	h.finish()
	s.wait(time.Second)
	s.shows("▾ a:", "0001")
}
