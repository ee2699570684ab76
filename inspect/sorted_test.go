package inspect

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
)

// orders is a file of so many keys, the last of which is the largest.
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

// runUntil does what cmd does, and the commands that follow from it until done tells to
// stop. It returns those that are left.
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

// TestOrderInTheMaking shows the first keys so far, stops, goes on, and has all keys
// from either end.
func TestOrderInTheMaking(t *testing.T) {
	f := orders(t, 35_000)
	s := browseOn(t, f, f.fake, 80, 24)
	q := s.model.keys.query
	q.order = catalog.BySize
	s.model.search(q)
	looked := func() int64 {
		n, _ := s.model.sorted.Looked()
		return n
	}
	s.runUntil(s.model.fill(), func() bool { return looked() >= 10_000 && len(s.model.keys.rows) > 0 && !s.model.keys.stale })
	s.shows("the first so far · sorted", "of 35,000 keys", "order:")
	s.hides("order:34999", "order:00000")

	s.model.frame = 1 // it has run for a moment
	s.press("esc")
	at := looked()
	s.shows("Stopped. Move on")
	if s.wait(3 * second); looked() != at {
		t.Errorf("it went on to %d keys by itself", looked())
	}
	s.press("down")
	s.shows("order:34999", "2 of 35,000", "SIZE↓")
	s.press("end")
	s.shows("order:00000", "35,000 of 35,000")
	sorted := s.model.sorted
	s.press("S")
	s.shows("order:00000", "1 of 35,000", "SIZE↑")
	if s.model.sorted != sorted {
		t.Error("the other way round it was sorted anew")
	}

	// Another order takes its place, and a filter has one of its own.
	s.press("s", "t", "enter")
	s.shows("TYPE↑", "1 of 35,000")
	s.press("s", "size", "enter", "/")
	s.typing("order:1234")
	s.press("enter")
	s.shows("1 of 10 found", "searched all keys")
	s.press("esc", "s", "n", "enter")
	if s.model.sorted != nil {
		t.Error("the order is kept though the names make it")
	}
}

// TestOrderFollowsChanges sorts few keys again when they change, and says so of many.
func TestOrderFollowsChanges(t *testing.T) {
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("s", "b", "enter")
	s.wait(2 * second)
	f.do("SET largest " + strings.Repeat("x", 5000))
	s.wait(2 * second)
	s.shows("largest", "4.9 KB")

	s.model.outdated = true
	s.shows("changed since it was sorted, r sorts again")
	s.press("r")
	s.hides("changed since")
}
