package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/internal/test/race"
)

// marked returns the subject of the next action.
func (s *session) marked() []string {
	sel := s.model.selection()
	return slices.Concat(sel.Names, sel.Folders)
}

func (s *session) marks(t *testing.T, want ...string) {
	t.Helper()
	if got := s.marked(); !slices.Equal(got, want) {
		t.Errorf("marked are %q, want %q:\n%s", got, want, s.screen())
	}
}

// TestMarkRanges marks ranges with V and with shift, down and up, also beyond the rows in memory.
func TestMarkRanges(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 5000 {
		f.do(fmt.Sprintf("SET n:%04d x", i))
	}
	f.do("SET a:1 x")
	f.do("SET a:2 x")
	f.do("SET z x")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("v", "down")
	s.shows("✓ ▸ a:", "✓ ▸ n:", "2 rows in range", "space mark")
	s.press("space", "G", "space")
	s.shows("3 rows marked")
	s.marks(t, "z", "a:", "n:")
	s.press("esc")
	s.marks(t, "z")

	// A range that ends in an open folder includes its rows up to the end of the range.
	s.press("home", "enter", "v", "down", "esc", "home", "v", "down", "v")
	s.marks(t, "a:1")
	s.press("esc", "h", "h", "home", "shift+down", "shift+down", "up")
	s.marks(t, "z", "a:", "n:")
	s.press("esc", "`", "end", "shift+up", "shift+up", "d")
	s.shows("The inspector is read-only")
	s.marks(t, "n:4998", "n:4999", "z")

	for _, keys := range [][]string{{"home", "v", "end"}, {"end", "v", "home"}} {
		s.press("esc")
		s.press(keys...)
		s.press("up", "down")
		s.press("space")
		if got := s.marked(); len(got) < 5002 || got[0] > "a:2" {
			t.Errorf("%q marked %d rows", keys, len(got))
		}
	}
	s.press("esc", "home", "v", "end")
	f.theirs("DEL z")
	s.press("space")
	s.shows("of the range no longer exists")
}

// TestMarkAll marks the matches of a filter, on a file and on a server, and inverts marks in a list and
// in the tree.
func TestMarkAll(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 3000 {
		f.do(fmt.Sprintf("SET n:%04d x", i))
		if i < 3 {
			f.do(fmt.Sprintf("SET m:%d:a x", i))
		}
	}
	f.do("SET z x")
	for name, s := range map[string]*session{
		"a file":   browseOn(t, f, f.fake, 80, 24),
		"a server": browse(t, newFake().plain(3000), 80, 24),
	} {
		t.Run(name, func(t *testing.T) {
			s.press("/", "1", "2", "3", "enter", "*")
			s.shows("Marked 13 keys.")
			s.press("esc", "space", "@mark_others")
			s.shows("Marks inverted: 12 keys.")
			s.press("/", "x", "enter", "esc", "esc") // the first esc drops the marks
			if n := len(s.marked()); n != 1 {
				t.Errorf("%d marked", n)
			}
		})
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("*")
	s.marks(t, "z", "m:", "n:")
	s.press("esc", "enter", "down", "enter", "down", "space") // m:0:a
	s.marks(t, "m:0:a")
	s.press("@mark_others")
	s.shows("Marks inverted: 3 folders and 1 key.")
	s.marks(t, "z", "m:1:", "m:2:", "n:")
	s.press("@mark_others")
	s.marks(t, "m:0:")
	s.press("home", "down", "down")
	s.shows("✓     a")
	s.press("space")
	s.shows("Its folder is marked")
	s.press("`", "s", "count", "enter", "@mark_others")
	s.shows("Marks inverted: 3,003 keys.")
}

// TestLivesOfMany sets the time to live of all marked keys and folders, in batches and as one change,
// also where WATCH is refused.
func TestLivesOfMany(t *testing.T) {
	race.Skip(t)
	for _, refuses := range []string{"", "WATCH"} {
		f := newFile(t)
		for i := range 2200 {
			f.do(fmt.Sprintf("SET n:%04d x PX %d", i, 500_000+i))
		}
		f.do("SET a x")
		f.do("SET z x")
		f.through(&meddler{refuses: refuses})
		s := browseOn(t, f, f.fake, 80, 24)
		ends := func(key, want string) {
			t.Helper()
			if v := f.asks("PEXPIRETIME " + key); v != want {
				t.Errorf("%s ends at %s, not at %s", key, v, want)
			}
		}
		old := f.asks("PEXPIRETIME n:2199")
		s.press("w", "space", "space", "x")
		s.shows("TTL of 1 folder and 1 key")
		s.press("9", "0", "enter")
		s.shows("Set the TTL of 1 folder and 1 key to 1m 30s, 2,201 keys?", "2,000 at a time; undo restores all:")
		s.press("y")
		s.shows("to 1m 30s, 2,201 keys. Press u to undo it.")
		ends("a", f.asks("PEXPIRETIME n:2199"))
		ends("z", "-1")
		s.press("u")
		ends("a", "-1")
		ends("n:2199", old)
	}
}

// asks returns the reply to a command whose words are separated by spaces.
func (f *file) asks(line string) string {
	f.t.Helper()
	v, err := f.session.Do(context.Background(), client.Command(strings.Fields(line)...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	return client.Text(v)
}

// TestDeletionListsItsParts checks the preview of a deletion of several folders and keys.
func TestDeletionListsItsParts(t *testing.T) {
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 80, 24)
	s.shows("config                                    string       —               70 B")
	s.press("w", "space", "space", "j", "space", "d")
	s.shows("Delete 1 folder and 2 keys, 35 keys?", "cache:*", "33 keys   9.1 KB", "board", "config           1 key     70 B")
	s.press("y")
	s.shows("66 keys")
	s.press("u")
	s.shows("101 keys")
	s.press("*", "d")
	s.shows("… and ", " more", "101 keys?")
}

// TestTypeMenuCounts checks the numbers of keys in the menu of types.
func TestTypeMenuCounts(t *testing.T) {
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("t")
	s.shows("all       101 keys", "62 keys", "31 keys", "1 key")
	s.press("esc")
	s.hides("62 keys")
}
