package inspect

import (
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestCompareTabs compares all keys of two tabs, narrows the list, and opens both sides of a key.
func TestCompareTabs(t *testing.T) {
	race.Skip(t)
	for _, width := range []int{40, 100, 200} {
		s := inEqualTabs(t, width, 30)
		s.press("R", "@all keys with")
		s.shows("No difference: 2 keys compared.")
		s.differ()
		s.press("@all keys with")
		s.shows("5 differences", "cart", "value", "type: string | set", "only in a.db", "only in b.db", "ttl")
		s.press("t", "y", "p", "e")
		s.shows("type: string | set")
		s.hides("theirs")
		for range "type" {
			s.press("backspace")
		}
		s.press("c", "a", "r", "t", "enter")
		s.shows("cart in a.db", "cart in b.db", "1 difference, 1 equal")
		s.press("esc")
		s.shows("5 differences")
		s.press("esc")
		// One key is compared with the same key there.
		for range 10 {
			if key, _ := s.tabs.current().model.keys.Current(); key == "mine" {
				break
			}
			s.press("down")
		}
		s.press("=")
		s.shows("another key", "this key in b.db")
		s.press("enter")
		s.shows("mine in a.db", "no such key")
	}
	s := inTabs(t, 80, 24, "a.db")
	s.press("@all keys with")
	s.shows("No other target is open.")
}

// inEqualTabs opens two files with the same keys.
func inEqualTabs(t *testing.T, width, height int) *tabbed {
	s := inTabs(t, width, height, "a.db", "b.db")
	for _, name := range []string{"a.db", "b.db"} {
		for _, key := range []string{"in:", "other:"} {
			s.files[name].do("DEL " + key + name)
		}
		s.files[name].do("HSET cart apple 1 pear 2")
		s.files[name].do("SET same x")
	}
	return s
}

// differ makes the files of inEqualTabs differ in each way.
func (s *tabbed) differ() {
	s.files["a.db"].do("HSET cart pear 3")
	s.files["a.db"].do("SET kind x")
	s.files["b.db"].do("SADD kind x")
	s.files["a.db"].do("SET mine x")
	s.files["b.db"].do("SET theirs x")
	s.files["b.db"].do("EXPIRE same 100")
}

// inDifferingTabs opens two files that differ in each way.
func inDifferingTabs(t *testing.T, width, height int) *tabbed {
	s := inEqualTabs(t, width, height)
	s.differ()
	s.press("R")
	return s
}

// TestManyDifferences lists the first differences of targets with many.
func TestManyDifferences(t *testing.T) {
	race.Skip(t)
	s := inTabs(t, 100, 24, "a.db", "b.db")
	s.tabs.current().model.compare.MaxDifferences = 3
	s.press("@all keys with") // each has two keys of its own
	s.shows("The first 3 differences from ")
	s.hides(" compared")
}
