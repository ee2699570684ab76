package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"

	"github.com/meowdis/meowdis/inspect/client"
)

// TestElementsAreFiltered filters and sorts values of every type on a real server.
func TestElementsAreFiltered(t *testing.T) {
	race.Skip(t)
	conn := oracle.Start(t).Dial(t)
	do := func(words ...string) {
		if v := conn.Do(client.Command(words...)...); v.IsError() {
			t.Fatalf("%v: %s", words, v.Str)
		}
	}
	for i := range 1500 {
		n := fmt.Sprintf("%04d", i)
		do("HSET", "hash", "f"+n, fmt.Sprint(1500-i))
		do("RPUSH", "list", "item "+n)
		do("SADD", "set", "m"+n)
		do("ZADD", "zset", fmt.Sprint(i%7), "p"+n)
		do("XADD", "stream", fmt.Sprintf("%d-1", i+1), "kind", "e"+n)
	}
	s := browseOn(t, real{conn: conn}, newFake(), 80, 24)
	for _, c := range []struct{ key, first, sort, sorted, last string }{
		{"hash", "1 of 24 · of 1,500 fields", "v", "f1427", "f0071"},
		{"list", "item 0142", "v", "item 0142", "item 1429"},
		{"set", "m0142", "m", "m0142", "m1429"},
		{"zset", "p0142", "s", "p0142", "p1427"},
		{"stream", "e0142", "f", "e0142", "e1429"},
	} {
		s.choose(c.key)
		s.press("enter", "&")
		s.typing("142")
		s.press("enter")
		s.shows("of 1,500", c.first)
		if c.key == "list" {
			s.shows("1 of 12 · of 1,500 elements")
		}
		s.press("s", c.sort, "enter", "g")
		s.shows(c.sorted, "by ")
		s.press("@reverse_elements", "g")
		s.shows(c.last)
		s.press("esc")
		s.hides("by ")
		s.press("esc")
	}
}

// TestSiftedElementsChange checks that filtered elements follow changes, and that a search covers the
// shown elements.
func TestSiftedElementsChange(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 40 {
		words := []string{"HSET", "h"}
		for j := range 500 {
			words = append(words, fmt.Sprintf("field:%05d", i*500+j), strings.Repeat("x", 40))
		}
		f.do(strings.Join(words, " "))
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("enter")
	s.press("s", "f", "enter")
	s.shows("1 of 20,000 · of 20,000 fields", "field:00000")
	s.press("@reverse_elements")
	s.shows("field:19999", "by field↓")
	s.press("w", "d", "y")
	s.shows("19,999 fields", "by field↓", "▌ field:19998")
	if s.model.Running(job.Filtering) {
		t.Error("it has not come to its end")
	}
	s.press("u")
	s.shows("20,000 fields", "by field↓", "▌ field:19999")
	s.press("/")
	s.typing("17777")
	s.press("enter")
	s.shows("2,223 of 20,000")
}
