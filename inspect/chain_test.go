package inspect

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/test/race"
)

// TestFoldersInARow checks that folders with a single subfolder open and close together.
func TestFoldersInARow(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for _, key := range []string{"a:b:c:1", "a:b:c:2", "m:1:x", "m:2:x", "z:y:w"} {
		f.do("SET " + key + " x")
	}
	for name, s := range map[string]*session{"a file": browseOn(t, f, f.fake, 80, 24), "a server": browseOn(t, f, newFake(), 80, 24)} {
		t.Run(name, func(t *testing.T) {
			s.press("l")
			s.shows("▾ a:", "  ▾ b:", "▌     ▾ c:", "        1 ")
			s.press("h")
			s.shows("▌ ▸ a:")
			s.hides("b:")
			s.press("l", "j", "h", "h")
			s.shows("▌ ▸ a:")
			s.press("j", "l")
			s.shows("▌ ▾ m:", "▸ 1:", "▸ 2:")
			s.press("G", "l")
			s.shows("▌   ▾ y:", "w ")
		})
	}
	// So do folders that contain all keys.
	f = newFile(t)
	f.do("SET app:prod:user:1 x")
	f.do("SET app:prod:job:1 x")
	s := browseOn(t, f, f.fake, 80, 24)
	s.shows("▾ app:", "▾ prod:", "▸ job:", "▸ user:")
}

// TestClickTitles sorts by the clicked column, and reverses the order at the second click.
func TestClickTitles(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	for _, width := range []int{40, 80, 200} {
		s := browseOn(t, f, f.fake, width, 24)
		at := func(title string) {
			t.Helper()
			x := strings.Index(strings.Split(s.screen(), "\n")[2], title)
			s.send(tea.MouseMsg{X: x + 1, Y: 2, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			s.wait(2 * ui.SettleTime)
		}
		size := "ITEMS"
		if width < 54 {
			size = "SIZE"
		}
		at(size)
		s.shows(size + "↓")
		at(size)
		s.shows(size+"↑", "by count, folders by :")
		at("SHARE")
		s.shows(size + "↓")
		s.press("`")
		at("TTL")
		s.shows("TTL↑")
		at("TYPE")
		s.shows("TYP")
		s.hides("TTL↑")
		at("KEY")
		s.shows("all keys")
		at("KEY")
		s.shows("KEY↓")
	}
}

// TestLongNames shows long names of a key and of a folder in full.
func TestLongNames(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	long := strings.Repeat("long/", 40)
	f.do("SET " + long + "end x")
	f.do("SET dir" + long + ":key x")
	s := browseOn(t, f, f.fake, 80, 24)
	for _, way := range [][]string{{"home", "i"}, {"end", "i"}} {
		s.press(way...)
		text := strings.NewReplacer("│", "", "\n", "", " ", "", "▌", "").Replace(s.screen())
		if !strings.Contains(text, long) {
			t.Errorf("the name is cut:\n%s", s.screen())
		}
		s.press("esc")
	}
}
