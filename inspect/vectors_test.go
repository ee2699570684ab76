package inspect

import "testing"

// TestVectorSet looks at a vector set, at the attributes and the vector of an
// element, and takes changes back.
func TestVectorSet(t *testing.T) {
	f := newFile(t).shop()
	f.do(`VADD vec VALUES 3 1 2 0.5 cat SETATTR {"legs":4}`)
	f.do("VADD vec VALUES 3 -1 2 4 dog")
	s := browseOn(t, f, f.fake, 100, 24)
	s.press("o")
	s.typing("vec")
	s.press("enter")
	s.shows("vectorset · 2 elements", "cat", "dog")
	s.press("enter")
	s.shows(`{"legs":4}`)
	s.press("enter")
	s.shows(`"legs": 4`)
	s.press("esc", "]")
	s.shows("0.503937", "2")
	s.press("esc", "esc")
	before := dumpAll(t, f, f.clock.now)
	s.press("U")
	for _, line := range []string{"VADD vec VALUES 3 1 1 1 emu", "VREM vec cat", "VSETATTR vec dog x", "DEL vec"} {
		s.runs(line)
		if dumpAll(t, f, f.clock.now) == before {
			t.Errorf("%s changed nothing:\n%s", line, s.screen())
		}
		s.press("u")
		if after := dumpAll(t, f, f.clock.now); after != before {
			t.Errorf("%s is not undone:\n%s\n%s", line, before, after)
		}
	}
}
