package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Graph draws the samples of an event. ok is false if it has none.
func (l *Latency) Graph(event string) (graph string, ok bool) {
	samples, most := l.of(event)
	if len(samples) == 0 {
		return "", false
	}
	high, low := samples[0].millis, samples[0].millis
	for _, s := range samples {
		high, low = max(high, s.millis), min(low, s.millis)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s - high %d ms, low %d ms (all time high %d ms)\n%s\n", event, high, low, most, strings.Repeat("-", graphWidth))
	now := l.now()
	for len(samples) > 0 {
		some := samples[:min(graphWidth, len(samples))]
		drawBars(&b, some, low, high)
		drawAges(&b, some, now)
		samples = samples[len(some):]
	}
	return b.String(), true
}

const (
	graphWidth = 80
	graphRows  = 4
)

// drawBars draws bars in rows of three levels each.
func drawBars(b *strings.Builder, samples []sample, low, high int64) {
	const levels = "_o#"
	const steps = graphRows * int64(len(levels))
	for row := graphRows - 1; row >= 0; row-- {
		for _, s := range samples {
			height := int64(0)
			if high > low {
				height = min((s.millis-low)*steps/(high-low), steps-1)
			}
			switch at := height - int64(row*len(levels)); {
			case at < 0:
				b.WriteByte(' ')
			case at < int64(len(levels)):
				b.WriteByte(levels[at])
			default:
				b.WriteByte('|')
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString(strings.Repeat(" ", len(samples)) + "\n")
}

// drawAges writes the age of each sample below its bar, from top to bottom.
func drawAges(b *strings.Builder, samples []sample, now int64) {
	ages, longest := make([]string, len(samples)), 0
	for i, s := range samples {
		ages[i] = age(now - s.second)
		longest = max(longest, len(ages[i]))
	}
	for at := range longest {
		for _, text := range ages {
			if at < len(text) {
				b.WriteByte(text[at])
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
}

// age formats seconds in the largest unit that fits.
func age(seconds int64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 60*60:
		return fmt.Sprintf("%dm", seconds/60)
	case seconds < 24*60*60:
		return fmt.Sprintf("%dh", seconds/3600)
	}
	return fmt.Sprintf("%dd", seconds/86400)
}

// Report returns the reply to LATENCY DOCTOR, in our own words.
func (l *Latency) Report() string {
	if l.threshold.Load() <= 0 {
		return "The latency monitor is off: CONFIG SET latency-monitor-threshold MILLISECONDS turns it on.\n"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) == 0 {
		return "No event has reached latency-monitor-threshold so far.\n"
	}
	var b strings.Builder
	for _, event := range slices.SortedFunc(maps.Keys(l.events), cmp.Compare[string]) {
		s := l.events[event]
		sum := int64(0)
		for _, one := range s.samples {
			sum += one.millis
		}
		n := int64(len(s.samples))
		fmt.Fprintf(&b, "%s: %d slow seconds, %d ms on average, at most %d ms ever, the last one %s ago.\n",
			event, n, sum/n, s.most, age(l.now()-s.samples[n-1].second))
	}
	b.WriteString("\nSLOWLOG GET lists the commands that took long; LATENCY HISTORY EVENT and LATENCY GRAPH EVENT show when.\n" +
		"The time of a command grows with its elements and keys: ask for less at a time.\n")
	return b.String()
}
