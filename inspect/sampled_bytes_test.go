package inspect

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestBytesOfAServersFolders checks folder sizes on a server: exact for few keys, else an estimate
// marked as such. They cost a few commands, once.
func TestBytesOfAServersFolders(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 1000 {
		f.do(fmt.Sprintf("SET many:%04d %s", i, strings.Repeat("x", 100)))
	}
	f.do("SET few:1 x")
	f.do("SET few:2 x")
	asked := 0
	b := &meddler{Client: f, before: func(calls [][][]byte) {
		for _, call := range calls {
			if string(call[0]) == "MEMORY" {
				asked++
			}
		}
	}}
	s := browseOn(t, b, newFake(), 80, 24)
	screen := s.screen()
	if !regexp.MustCompile(`few: +2 keys +\d+ B\b`).MatchString(screen) || !regexp.MustCompile(`many: +1,000 keys +~\d+ KB`).MatchString(screen) {
		t.Errorf("the bytes are not there:\n%s", screen)
	}
	s.press("i")
	s.shows("few:", "2 keys", "by MEMORY USAGE of each key")
	s.press("esc", "G", "i")
	s.shows("many:", "1,000 keys", "estimated from MEMORY USAGE of 50 keys")
	s.press("esc", "@follow")
	f.do("SET few:3 x")
	s.wait(5 * time.Second)
	if asked != 52 {
		t.Errorf("%d keys were asked about", asked)
	}

	s = browse(t, newFake().plain(10), 80, 24) // it refuses MEMORY
	s.press("i")
	s.shows("10 keys", "Size unknown")
}
