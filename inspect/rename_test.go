package inspect

import (
	"fmt"
	"strings"
	"testing"
)

// TestRenameMany gives the keys of a folder other names, as one step, also where no key can
// be watched; a name that is taken stays what it is, whenever it was taken.
func TestRenameMany(t *testing.T) {
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
			s.press("U", "home", "R", "backspace", "backspace", "backspace")
			s.typing(to)
			s.press("enter")
		}
		rename("other:*")
		s.shows("1 name is taken", "Nothing was renamed.", "n:0003 → other:0003", "there is such a key")
		s.press("esc")
		s.shows("Rename 700 keys by a pattern")
		s.press("esc", "U")
		rename("x")
		s.shows("so would n:0000")
		s.press("esc", "esc", "U")
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
		s.press("U", "U")

		// Somebody takes a name after it was asked about.
		b.before = func(calls [][][]byte) {
			for _, call := range calls {
				if string(call[0]) == "RENAMENX" && b.before != nil {
					b.before = nil
					f.theirs("SET last:0002 theirs")
				}
			}
		}
		s.press("U")
		rename("last:*")
		s.press("y")
		s.shows("there is a key of that name already")
		if s.press("esc", "u", "y"); f.asks("GET last:0002") != "theirs" || f.asks("GET n:0002") != "2" || f.asks("GET n:0001") != "1" {
			t.Errorf("their key holds %q, ours %q and %q:\n%s", f.asks("GET last:0002"), f.asks("GET n:0002"), f.asks("GET n:0001"), s.screen())
		}
	}
}
