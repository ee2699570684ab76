package inspect

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/test/race"
)

// TestPalette finds actions by description, name and key, and runs them in the pane where they apply.
func TestPalette(t *testing.T) {
	race.Skip(t)
	for what, c := range map[string]struct {
		before, typed string
		shows         []string
	}{
		"a word":                          {"", "filter ttl", []string{"Show keys by time to live"}},
		"letters":                         {"", "ovdata", []string{"Overview of database 0"}},
		"a key":                           {"", "t", []string{"Show keys of type"}},
		"a name":                          {"", "expire", []string{"The inspector is read-only"}},
		"of a value, from the keys":       {"", "fold unfold", []string{"back", "user:"}},
		"of the keys, from a value":       {"tab", "filter type", []string{"zset"}},
		"that waits for what it is about": {"tab", "filter name", []string{"glob"}},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFile(t).shop()
			s := browseOn(t, f, f.fake, 80, 24)
			s.press("G", "l", "down")
			if c.before != "" {
				s.press(c.before)
			}
			s.press("ctrl+p")
			s.shows("Actions", "> ▏")
			s.typing(c.typed)
			s.press("enter")
			s.shows(c.shows...)
		})
	}
}

// TestPaletteAboveTheHelp opens the palette from the help page, and searches without a match.
func TestPaletteAboveTheHelp(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("?", "/")
	s.shows("Actions")
	s.typing("zzzz")
	s.shows("No match.")
	s.press("enter") // no action is selected
	s.shows("Actions")
	s.press("esc")
	s.shows("Keys", "unlock writing")
	s.press("/", "backspace")
	s.shows("unlock writing")
	s.press("esc")
	s.hides("unlock writing")
}

// TestPaletteFirst checks that an exact key ranks first, then the beginning of a word.
func TestPaletteFirst(t *testing.T) {
	race.Skip(t)
	for typed, first := range map[string]string{"x": "set the TTL", "?": "help", "^Z": "back to the shell", "sort": "sort by name", "ren": "rename the key", "sttl": "set the TTL"} {
		f := newFile(t).shop()
		s := browseOn(t, f, f.fake, 80, 24)
		s.press("ctrl+p")
		s.typing(typed)
		_, line, _ := strings.Cut(s.screen(), "▌ ")
		for !strings.HasPrefix(line, first) {
			var more bool
			if _, line, more = strings.Cut(line, "▌ "); !more {
				t.Errorf("%q does not find %q first:\n%s", typed, first, s.screen())
				break
			}
		}
	}
}

// TestPaletteKnowsEverydayWords checks that a newcomer's words find the action first.
func TestPaletteKnowsEverydayWords(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 80, 24)
	for typed, action := range map[string]string{
		"biggest": "sort", "largest": "sort", "duplicate": "copy_to", "clone": "copy_to", "pubsub": "server", "slowlog": "server",
		"prefix": "filter", "find": "filter", "grep": "search_values", "similar": "similar", "favourite": "bookmark", "dark theme": "background",
		"export csv": "export", "backup": "export", "expiry": "expire", "forever": "persist", "remove": "delete", "create": "add", "modify": "edit",
		"clipboard": "copy", "diff": "compare", "statistics": "overview", "reload": "refresh", "select all": "mark_all", "invert": "mark_others",
		"revert": "undo", "write": "unlock", "hexadecimal": "form", "exit": "quit", "shortcuts": "help", "switch db": "database", "consumer": "turn_over", "history": "steps", "bitmap": "form",
	} {
		s.model.showPalette()
		s.typing(typed)
		if got := s.model.Dialog.(*ui.Finder).Selected(); got != action {
			t.Errorf("%q finds %q first, not %q", typed, got, action)
		}
	}
}
