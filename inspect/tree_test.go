package inspect

import (
	"fmt"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestScrollingMeetsEveryRow scrolls down and up through more rows than the window holds, and sees each
// once.
func TestScrollingMeetsEveryRow(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 3000 {
		f.do(fmt.Sprintf("SET user:%d:%04d x", i%3, i))
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("j", "enter") // user: is already open
	walk := func(key string) (seen []string) {
		for {
			at := s.model.keys.SelectedName()
			seen = append(seen, at)
			s.send(namedKeys[key])
			if s.model.keys.SelectedName() == at {
				return seen
			}
			if n := s.model.keys.Loaded(); n > 1000 {
				t.Fatalf("%d rows are in memory", n)
			}
		}
	}
	s.press("home")
	down := walk("down")
	up := walk("up")
	slices.Reverse(up)
	if len(down) != 1004 || !slices.Equal(down, up) {
		t.Errorf("%d rows downwards, %d upwards", len(down), len(up))
	}
	s.press("end")
	up = walk("up")
	slices.Reverse(up)
	if !slices.Equal(down, up) {
		t.Errorf("from the end: %d rows", len(up))
	}
	s.press("G", "k", "k", "k", "h", "h")
	s.shows("▌   ▸ 0:", "1,000 keys", "▸ 1:")
}

// TestFollowing shows another client's writes.
func TestFollowing(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 120, 24)
	s.choose("board")
	s.wait(time.Second)
	f.do("ZADD board 99 dan")
	f.do("SET aardvark 1")
	f.do("DEL tags")
	s.wait(2 * time.Second)
	s.shows("▌ board", "dan", "101 keys", "zset · 4 members", "2 of 101")
	s.press("home")
	s.shows("aardvark")
	s.press("end")
	s.hides("tags")
	s.press("@follow")
	s.shows("Not following changes")
	f.do("SET zebra 1")
	s.wait(3 * time.Second)
	s.hides("zebra")
	s.press("R", "end")
	s.shows("102 keys", "zebra")
}

func TestPasteIsNoCommand(t *testing.T) {
	race.Skip(t)
	s := browse(t, newFake().zoo(), 80, 24)
	before := s.screen()
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("vq"), Paste: true})
	if s.screen() != before {
		t.Error("what was pasted was taken for keys")
	}
}
