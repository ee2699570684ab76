package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestRenameMany renames the keys of a folder as one change, also where WATCH is refused. A key that
// already has the new name is never overwritten, whenever it was created.
func TestRenameMany(t *testing.T) {
	race.Skip(t)
	for _, refuses := range []string{"", "WATCH"} {
		f := newFile(t)
		for i := range 700 {
			f.do(fmt.Sprintf("SET n:%04d %d", i, i))
		}
		f.do("HSET other:0003 a b")
		b := &meddler{refuses: refuses}
		f.through(b)
		s := browseOn(t, f, f.fake, 80, 24)
		rename := func(to string) {
			s.press("w", "home", "r", "backspace", "backspace", "backspace")
			s.typing(to)
			s.press("enter")
		}
		rename("other:*")
		s.shows("1 name is taken", "Nothing was renamed.", "n:0003 → other:0003", "already exists")
		s.press("esc")
		s.shows("Rename 700 keys by a pattern")
		s.press("esc", "w")
		rename("x")
		s.shows("also the new name of n:0000")
		s.press("esc", "esc", "w")
		rename("other:new:*")
		s.shows("Rename 700 keys?", "n:0000 → other:new:0000", "… and 692 more")
		s.press("y")
		s.shows("Renamed 700 keys. Press u to undo it.")
		if v := f.asks("GET other:new:0699"); v != "699" {
			t.Errorf("it holds %q", v)
		}
		s.press("u")
		s.shows("Undone: Renamed 700 keys.")
		if n := f.asks("EXISTS n:0000 n:0699 other:new:0000"); n != "2" {
			t.Errorf("%s keys are there", n)
		}
		s.press("ctrl+r")
		if v := f.asks("GET other:new:0699"); !strings.Contains(s.screen(), "?") && v != "699" {
			t.Errorf("made again, it holds %q:\n%s", v, s.screen())
		}
		s.press("y", "u")
		s.press("w", "w")

		// Another client takes a name after the check.
		b.before = func(calls [][][]byte) {
			for _, call := range calls {
				if string(call[0]) == "RENAMENX" && b.before != nil {
					b.before = nil
					f.theirs("SET last:0002 theirs")
				}
			}
		}
		s.press("w")
		rename("last:*")
		s.press("y")
		s.shows("the key already exists")
		if s.press("esc", "u", "y"); f.asks("GET last:0002") != "theirs" || f.asks("GET n:0002") != "2" || f.asks("GET n:0001") != "1" {
			t.Errorf("their key holds %q, ours %q and %q:\n%s", f.asks("GET last:0002"), f.asks("GET n:0002"), f.asks("GET n:0001"), s.screen())
		}
	}
}

// TestUndoOfARenameOfMany restores the names that are free. Neither undo nor redo overwrites other
// clients' keys.
func TestUndoOfARenameOfMany(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 5 {
		f.do(fmt.Sprintf("SET n:%d %d", i, i))
	}
	f.do("PEXPIRE n:3 5000")
	s := browseOn(t, f, f.fake, 100, 24)
	s.press("w")
	s.runs("APPEND n:4 x")
	s.press("home", "r", "backspace", "backspace", "backspace")
	s.typing("m:*")
	s.press("enter", "y")
	s.shows("Renamed 5 keys")

	s.choose("m:4")
	s.before("APPEND n:4 x")
	s.shows("1 difference", "m:4, now", "n:4, before: APPEND")
	s.press("esc")

	f.clock.now += 6000 // m:3 expires
	f.do("SET n:2 theirs")
	f.do("DEL m:1")
	s.press("u")
	s.shows("Undo anyway?", "n:2 was created again; it stays unchanged.", "m:1 was deleted; it stays deleted.")
	s.press("y")
	s.shows("Undone: Renamed 5 keys. A key keeps its name because n:2 already exists.")
	holds := func(want string) {
		t.Helper()
		var each []string
		for _, key := range strings.Fields("n:0 n:1 n:2 n:3 n:4 m:0 m:2") {
			each = append(each, f.get(key))
		}
		if got := strings.Join(each, " "); got != want {
			t.Errorf("the keys hold %s\n   instead of %s", got, want)
		}
	}
	holds("0  theirs  4x  2")
	s.press("ctrl+r", "y")
	s.shows("Redone: Renamed 5 keys. A key keeps its name because m:2 already exists")
	holds("  theirs   0 2")
	s.press("u", "y")
	holds("0  theirs  4x  2")
}
