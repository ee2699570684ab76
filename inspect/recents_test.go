package inspect

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestBookmarksAndRecentKeys checks that both come back in the next session with their databases,
// without values, and that an in-memory target leaves nothing.
func TestBookmarksAndRecentKeys(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	f := newFake().zoo()
	f.options = func(o *Options) { o.Recents = dir }
	s := browse(t, f, 80, 24)
	s.press("'")
	s.shows("No key was opened or bookmarked yet. Press b to bookmark one.")
	s.choose("board")
	s.press("enter", "esc")
	s.choose("tags")
	s.press("b")
	s.shows("Bookmarked tags. Press ' to see all.")
	s.press("0", "3", "enter", "enter")
	s.shows("string · 1 byte")

	f.clock.now += 3600_000
	s = browse(t, f, 80, 24)
	s.press("'")
	s.shows("Bookmarks (★) and recent keys", "★ tags", "three", "db 3 · 1h 00m ago", "board")
	s.typing("three")
	s.press("enter")
	s.shows("db 3 · 1 key", "string · 1 byte")
	s.press("'")
	s.typing("tags")
	s.press("enter")
	s.shows("db 0", "set · 3 members")
	s.press("esc")
	s.shows("▌   tags")

	// One recent key is forgotten, and one bookmark is removed.
	s.press("b")
	s.shows("Removed the bookmark of tags.")
	s.press("'")
	s.typing("board")
	s.send(tea.KeyMsg{Type: tea.KeyCtrlX})
	s.shows("No match.")
	s.press("esc", "'")
	s.hides("│  board", "│    board", "★ tags")
	s.shows("tags", "three")

	f.options = func(o *Options) { o.Recents, o.Temporary = dir, true }
	s = browse(t, f, 80, 24)
	s.press("'")
	s.shows("No key was opened")
}

// TestRecallTroubles checks that an unwritable directory prevents only bookmarks.
func TestRecallTroubles(t *testing.T) {
	race.Skip(t)
	f := newFake().zoo()
	f.options = func(o *Options) { o.Recents = "/dev/null/keys" }
	s := browse(t, f, 80, 24)
	s.choose("tags")
	s.press("enter")
	s.shows("set · 3 members")
	s.hides("✗")
	s.press("b")
	if !strings.Contains(s.screen(), "✗") {
		t.Errorf("a bookmark that is not kept is not told of:\n%s", s.screen())
	}
}

// TestOnlyWhatIsThereIsRecent checks that missing keys, and keys that were not opened, are not
// remembered.
func TestOnlyWhatIsThereIsRecent(t *testing.T) {
	race.Skip(t)
	f := newFake().zoo()
	s := browse(t, f, 120, 24)
	s.choose("tags") // shown beside the list
	s.press("o")
	s.typing("nope")
	s.press("enter", "esc", "'")
	s.shows("No key was opened")
	s.press("o")
	s.typing("board")
	s.press("enter", "'")
	s.shows("  board", "0s ago")
}
