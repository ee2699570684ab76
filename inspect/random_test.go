package inspect

import (
	"math/rand"
	"os/exec"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestUndoOfRandomChanges undoes all changes of a session of random keys, redoes them, and undoes them
// again.
func TestUndoOfRandomChanges(t *testing.T) {
	race.Skip(t)
	const sessions, presses = 16, 40
	lines := []string{
		"FLUSHALL", "SWAPDB 0 1", "RENAME cart c2", "COPY cart c3 REPLACE", "LPOP cache:list:1", "XACK events ops 1-1", "SPOP tags", "MOVE board 1",
		"EXPIRE user:01 100", "HDEL cart apple", "XGROUP DESTROY events ops", "JSON.SET doc $.a 5", "DEL slots", "HEXPIRE cart 50 FIELDS 1 plum",
		"ZINCRBY board 1 bob", "SORT cache:list:0 ALPHA STORE srt", "SETRANGE config 3 xx",
	}
	var keys []string
	for key := range namedKeys {
		if key != "tab" { // tab completes the typed text
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, r := range "kjgGlh VA*DACRXPuz][:oOsSyyyyn1*5" {
		keys = append(keys, string(r), string(r))
	}
	for seed := range int64(sessions) {
		random := rand.New(rand.NewSource(seed))
		f := newFile(t).shop()
		now := f.clock.now
		before := dumpAll(t, f, now)
		s := browseOn(t, f, f.fake, 110, 30)
		s.model.edit.Editor = func(string) *exec.Cmd { return exec.Command("true") }
		s.press("w")
		for range presses {
			f.clock.now = now // no key expires
			if random.Intn(8) > 0 || s.model.Dialog != nil || s.model.keys.IsTyping() {
				s.press(keys[random.Intn(len(keys))])
				continue
			}
			s.press(":")
			s.typing(lines[random.Intn(len(lines))])
			if s.press("enter"); s.model.Dialog != nil {
				s.press("y")
			}
		}
		s.press("esc", "esc", "esc", "esc", "esc", "esc")
		f.clock.now = now
		after := dumpAll(t, f, now)
		n := len(s.model.edit.Undoable())
		agree := func(key string) {
			f.clock.now = now
			if s.press(key); s.model.Dialog != nil && key == "ctrl+r" {
				s.press("y") // the first run asked too
			}
			if s.model.Dialog != nil || s.model.Failure != "" {
				t.Fatalf("session %d:\n%s", seed, s.screen())
			}
			f.clock.now = now
		}
		for _, turn := range []struct{ key, want string }{{"u", before}, {"ctrl+r", after}, {"u", before}} {
			for range n {
				agree(turn.key)
			}
			if got := dumpAll(t, f, now); got != turn.want {
				t.Fatalf("session %d, after %d times %s: %s\n%s", seed, n, turn.key, firstDifference(turn.want, got), s.screen())
			}
		}
		if _, err := s.model.edit.EndJournal(); err != nil {
			t.Fatal(err)
		}
	}
}
