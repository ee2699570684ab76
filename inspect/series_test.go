package inspect

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/redis/resp"
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

// TestUndoRestoresCompactionRules deletes the source of rules, a target, and both, and undoes and redoes it.
func TestUndoRestoresCompactionRules(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("TS.CREATE source")
	for _, target := range []string{"avg", "max"} {
		f.do("TS.CREATE " + target)
		f.do("TS.CREATERULE source " + target + " AGGREGATION " + strings.ToUpper(target) + " 1000")
	}
	for i := range 25 {
		f.do(fmt.Sprintf("TS.ADD source %d %d", 1_700_000_000_000+i*100, i))
	}
	f.do("SET other x")
	reply := func(line string) string {
		v, err := f.session.Do(context.Background(), client.Command(strings.Fields(line)...)...)
		if err != nil {
			t.Fatal(err)
		}
		return string(resp.AppendJSON(nil, v))
	}
	s := browseOn(t, f, f.fake, 80, 24)
	// state is what a client sees of the rules: their list, the closed buckets, and the open ones.
	state := func() string {
		var b strings.Builder
		for _, line := range []string{"TS.INFO source", "TS.INFO avg", "TS.RANGE source - +", "TS.RANGE avg - + LATEST", "TS.RANGE max - + LATEST"} {
			fmt.Fprintln(&b, reply(line))
		}
		return b.String()
	}
	press := func(key string) {
		s.press(key)
		if _, asks := s.model.Dialog.(*edit.Confirmation); asks {
			s.press("y")
		}
	}
	before := state()
	s.press("w")
	for _, line := range []string{"DEL source", "DEL source avg max", "UNLINK max source", "FLUSHALL", "RENAME other source"} {
		s.runs(line)
		after := state()
		if after == before {
			t.Errorf("%s changed nothing:\n%s", line, s.screen())
		}
		press("u")
		s.shows("Undone")
		if got := state(); got != before {
			t.Errorf("%s is not undone:\n%s\n%s", line, before, got)
		}
		press("ctrl+r")
		s.shows("Redone")
		if got := state(); got != after {
			t.Errorf("%s is not redone:\n%s\n%s", line, after, got)
		}
		press("u")
		if got := state(); got != before {
			t.Errorf("%s is not undone again:\n%s\n%s", line, before, got)
		}
	}
	// A rule that is restored with its target alone begins with the next sample.
	for i, line := range []string{"DEL avg", "TS.DELETERULE source avg"} {
		s.runs(line)
		press("u")
		s.shows("Undone")
		f.do(fmt.Sprintf("TS.ADD source %d 7", 1_700_000_010_000+i*10_000))
		f.do(fmt.Sprintf("TS.ADD source %d 9", 1_700_000_015_000+i*10_000))
		if got := reply("TS.GET avg"); got != fmt.Sprintf(`[%d,"7"]`, 1_700_000_010_000+i*10_000) {
			t.Errorf("%s: the target is not filled again: %s", line, got)
		}
	}
	// A rule whose target is gone is named.
	s.runs("DEL source")
	f.do("DEL max")
	press("u")
	s.shows("without the compaction rule from source into max")
}
