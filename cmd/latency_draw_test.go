package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/internal/histogram"
)

// TestLatencyPicture draws what was measured, in windows of any width.
func TestLatencyPicture(t *testing.T) {
	var l histogram.Distribution
	var h histogram.History
	for _, d := range []time.Duration{40, 40, 40, 90, 400} {
		l.Add(d * time.Microsecond)
		h.Add(d * time.Microsecond)
	}
	got := latencyPicture(&l, &h, 40)
	for _, want := range []string{"each round trip, up to 400 µs\n▁▁▁▂█\n", "≤ 50 µs ", "60.0 %", "≤ 500 µs", "20.0 %"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	for _, columns := range []int{40, 80, 200} {
		for line := range strings.Lines(latencyPicture(&l, &h, columns)) {
			if ansi.StringWidth(strings.TrimRight(line, "\n")) >= columns {
				t.Errorf("too wide for %d: %q", columns, line)
			}
		}
	}
	if spark(nil) != "" || spark([]time.Duration{0}) != "▁" {
		t.Error("of nothing")
	}
}
