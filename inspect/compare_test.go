package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// before selects the version of a key before the change whose title starts with change.
func (s *session) before(change string) {
	s.t.Helper()
	s.press("=")
	s.shows("before: " + change)
	for range 20 {
		if strings.Contains(s.screen(), "▌ before: "+change) {
			s.press("enter")
			return
		}
		s.press("down")
	}
	s.t.Fatalf("no version before %q:\n%s", change, s.screen())
}

// TestPast follows a key through changes of all kinds.
func TestPast(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	many := "HSET wide"
	for i := range 300 {
		many += fmt.Sprintf(" field:%03d %s", i, strings.Repeat("x", 1000))
	}
	f.do(many) // a large key is stored in parts
	s := browseOn(t, f, f.fake, 120, 30)
	s.press("w")

	s.choose("wide")
	s.runs("HDEL wide field:007")
	s.runs("HSET cart apple 4")
	s.press("r")
	s.press("ctrl+u")
	s.typing("broad")
	s.press("enter")
	s.choose("broad")
	s.runs("HSET broad field:008 short")
	s.before("HDEL wide")
	s.shows("wide, before: HDEL", "2 differences, 298 equal", "hash · 300 fields", "hash · 299 fields")
	s.press("esc")
	s.before("Renamed to broad")
	s.shows("1 difference, 298 equal")
	s.press("esc")
	s.before("HSET broad")
	s.shows("broad, before: HSET", "1 difference, 298 equal")
	s.press("esc")

	s.runs("EXPIRE broad 100")
	s.runs("SET broad text")
	s.before("SET broad")
	s.shows("string", "expires in 1m 40s", "~ text")
	s.press("esc", "=", "home", "enter")
	s.typing("cart")
	s.press("enter")
	s.shows("hash · 3 fields", "~ apple  4", "text ")

	s.press("esc")
	s.runs("DEL broad")
	s.runs("SET broad new")
	s.choose("broad")
	s.before("SET broad new")
	s.shows("no such key", "+ new")
}
