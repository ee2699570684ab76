package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestSearching finds texts far from the loaded chunks, forwards and backwards.
func TestSearching(t *testing.T) {
	race.Skip(t)
	f := newFake()
	var fields []string
	for i := range 20_000 {
		fields = append(fields, fmt.Sprintf("field:%d", i), "v")
	}
	text := strings.Repeat("line of text\n", 200_000)
	f.add(fakeValue{key: "hash", kind: "hash", elems: fields},
		fakeValue{key: "list", kind: "list", elems: fields},
		fakeValue{key: "string", kind: "string", str: "Needle 1\n" + text + "a needle 2\n" + text + "needle 3 needle 4\n"})
	s := browse(t, f, 80, 24)
	for _, key := range []string{"hash", "list"} {
		s.choose(key)
		s.press("enter", "/")
		s.typing("D:15000")
		s.press("enter")
		s.shows("No other D:15000")
		s.press("/")
		s.typing("field:1999")
		s.press("enter")
		s.shows("▌", "field:1999")
		s.press("n", "n")
		s.shows("field:19991")
		if n, _ := s.model.value.Loaded(); n > 12 {
			t.Errorf("%d chunks are in memory", n)
		}
		s.press("N", "N")
		s.shows("field:1999")
		s.press("N")
		s.shows("No other")
		s.press("esc")
	}
	s.choose("string")
	s.press("enter", "/")
	s.typing("needle")
	s.press("enter")
	s.shows("Needle 1")
	s.press("n")
	s.shows("a needle 2")
	s.press("n")
	s.shows("needle 3 needle 4")
	s.press("n")
	s.press("n")
	s.shows("No other")
	s.press("N", "N")
	s.shows("a needle 2")
	s.press("N")
	s.shows("Needle 1")
}
