package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// quits reports whether a command ends the program.
func quits(cmd tea.Cmd) bool {
	for _, msg := range results(cmd) {
		if _, ok := msg.(tea.QuitMsg); ok {
			return true
		}
	}
	return false
}

// deletes returns a session that deletes many keys. step is called before each of its transactions.
func deletes(t *testing.T, step func(s *session, n int)) (s *session, before string, f *file) {
	t.Helper()
	f = newFile(t)
	for i := range change.FileKeysAtOnce + 9 {
		f.do(fmt.Sprintf("SET n:%d x", i))
	}
	f.do("SET other x")
	before = dumpAll(t, f, f.clock.now)
	b, n := &meddler{}, 0
	f.through(b)
	s = browseOn(t, f, f.fake, 80, 24)
	s.press("w", "g", "d")
	b.before = func(calls [][][]byte) {
		if s.model.Running(job.Writing) && holdsMulti(calls) {
			n++
			step(s, n)
		}
	}
	s.press("y")
	return s, before, f
}

// TestQuitAsksWhileAChangeRuns checks the question and the effect of each answer.
func TestQuitAsksWhileAChangeRuns(t *testing.T) {
	race.Skip(t)
	for _, c := range []struct {
		keys   []string
		quits  bool  // immediately
		left   int64 // the number of keys after the change
		shows  string
		leaves bool // after the change
	}{
		{keys: []string{"q", "esc"}, left: 1, shows: "Deleted n:*"},
		{keys: []string{"q", "enter"}, left: 1, leaves: true},
		{keys: []string{"q", "enter", "j"}, left: 1},
		{keys: []string{"ctrl+c", "end", "enter"}, left: 1, shows: "Deleted n:*"},
		{keys: []string{"q"}, left: 1, shows: "Deleted n:*"}, // the question no longer applies
		{keys: []string{"q", "down", "enter"}, quits: true},
		{keys: []string{"ctrl+c", "ctrl+c"}, quits: true},
	} {
		t.Run(strings.Join(c.keys, " "), func(t *testing.T) {
			left := false
			s, before, f := deletes(t, func(s *session, n int) {
				if n != 2 {
					return
				}
				for i, key := range c.keys {
					_, cmd := s.model.Update(keyMsg(key))
					if left = quits(cmd); left != (c.quits && i == len(c.keys)-1) {
						t.Errorf("%q ends it: %v", c.keys[:i+1], left)
					}
					if i == 0 {
						s.model.quitting = false
						s.shows("A change is running", "wait for it, then quit", "stop it and quit", "undo is kept")
					}
				}
				if c.quits {
					s.model.Interrupt(job.Writing) // as Run does
				}
			})
			if c.shows != "" {
				s.shows(c.shows)
			}
			if s.model.quitting != (c.quits || c.leaves) {
				t.Errorf("it ends: %v", s.model.quitting)
			}
			kept, err := s.model.edit.EndJournal()
			if keys := f.size(t); kept != 1 || err != nil || !c.quits && keys != c.left || keys > 10 {
				t.Errorf("%d changes are kept, %d keys are left, %v", kept, keys, err)
			}
			// The next session can undo the finished part.
			dir := s.model.options.Journal
			start := f.fake.options
			f.fake.options = func(o *Options) {
				start(o)
				o.Journal = dir
			}
			next := browseOn(t, f, f.fake, 80, 24)
			next.shows("1 change of an earlier session")
			next.press("w", "u")
			next.shows("Undone")
			if got := dumpAll(t, f, f.clock.now); got != before {
				t.Error(firstDifference(before, got))
			}
		})
	}
}

func keyMsg(key string) tea.KeyMsg {
	if msg, ok := namedKeys[key]; ok {
		return msg
	}
	if key == "ctrl+c" {
		return tea.KeyMsg{Type: tea.KeyCtrlC}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
}

func (f *file) size(t *testing.T) int64 {
	t.Helper()
	v, err := f.session.Do(context.Background(), client.Command("DBSIZE")...)
	if err != nil {
		t.Fatal(err)
	}
	return client.Number(v)
}

// TestQuitOnATinyScreenAsks checks that the question fits on a tiny screen.
func TestQuitOnATinyScreenAsks(t *testing.T) {
	race.Skip(t)
	deletes(t, func(s *session, n int) {
		if n != 1 {
			return
		}
		s.model.resize(20, 5)
		_, cmd := s.model.Update(keyMsg("q"))
		s.shows("q stops a change")
		_, again := s.model.Update(keyMsg("q"))
		if quits(cmd) || !quits(again) {
			t.Errorf("q ends it: %v, then %v", quits(cmd), quits(again))
		}
	})
}

// slowly is a client whose transactions last until they are cancelled.
type slowly struct {
	*file
	begun chan struct{}
}

func (c slowly) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if holdsMulti(calls) {
		close(c.begun)
		<-ctx.Done()
	}
	return c.file.Pipeline(context.WithoutCancel(ctx), calls)
}

// TestAChangeThatIsCutOffIsKept stops a change by a signal and checks that its finished part can be
// undone.
func TestAChangeThatIsCutOffIsKept(t *testing.T) {
	f := newFile(t)
	f.do("SET k v")
	c := slowly{f, make(chan struct{})}
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Unlock = func(context.Context) (keyspace.Client, error) { return c, nil }
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "d")
	h := &hanging{session: s, done: make(chan tea.Msg, 100)}
	h.press("y")
	for begun := false; !begun; {
		select {
		case <-c.begun:
			begun = true
		case msg := <-h.done:
			h.n--
			if batch, ok := msg.(tea.BatchMsg); ok {
				for _, cmd := range batch {
					h.start(cmd)
				}
			}
		}
	}
	s.model.stopChange()
	if kept, err := s.model.edit.EndJournal(); kept != 1 || err != nil || len(s.model.edit.Undoable()) != 1 {
		t.Errorf("%d changes are kept, %v", kept, err)
	}
}

// TestQuitByCommand quits as in vim, and selects a database as in redis-cli.
func TestQuitByCommand(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	f.do("SELECT 3")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press(":")
	s.typing("select 3")
	s.press("enter")
	s.shows("db 3")
	s.press(":")
	s.typing("select 16")
	s.press("enter")
	s.shows(`database "16" is out of range: use 0 to 15`, "db 3")
	for _, line := range []string{"q", "quit", "exit"} {
		s.press(":")
		s.typing(line)
		_, cmd := s.model.Update(namedKeys["enter"])
		if msgs := results(cmd); !slices.ContainsFunc(msgs, func(m tea.Msg) bool { _, ok := m.(tea.QuitMsg); return ok }) {
			t.Errorf(":%s does not quit", line)
		}
		s.model.quitting = false
	}
}
