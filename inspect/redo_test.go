package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/internal/test/race"
)

// TestRedoAsks checks that redo asks before it overwrites other clients' changes since the undo, and
// where the change itself asked. After another change there is nothing to redo.
func TestRedoAsks(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET k old")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	s.runs("SET k mine")
	s.press("u")
	f.do("SET k theirs")
	s.press("ctrl+r")
	s.shows("Redo anyway?", "k was changed")
	s.press("n")
	s.press("ctrl+r", "y")
	s.shows("Redone: SET k mine")
	s.press("u")
	if got := f.get("k"); got != "theirs" {
		t.Errorf("k is %q after the undo of the redo", got)
	}
	s.runs("SET other 1")
	s.press("ctrl+r")
	s.shows("Nothing to redo")

	s.press("d", "y", "u", "ctrl+r")
	s.shows("Redo: Deleted", "y yes   n no")
	s.press("n")
	s.shows("Nothing was changed")
	s.press("ctrl+r", "y")
	s.shows("Redone: Deleted")
	s.press("U")
	s.shows("Return to the state after", "now · 1 key", "before all changes")
}

// TestRedoOfManyKeys deletes a folder again. Its journal ends with the session.
func TestRedoOfManyKeys(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 2*change.FileKeysAtOnce + 7 {
		f.do(fmt.Sprintf("SET n:%d x", i))
	}
	f.do("HSET n:hash a 1")
	before := dumpAll(t, f, f.clock.now)
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "g", "d", "y")
	after := dumpAll(t, f, f.clock.now)
	for range 2 {
		s.press("u")
		if got := dumpAll(t, f, f.clock.now); got != before {
			t.Error(firstDifference(before, got))
		}
		s.redoes()
		if got := dumpAll(t, f, f.clock.now); got != after {
			t.Error(firstDifference(after, got))
		}
	}
	s.press("U")
	s.shows("Deleted n:*, 4,008 keys", "now · 4,008 keys")
	s.press("esc", "u")
	f.do("DEL n:5")
	s.press("ctrl+r", "y")
	s.shows("Redo anyway?", "n:5 was deleted")
	s.press("esc")
	dir := s.model.options.Journal
	if left, _ := filepath.Glob(filepath.Join(dir, "*.redo*")); len(left) != 1 {
		t.Errorf("journals: %q", left)
	}
	if _, err := s.model.edit.EndJournal(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.redo*")); len(left) != 0 {
		t.Errorf("journals: %q", left)
	}
}

// TestRedoOfAnEditOfALargeKey stores the changed element, not the whole key.
func TestRedoOfAnEditOfALargeKey(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.fillHash()
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("enter", "w", "e", "y", "enter", "esc", "r", "2", "enter", "x", "9", "enter", "@persist")
	after := dumpAll(t, f, f.clock.now)
	s.press("u", "u", "u", "u")
	for range 4 {
		s.redoes()
	}
	if got := dumpAll(t, f, f.clock.now); got != after {
		t.Error(firstDifference(after, got))
	}
	s.press("u", "u", "u", "u")
	files, _ := filepath.Glob(filepath.Join(s.model.options.Journal, "*"))
	for _, path := range files {
		if end := sizeOfFile(t, path); end > 3000 {
			t.Errorf("%s has %d bytes", filepath.Base(path), end)
		}
	}
}

// TestRedoJournalsOfKilledSessions checks that the next session removes them, and shows the time and
// the number of keys of the changes that it can undo.
func TestRedoJournalsOfKilledSessions(t *testing.T) {
	f := newFile(t)
	dir := t.TempDir()
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Journal = dir
	}
	killed := browseOn(t, f, f.fake, 80, 24)
	killed.press("w")
	killed.runs("MSET a 1 b 2 c 3")
	killed.runs("SET d 4")
	killed.press("u")
	for _, path := range killed.journals() {
		// The lock of a session ends with it, so a copy of the file is not locked.
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.clock.now += 5 * 60_000
	next := browseOn(t, f, f.fake, 80, 24)
	next.press("enter")
	if left := next.journals(); len(left) != 1 || !strings.HasSuffix(left[0], ".undo2") {
		t.Errorf("journals: %q", left)
	}
	next.press("U")
	next.shows("MSET a 1 b 2 c 3", "now · 3 keys · 5m 0")
}

// journals returns the paths of the journals in the session's directory.
func (s *session) journals() []string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.model.options.Journal, "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}
