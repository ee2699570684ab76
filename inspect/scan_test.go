package inspect

import "testing"

// TestFullList scans more keys than a list keeps: + lists those behind them.
func TestFullList(t *testing.T) {
	f := newFake()
	s := browse(t, f, 100, 24)
	f.plain(3000)
	s.model.scan.most = 1000
	s.press("r", "v")
	s.shows("key:00000", "1 of 1,500", "list full, + for the next")
	s.press("+")
	s.shows("key:01500", "1 of 1,500", "behind the first 1,500")
	s.hides("full")
	s.press("end")
	s.shows("key:02999")
	s.press("r")
	s.shows("key:01499", "full")
	s.press("home", "/")
	s.typing("2000")
	s.press("enter")
	s.shows("key:02000", "1 of 1 found")
}
