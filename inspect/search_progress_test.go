package inspect

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/internal/test/race"
)

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// TestSearchingWhatIsNotPlain finds bytes in a hex dump, folded lines, and text in encoded elements.
func TestSearchingWhatIsNotPlain(t *testing.T) {
	race.Skip(t)
	f := newFake()
	noise := strings.Repeat("\xff\x80\x00K", 50_000)
	f.add(fakeValue{key: "blob", kind: "string", str: noise + "Needle\xde\xad\xbe\xef" + noise},
		fakeValue{key: "json", kind: "string", str: `{"a":{"b":{"c":"Needle"}},"z":1}`},
		fakeValue{key: "packed", kind: "list", elems: []string{"plain", gzipped(`{"in":"a needle"}`), base64.StdEncoding.EncodeToString([]byte("one more needle here")), "end"}})
	s := browse(t, f, 80, 24)
	search := func(text string) {
		s.press("/")
		s.typing(text)
		s.press("enter")
	}
	s.choose("blob")
	s.press("enter")
	s.shows("hex")
	search("needle")
	s.shows("00030d40  4e 65 65 64 6c 65 de ad")
	s.press("home")
	search("de ad be ef")
	s.shows("00030d40  4e 65 65 64 6c 65 de ad")
	s.press("n")
	s.shows("No other")
	s.press("end")
	search(`"dle\xde"`)
	s.shows("No other")
	s.press("N")
	s.shows("00030d40")
	s.press("esc")

	s.choose("json")
	s.press("enter", "z")
	s.hides("Needle")
	search("needle")
	s.shows(`▌       "c": "Needle"`)
	s.press("esc")

	s.choose("packed")
	s.press("enter")
	search("needle")
	s.shows("▌ 1")
	s.press("n")
	s.shows("▌ 2")
	s.press("enter")
	s.shows("one more needle here")
	s.press("esc", "N")
	s.shows("▌ 1")
	s.press("enter", "n")
	s.shows(`▌   "in": "a needle"`)
}

// TestSearchShowsItsProgressAndStops searches a long list, and then a list on a server whose replies
// the test controls.
func TestSearchShowsItsProgressAndStops(t *testing.T) {
	f := newFake()
	elems := make([]string, 400_000)
	for i := range elems {
		elems[i] = fmt.Sprintf("element %d", i)
	}
	f.add(fakeValue{key: "list", kind: "list", elems: elems})
	s := browse(t, f, 80, 24)
	s.press("enter", "/")
	s.typing("element 399998")
	before := f.sent("LRANGE")
	s.press("enter")
	s.shows("▌ 399998", "399,999 of 400,000")
	if n := f.sent("LRANGE") - before; n > 4010 {
		t.Errorf("%d pages were asked for", n)
	}
	s.press("/")
	s.typing("element 7")
	s.press("enter")
	s.shows("No other element 7")

	s.press("home", "/")
	s.typing("nowhere")
	h := hang(s)
	h.press("enter")
	for range 12 {
		f.gate <- struct{}{}
	}
	h.tick(job.FrameTime)
	h.tick(3 * time.Second)
	screen := s.screen()
	if !strings.Contains(screen, "searching 3s") || !strings.Contains(screen, "%") || !strings.Contains(screen, "commands") {
		t.Errorf("neither progress nor cost:\n%s", screen)
	}
	h.press("esc")
	s.shows("Stopped.", "list · 400,000 elements")
	h.finish()
	close(f.gate)
	s.press("j")
	s.shows("2 of 400,000")
}

// TestWayToTheEndStops moves to the far end of a hash: the move shows its cost, and Esc stops it
// without leaving the value.
func TestWayToTheEndStops(t *testing.T) {
	f := newFake()
	fields := make([]string, 400_000)
	for i := range fields {
		fields[i] = fmt.Sprintf("field%d", i/2)
	}
	f.add(fakeValue{key: "hash", kind: "hash", elems: fields})
	s := browse(t, f, 80, 24)
	s.press("enter")
	before := f.sent("HSCAN")
	s.press("end")
	s.shows("200,000 of 200,000")
	if n := f.sent("HSCAN") - before; n > 120 {
		t.Errorf("%d pages to the end of 200,000 fields", n)
	}
	if n, _ := s.model.value.Loaded(); n > 6 {
		t.Errorf("%d chunks in memory", n)
	}
	s = browse(t, f, 80, 24)
	s.press("enter")
	h := hang(s)
	h.press("end")
	h.tick(job.FrameTime)
	h.tick(2 * time.Second)
	s.shows("loading 2s")
	h.press("esc")
	s.shows("Stopped.", "hash · 200,000 fields")
	close(f.gate)
	h.finish()
	s.press("j")
	s.shows("▌ field")
}
