package inspect

import "testing"

// TestCopyBetweenTabs copies what is marked to another tab, as a change that is undone
// there, and neither unasked over what is there nor where nothing may be written.
func TestCopyBetweenTabs(t *testing.T) {
	alone := inTabs(t, 80, 24, "a.db")
	alone.press("c")
	alone.shows("No other target is open. Press ^T to open one.")

	s := inTabs(t, 80, 24, "a.db", "b.db")
	s.press("A", "c")
	s.shows("Copy 2 folders to", "b.db", "db 0, locked")
	s.press("enter")
	s.shows("Nothing is written to b.db yet: press U in its tab first.")
	s.press("2", "U", ":")
	s.typing("SET in:a.db theirs")
	s.press("enter", "1", "c", "enter")
	s.shows("Keys that are in b.db already", "stay as they are")
	s.press("enter")
	s.shows("/data/b.db", "Copied 2 folders from /data/a.db: 1 key; 1 there already. Press u to undo it.", "4 keys")
	s.press("u")
	s.shows("Undone", "3 keys")
	get := func(want string) {
		t.Helper()
		s.press(":")
		s.typing("GET in:a.db")
		s.press("enter")
		s.shows("GET in:a.db → \"" + want + "\"")
	}
	s.press("1", "c", "enter", "down", "enter")
	s.shows("Copy 2 folders to b.db and replace what is there?")
	s.press("n")
	get("theirs")
	s.press("1", "c", "enter", "down", "enter", "y")
	s.shows("Copied 2 folders from /data/a.db: 2 keys. Press u")
	get("x")
	s.press("u")
	get("theirs")
	s.press("1")
	s.shows("2 rows marked")
}

// typing sends text letter by letter.
func (s *tabbed) typing(text string) {
	for _, r := range text {
		s.press(string(r))
	}
}
