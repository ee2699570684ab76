package inspect

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/internal/test/race"
)

// orders returns a file with the given number of keys, the last one the largest.
func orders(t *testing.T, keys int) *file {
	f := newFile(t)
	for i := 0; i < keys; i += 1000 {
		var line strings.Builder
		line.WriteString("MSET")
		for j := i; j < min(i+1000, keys); j++ {
			fmt.Fprintf(&line, " order:%05d %s", j, strings.Repeat("x", 1+j/500))
		}
		f.do(line.String())
	}
	return f
}

// runUntil runs cmd and the commands that follow from it until done returns true. It returns the
// commands left.
func (s *session) runUntil(cmd tea.Cmd, done func() bool) (left []tea.Cmd) {
	left = []tea.Cmd{cmd}
	for len(left) > 0 && !done() {
		next := left[0]
		left = left[1:]
		for _, msg := range results(next) {
			_, cmd := s.model.Update(msg)
			left = append(left, cmd)
		}
	}
	return left
}

// TestOrderInTheMaking shows the first keys so far, stops, continues, and lists all keys from either
// end.
func TestOrderInTheMaking(t *testing.T) {
	race.Skip(t)
	f := orders(t, 35_000)
	s := browseOn(t, f, f.fake, 80, 24)
	var cmd tea.Cmd
	for _, key := range []string{"`", "s", "count", "enter"} {
		s.run(cmd)
		_, cmd = s.model.Update(keyMsg(key))
	}
	looked := regexp.MustCompile(`sorted ([1-3]\d,\d{3}) of`)
	s.runUntil(cmd, func() bool { return !strings.Contains(s.screen(), "order:00000") && looked.MatchString(s.screen()) })
	s.shows("the first so far · sorted", "of 35,000 keys", "order:")
	s.hides("order:34999", "order:00000")

	s.model.Frame = 1 // it has run for a moment
	at := looked.FindString(s.screen())
	s.press("esc")
	s.shows("Stopped. Press")
	s.wait(3 * time.Second)
	s.press("?", "esc")
	s.shows(at) // it does not continue by itself
	s.press("down")
	s.shows("order:34999", "2 of 35,000", "ITEMS↓")
	s.press("end")
	s.shows("order:00000", "35,000 of 35,000")
	s.press("@sort_back")
	s.shows("order:00000", "1 of 35,000", "ITEMS↑")

	// Another order replaces it, and a filter has its own order.
	s.press("s", "t", "enter")
	s.shows("TYPE↑", "1 of 35,000")
	s.press("s", "count", "enter", "/")
	s.typing("order:1234")
	s.press("enter")
	s.shows("1 of 10 found", "searched all keys")
}

// TestOrderFollowsChanges sorts few keys again when they change, and reports an outdated order of many.
func TestOrderFollowsChanges(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("s", "b", "enter")
	s.wait(2 * time.Second)
	f.do("SET largest " + strings.Repeat("x", 5000))
	s.wait(2 * time.Second)
	s.shows("largest", "4.9 KB")
}

// TestTreeInOrder sorts the folders of a file and of a server, and filters by size.
func TestTreeInOrder(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("MSET a:1 " + strings.Repeat("x", 96) + " a:2 " + strings.Repeat("x", 196) + " b:1 " + strings.Repeat("x", 596) + " c 1")
	f.do("SET b:2 " + strings.Repeat("x", 96) + " EX 60")
	for what, s := range map[string]*session{"a file": browseOn(t, f, f.fake, 80, 24), "a server": browse(t, f.fake, 80, 24)} {
		lines := func(want ...string) {
			t.Helper()
			screen := s.screen()
			for _, line := range want {
				at := strings.Index(screen, line)
				if at < 0 {
					t.Fatalf("%s: %q is missing or not in order:\n%s", what, line, s.screen())
				}
				screen = screen[at+1:]
			}
		}
		s.press("s", "bytes", "enter")
		s.wait(2 * time.Second)
		s.shows("by bytes, folders by :")
		lines("SHARE", "BYTES↓", "▸ b:", "▸ a:", "c")
		s.press("enter")
		lines("▾ b:", "    1 ", "    2 ", "▸ a:")
		s.press("@sort_back")
		s.wait(time.Second)
		lines("BYTES↑", "c ", "▸ a:", "▾ b:", "    2 ", "    1 ")
		s.press("s", "TTL", "enter")
		s.wait(time.Second)
		lines("TTL↑", "▾ b:", "s ", "    2 ", "s ", "▸ a:", "—")
		s.press("esc")
		s.shows("all keys, folders by :")
		s.press("/")
		s.typing(">150")
		s.press("enter")
		s.wait(time.Second)
		lines("BYTES↓", "b:1", "a:2")
		s.hides("a:1", "▸")
		s.press("/")
		s.typing(" a:")
		s.press("enter")
		s.wait(time.Second)
		s.shows("1 of 1 found", "a:2")
	}
}
