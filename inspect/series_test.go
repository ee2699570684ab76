package inspect

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestSeries draws a time series above its samples, and deletes a sample.
func TestSeries(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 300 {
		f.do(fmt.Sprintf("TS.ADD temp %d %d", 1_700_000_000_000+i*60_000, i))
	}
	f.do("TS.ADD one 1700000000000 5")
	f.do("TS.CREATE none")
	f.do("BF.ADD seen a")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("o")
	s.typing("temp")
	s.press("enter")
	s.shows("series · 300 samples", "298.5 ", "0.5 ▁", "█", "2023-11-14 22:13:20.000", "2023-11-15 03:12:20.000", "▌ 1700000000000      0  2023-11-14", "1 of 300")
	if bars := strings.Count(s.screen(), "█"); bars < 120 || bars > 220 {
		t.Errorf("the rising line has %d full blocks:\n%s", bars, s.screen())
	}
	s.press("end")
	s.shows("300 of 300", "1700017940000    299  2023-11-15 03:12:20.000")
	s.press("w", "d", "y")
	s.wait(1e9)
	s.shows("series · 299 samples", "Deleted 1700017940000")
	s.press("u")
	s.wait(1e9)
	s.shows("series · 300 samples")
	s.send(tea.WindowSizeMsg{Width: 40, Height: 12})
	s.shows("TIMESTAMP", "▁", "█")
	s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	for key, shows := range map[string][]string{"one": {"series · 1 sample ", "1700000000000      5"}, "none": {"series · 0 samples", "Empty."}, "seen": {"bloom · no expiry", "Capacity: 100"}} {
		s.press("esc", "esc", "o")
		s.typing(key)
		s.press("enter")
		s.shows(shows...)
	}
}
