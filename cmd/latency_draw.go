package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/internal/histogram"
	"github.com/meowdis/meowdis/keyspace/display"
)

// spark draws times as columns of eight heights, scaled to the greatest.
func spark(times []time.Duration) string {
	if len(times) == 0 {
		return ""
	}
	heights := []rune("▁▂▃▄▅▆▇█")
	most := max(slices.Max(times), 1)
	var b strings.Builder
	for _, t := range times {
		b.WriteRune(heights[int64(t)*int64(len(heights)-1)/int64(most)])
	}
	return b.String()
}

// latencyPicture draws the round trips over time, and their distribution, in lines of at most columns characters.
func latencyPicture(l *histogram.Distribution, h *histogram.History, columns int) string {
	times, of := h.Times()
	var b strings.Builder
	each := "each round trip"
	if of > 1 {
		each = fmt.Sprintf("the slowest of each %d", of)
	}
	fmt.Fprintf(&b, "\n%s, up to %s\n%s\n\n", each, briefly(slices.Max(times)), spark(times[max(0, len(times)-columns+1):]))
	ranges := l.Ranges()
	var most int64
	for _, r := range ranges {
		most = max(most, r.N)
	}
	const label, share = len("≤ 500 ms") - len("≤") + 2, len(" 100.0 %")
	room := min(max(columns-label-share-2, 1), 50)
	for _, r := range ranges {
		bar := strings.Repeat("█", int((r.N*int64(room)+most-1)/most))
		fmt.Fprintf(&b, "%s %s%6.1f %%\n", display.Fit("≤ "+briefly(r.To), label), display.Fit(bar, room), 100*float64(r.N)/float64(l.N))
	}
	return b.String()
}
