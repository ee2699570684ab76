package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// numberedElements returns n elements of a list, each bytes long and starting with its number.
func numberedElements(n, bytes int) (elems []string) {
	for i := range n {
		elems = append(elems, fmt.Sprintf("%06d ", i)+strings.Repeat("x", bytes))
	}
	return elems
}

// asked returns the most elements that one call of a command fetched, after the first n calls.
func (f *fake) asked(name string, n int) (most int) {
	for _, call := range f.calls[n:] {
		words := strings.Fields(call)
		switch {
		case words[0] != name:
		case name == "HSCAN":
			most = max(most, atoi(words[4]))
		default:
			most = max(most, atoi(words[3])-atoi(words[2])+1)
		}
	}
	return most
}

func TestHeavyElementsComeInSmallParts(t *testing.T) {
	race.Skip(t)
	for _, c := range []struct{ kind, command string }{{"list", "LRANGE"}, {"zset", "ZRANGE"}, {"hash", "HSCAN"}} {
		t.Run(c.kind, func(t *testing.T) {
			f := newFake()
			elems := numberedElements(60, 300<<10)
			if c.kind != "list" {
				elems = nil
				for i, e := range numberedElements(60, 300<<10) {
					elems = append(elems, e, fmt.Sprint(i))
				}
			}
			f.add(fakeValue{key: "k", kind: c.kind, elems: elems})
			s := browse(t, f, 80, 24)
			s.press("enter")
			s.shows("000000", "000017")
			if n := f.asked(c.command, 0); n > 10 {
				t.Errorf("%d elements at once at first", n)
			}
			before := len(f.calls)
			s.press("pgdown", "pgdown")
			s.shows("000034")
			s.press("end")
			s.shows("60 of 60", "000059")
			s.press("pgup")
			s.shows("000042")
			if n := f.asked(c.command, before); n != 1 {
				t.Errorf("%d elements at once then", n)
			}
			_, bytes := s.model.value.Loaded()
			if most := (s.model.pageLines() + 1 + 6) * 300 << 10; bytes > most+most/10 {
				t.Errorf("%d MB in memory", bytes>>20)
			}
		})
	}
}

func TestSmallElementsComeManyAtOnce(t *testing.T) {
	race.Skip(t)
	f := newFake()
	f.add(fakeValue{key: "k", kind: "list", elems: numberedElements(1000, 20)})
	s := browse(t, f, 80, 24)
	s.press("enter", "j", "pgdown", "pgdown")
	s.shows("000035")
	if n, trips := f.asked("LRANGE", 0), f.sent("LRANGE"); n != 100 || trips > 3 {
		t.Errorf("%d elements at once, in %d trips", n, trips)
	}
	s.press("R")
	s.shows("36 of 1,000")
}

// TestHeavyElementsAmongSmallOnes reaches large elements late: the cursor keeps its place, and later
// chunks have fewer elements.
func TestHeavyElementsAmongSmallOnes(t *testing.T) {
	race.Skip(t)
	f := newFake()
	f.add(fakeValue{key: "k", kind: "list", elems: append(numberedElements(250, 20), numberedElements(150, 250<<10)...)})
	s := browse(t, f, 80, 24)
	s.press("enter", "end")
	s.shows("000149", "400 of 400")
	before := len(f.calls)
	s.press("pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup")
	s.shows(fmt.Sprintf("%d of 400", 400-10*s.model.pageLines()))
	if n := f.asked("LRANGE", before); n > 20 {
		t.Errorf("%d heavy elements at once", n)
	}
	s.press("/")
	s.typing("000007")
	s.press("enter", "n")
	s.shows("000007")
}
