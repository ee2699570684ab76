package inspect

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestCountsFollowWhatExpires checks the counts of closed folders and of the database when keys expire
// and no client writes.
func TestCountsFollowWhatExpires(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET s:1 x PX 5000")
	f.do("SET s:2 x")
	f.do("SET g:1 x PX 8000")
	f.do("SET other x")
	s := browseOn(t, f, f.fake, 80, 24)
	s.shows("4 keys", "▸ s:", "2 keys", "▸ g:")
	s.wait(7 * time.Second)
	s.shows("· 3 keys", "▸ g:")
	s.hides("2 keys")
	s.wait(6 * time.Second)
	s.shows("· 2 keys", "▸ s:", "other")
	s.hides("g:", "0 keys")
	s.press("R")
	s.hides("g:", "0 keys")
}

// TestNoGhostFolders checks that a folder disappears when all its keys have expired, even before the
// sweep.
func TestNoGhostFolders(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 5 {
		f.do(fmt.Sprintf("SET ghost:%d x PX 100", i))
		f.do(fmt.Sprintf("SET mixed:in:%d x PX 100", i))
	}
	f.do("SET mixed:living x")
	f.do("SET other x")
	f.clock.now += 1000
	s := browseOn(t, f, f.fake, 80, 24)
	s.hides("ghost", "0 keys")
	s.shows("▸ mixed:", "1 key", "· 2 keys")
	s.press("end", "enter")
	s.press("k", "enter")
	s.hides("in:")
	s.press("O")
	s.hides("ghost")
}

// TestServersForgetWhatExpires checks that expired keys of a scan are in no folder.
func TestServersForgetWhatExpires(t *testing.T) {
	race.Skip(t)
	f := newFake()
	f.add(fakeValue{key: "a:1", kind: "string", str: "x", expires: f.clock.now + 3000}, fakeValue{key: "a:2", kind: "string", str: "x"},
		fakeValue{key: "b:1", kind: "string", str: "x", expires: f.clock.now + 3000}, fakeValue{key: "c", kind: "string", str: "x"})
	s := browse(t, f, 80, 24)
	s.shows("▸ a:", "2 keys")
	s.press("enter", "end", "k", "enter")
	s.shows("▾ a:", "▾ b:")
	s.wait(10 * time.Second)
	s.shows("· 2 keys", "1 key")
	s.hides("b:", "0 keys")
	s.press("home", "enter")
	s.shows("▸ a:", "1 key")
}

// TestOverviewOfAServerInEveryOrder counts each key once and shows which keys were counted.
func TestOverviewOfAServerInEveryOrder(t *testing.T) {
	race.Skip(t)
	for _, keys := range [][]string{nil, {"@sort_back"}, {"s", "T", "enter"}, {"s", "s", "enter", "@sort_back"}, {"s", "t", "enter"}} {
		f := newFake()
		for i := range 60 {
			f.add(fakeValue{key: fmt.Sprintf("%c:%d", 'a'+i%3, i), kind: []string{"string", "list"}[i%2], str: "x", expires: f.clock.now + int64(i*7919%60)*60_000 + 60_000})
		}
		s := browse(t, f, 80, 40)
		s.press(keys...)
		s.press("O", "end")
		s.shows("Largest folders  of scanned keys", "a:                        20  34%", "b:                        20  33%", "c:                        20  33%")
	}
}

// TestAFileThatIsMoved checks that a moved file is reported within a second, until it is back.
func TestAFileThatIsMoved(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET k v")
	start := f.fake.options
	var moved error
	f.fake.options = func(o *Options) {
		start(o)
		o.Moved = func() error { return moved }
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("@follow") // turning off the check for changes does not hide it
	moved = errors.New("the file was moved")
	s.wait(time.Second)
	s.shows("✗ the file was moved")
	s.press("j")
	s.shows("✗ the file was moved")
	moved = nil
	s.wait(time.Second)
	s.hides("the file was moved")
}

// TestUndoOfATTLThatIsOver undoes and redoes TTL changes to a time that has passed: the key or the
// field is deleted, and the reverse restores it.
func TestUndoOfATTLThatIsOver(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET k v")
	f.do("SET ending v PX 5000")
	f.do("HSET h a 1 b 2")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	agrees := func(keys ...string) {
		for _, key := range keys {
			if s.press(key); s.model.Dialog != nil {
				s.press("y")
			}
		}
	}
	there := func(when, want string) {
		t.Helper()
		if got := f.asks("EXISTS k") + f.asks("EXISTS ending") + f.asks("HLEN h"); got != want {
			t.Errorf("%s, %s are there instead of %s:\n%s", when, got, want, s.screen())
		}
	}
	s.choose("ending")
	s.press("@persist")
	s.choose("h")
	s.press("enter", "x", "5", "enter", "esc")
	s.choose("k")
	s.press("x", "5", "enter", "u", "u")
	s.wait(10 * time.Second)
	there("in the beginning", "112")
	agrees("ctrl+r", "ctrl+r")
	there("after the redo", "011")
	agrees("u", "u")
	there("after the undo of the redo", "112")
	agrees("u")
	there("after the undo", "102")
	agrees("ctrl+r")
	there("after the redo of all", "112")
}
