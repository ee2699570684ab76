package inspect

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/internal/test/race"
)

// TestCopyBetweenTabs copies marked keys to another tab, where the copy can be undone. It does not
// overwrite keys without asking, and fails where writing is locked.
func TestCopyBetweenTabs(t *testing.T) {
	alone := inTabs(t, 80, 24, "a.db")
	alone.press("c")
	alone.shows("No other target is open. Press ^T to open one.")

	s := inTabs(t, 80, 24, "a.db", "b.db")
	s.press("*", "c")
	s.shows("Copy 2 folders to", "b.db", "db 0, locked")
	s.press("enter")
	s.shows("b.db is locked: press w in its tab first.")
	s.press("2", "w", ":")
	s.typing("SET in:a.db theirs")
	s.press("enter", "1", "c", "enter")
	s.shows("Keys that already exist in b.db", "keep them")
	s.press("enter")
	s.shows("/data/b.db", "Copied 2 folders from /data/a.db: 1 key; 1 already exists. Press u to undo it.", "4 keys")
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
	s.shows("Copy 2 folders to b.db and replace existing keys?")
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

// typing types text letter by letter.
func (s *tabbed) typing(text string) {
	for _, r := range text {
		s.press(string(r))
	}
}

// meanwhile lets another client run commands on a target once, right before the transaction that
// renames the copied keys.
func (s *tabbed) meanwhile(name, lines string) {
	s.before = func(at string, calls [][][]byte) {
		if at == name && holdsMulti(calls) && slices.ContainsFunc(calls, func(c [][]byte) bool { return strings.HasPrefix(string(c[0]), "RENAME") }) {
			s.before = nil
			s.files[name].theirs(lines)
		}
	}
}

// has fails the test if a target's reply to a command is not want.
func (s *tabbed) has(name, want string, command ...string) {
	s.t.Helper()
	v, err := s.files[name].session.Do(context.Background(), client.Command(command...)...)
	if got := client.Text(v); err != nil || got != want && client.Decimal(v.Int) != want {
		s.t.Errorf("%s: %q is %q %d %v, want %q", name, command, got, v.Int, err, want)
	}
}

// TestCopyAmongOthers copies while another client creates, changes and deletes the same keys. The other
// client's keys are overwritten only after a question, and undo restores their last version.
func TestCopyAmongOthers(t *testing.T) {
	race.Skip(t)
	s := inTabs(t, 80, 24, "a.db", "b.db")
	s.files["a.db"].theirs("RPUSH list 1 2 3\nEXPIRE list 500")
	s.press("2", "w", "1", "*", "c", "enter")
	s.meanwhile("b.db", "SET in:a.db theirs")
	s.press("enter")
	s.shows("keys; 1 already exists. Press u")
	s.has("b.db", "theirs", "GET", "in:a.db")
	s.has("b.db", "3", "LLEN", "list")
	s.has("b.db", "500", "TTL", "list")
	s.press("u")
	s.shows("Undone")
	s.has("b.db", "theirs", "GET", "in:a.db")
	s.has("b.db", "0", "EXISTS", "list", "other:a.db")

	s.press("1", "c", "enter", "down", "enter")
	s.meanwhile("b.db", "APPEND in:a.db !\nSET list late")
	s.press("y")
	s.shows("3 keys. Press u")
	s.has("b.db", "x", "GET", "in:a.db")
	s.has("b.db", "3", "LLEN", "list")
	s.press("u")
	s.shows("Undone")
	s.has("b.db", "theirs!", "GET", "in:a.db")
	s.has("b.db", "late", "GET", "list")
	s.has("b.db", "0", "EXISTS", "other:a.db")
	s.has("b.db", "4", "DBSIZE")
}

// TestCopyOfChangingKeys checks that a key read in many steps is copied as of one moment, although
// another client changes it.
func TestCopyOfChangingKeys(t *testing.T) {
	race.Skip(t)
	s := inTabs(t, 80, 24, "a.db", "b.db")
	a := s.files["a.db"]
	for range 20 {
		a.theirs("RPUSH list" + strings.Repeat(" old", 1000))
	}
	s.press("2", "w", "1", "*", "c", "enter")
	begun := false
	s.before = func(at string, calls [][][]byte) {
		if at != "a.db" || string(calls[0][0]) != "LRANGE" {
			return
		}
		if begun { // the first part was read; the length stays
			s.before = nil
			a.theirs("LSET list 0 new\nLSET list -1 new")
		}
		begun = true
	}
	s.press("enter")
	s.shows("3 keys. Press u")
	if s.before != nil {
		t.Fatal("the list was read at once")
	}
	s.has("b.db", "new", "LINDEX", "list", "0")
	s.has("b.db", "new", "LINDEX", "list", "-1")
	s.has("b.db", "20000", "LLEN", "list")
	s.has("b.db", "5", "DBSIZE")
}

// TestCopyWithinADatabase copies a key to a new name, and refuses an existing name.
func TestCopyWithinADatabase(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	before := dumpAll(t, f, f.clock.now)
	s := browseOn(t, f, f.fake, 80, 24)
	s.choose("cart")
	s.press("c")
	s.shows("The inspector is read-only")
	s.press("w", "c")
	s.shows("Copy cart", "cart▏")
	s.typing("s")
	s.press("enter")
	s.shows("Copied to carts.", "102 keys", "▌ carts")
	s.press("u")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Error(firstDifference(before, got))
	}
	s.choose("cart")
	s.press("c", "ctrl+u")
	s.typing("tags")
	s.press("enter")
	s.shows("the key already exists", "Copy cart")
	s.press("esc")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Error(firstDifference(before, got))
	}
}
