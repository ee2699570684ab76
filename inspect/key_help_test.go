package inspect

import (
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/test/race"
)

// TestEscKeepsTheKey checks that the cursor stays on its key when the filter is removed.
func TestEscKeepsTheKey(t *testing.T) {
	race.Skip(t)
	for what, c := range map[string]struct {
		keys  []string
		shows string
	}{
		"a filter that is typed":      {[]string{"/", "2", "7", "esc"}, "▌       27"},
		"a filter":                    {[]string{"/", "2", "7", "enter", "esc"}, "▌       27"},
		"a type":                      {[]string{"t", "home", "down", "down", "enter", "end", "esc"}, "▌     29"},
		"a filter that finds nothing": {[]string{"G", "/", "n", "o", "p", "e", "esc"}, "▌ ▸ user:"},
		"a filter in an order":        {[]string{"s", "down", "down", "enter", "/", "s", "e", "r", ":", "2", "7", "enter", "esc"}, "▌     27"},
		"a filter by bytes":           {[]string{"s", "b", "enter", "/", "s", "e", "r", ":", "2", "7", "enter", "esc"}, "▌     27"},
		"a filter in reverse":         {[]string{"@sort_back", "/", "s", "e", "r", ":", "2", "7", "enter", "esc"}, "▌ user:27"},
		"a flat order":                {[]string{"`", "s", "b", "enter", "G", "esc"}, "▌ tags"},
		"an order of folders":         {[]string{"s", "count", "enter", "j", "esc"}, "▌ ▸ session:"},
		"a flat order as a tree":      {[]string{"`", "s", "b", "enter", "/", "r", ":", "2", "7", "enter", "esc", "`"}, "▌     27"},
		"a filter by size":            {[]string{"/", "u", "s", "e", "r", " ", ">", "9", "enter", "j", "esc"}, "▌     "},
		"an order by bytes":           {[]string{"s", "b", "enter", "/", "r", ":", "2", "7", "enter", "esc", "esc"}, "▌     27"},
		"a reversed list":             {[]string{"@sort_back", "j", "j", "esc"}, "▌     27"},
		"a flat list":                 {[]string{"`", "G", "k", "k", "`"}, "▌     27"},
		"a filter within a filter":    {[]string{"/", "u", "s", "e", "r", "enter", "down", "/", "x", "esc"}, "▌ user:01"},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFile(t).shop()
			s := browseOn(t, f, f.fake, 80, 24)
			for _, key := range c.keys {
				s.press(key)
			}
			s.shows(c.shows)
			if what == "a filter" {
				s.press("k")
				s.shows("▌       26")
			}
		})
	}
	t.Run("a server", func(t *testing.T) {
		s := browse(t, newFake().plain(3000), 80, 24)
		s.press("/", "2", "7", "0", "0", "enter", "esc")
		s.shows("▌     02700")
		s.press("k")
		s.shows("▌     02699")
	})
	// A sorted scan of a server knows all names and does not scan again.
	t.Run("an order of a server", func(t *testing.T) {
		f := newFake().plain(3000)
		s := browse(t, f, 80, 24)
		s.press("s", "t", "enter", "G")
		s.shows("3,000 of 3,000")
		asked := f.sent("SCAN")
		s.press("esc")
		s.shows("folders by :", "▌     02999")
		s.press("k")
		s.shows("▌     02998")
		if n := f.sent("SCAN") - asked; n > 0 {
			t.Errorf("it was scanned again, with %d pages", n)
		}
	})
	// A key that the scan has not reached yet is in the tree all the same.
	t.Run("a scan that paused", func(t *testing.T) {
		f := newFake().plain(106_000)
		s := browse(t, f, 80, 24)
		s.press("/")
		s.typing("key:105999")
		s.press("enter", "+", "esc")
		s.shows("▌     105999", "paused")
	})
}

// TestJAndKMove checks j and k in every menu, whatever its items start with.
func TestJAndKMove(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	for _, menu := range []string{"t", "@filter_ttl", "s", "0", "y", "a", "@log"} {
		s.press(menu)
		p, ok := s.model.Dialog.(*ui.Picker)
		if !ok {
			t.Fatalf("%s opens no menu", menu)
		}
		at := p.At
		if s.press("j"); p.At != at+1 {
			t.Errorf("%s: j goes from %d to %d", menu, at, p.At)
		}
		if s.press("k"); p.At != at {
			t.Errorf("%s: k goes to %d, not back to %d", menu, p.At, at)
		}
		s.press("esc")
	}
}

// TestHelpBeginsWithTheEssentials checks the help on the smallest screen.
func TestHelpBeginsWithTheEssentials(t *testing.T) {
	race.Skip(t)
	for _, keys := range [][]string{{"?"}, {"enter", "?"}} {
		s := browse(t, newFake().plain(10), 40, 12)
		s.press(keys...)
		s.shows("? help   / ", "q quit")
	}
}

// TestWhatIsAlwaysOnTheScreen checks the profile and the write state.
func TestWhatIsAlwaysOnTheScreen(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Profile, o.Color = "prod", 1
	}
	for _, size := range [][2]int{{20, 5}, {32, 8}, {40, 12}, {80, 24}, {200, 50}} {
		s := browseOn(t, f, f.fake, size[0], size[1])
		lock := map[bool][2]string{true: {"RO", "RW"}, false: {"read-only", "WRITING"}}[size[0] < 60]
		s.shows(" prod", lock[0])
		s.press("?")
		s.shows(" prod", lock[0])
		s.press("esc", "w")
		if size[0] >= minWidth {
			s.shows(" prod", lock[1])
		}
	}
}

// TestWords checks wordings that were wrong once.
func TestWords(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for _, key := range []string{"a", "b", "c"} {
		f.do("SET " + key + " 1 PX 90000")
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "space", "space", "@persist")
	s.shows("Remove the TTL of 2 keys?", "✓ a")
	s.press("y")
	s.shows("Removed the TTL of 2 keys")
	s.press("g", "@persist")
	s.shows("Removed the TTL of a")
	s.press("space", "space", "x", "9", "0", "enter", "y")
	s.shows("Set the TTL of 2 keys to 1m 30s")
	s.press("g", "enter")
	f.theirs("DEL a")
	s.wait(2 * time.Second)
	s.press("e")
	s.shows("This key no longer exists.")

	locked := newFile(t)
	locked.do("SET a " + strings.Repeat("x", 5000))
	locked.fake.options = func(o *Options) { o.Index = locked.index }
	s = browseOn(t, locked, locked.fake, 80, 24)
	for _, key := range []string{"d", "a", "r", "x", "@persist", "u"} {
		s.press(key)
		s.shows("This target is read-only.")
		s.hides("unlock")
	}
}
