package inspect

import (
	"regexp"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestFirstScreen checks the overview of a selected folder, beside the list and below it, and that it
// follows changes.
func TestFirstScreen(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {200, 50}, {80, 30}} {
		f := newFile(t).shop()
		s := browseOn(t, f, f.fake, size[0], size[1])
		s.shows("zset · 3 members")
		s.press("j")
		s.shows("101 keys, 11 KB in /data/app.db", "Types", "string        ", "61%")
		if size[0] > 100 {
			s.shows("Largest folders", "9.1 KB", "Expires next", "session:0", "Time to live")
		}
		f.theirs("SET another 1")
		s.wait(10 * time.Second)
		s.shows("102 keys, 11 KB")
		s.press("j")
		s.shows("hash · 3 fields")
		s.hides("Types")
	}
}

// TestOverviewAddsUp checks that shares are of the whole.
func TestOverviewAddsUp(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 120, 40)
	s.press("j")
	total := 0
	for _, line := range []string{"string", "hash", "list", "json", "array", "set", "stream", "zset"} {
		total += shareOn(t, s.screen(), " "+line+" ")
	}
	if total != 100 {
		t.Errorf("the types are %d%% of the keys:\n%s", total, s.screen())
	}
}

// shareOn returns the percentage in the row of the overview that begins with name.
func shareOn(t *testing.T, screen, name string) int {
	t.Helper()
	m := regexp.MustCompile(`│ *` + name + ` +\d+ +(\d+)%`).FindStringSubmatch(screen)
	if m == nil {
		t.Fatalf("no share of %q:\n%s", name, screen)
	}
	return atoi(m[1])
}
