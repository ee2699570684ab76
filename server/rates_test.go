package server

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	var p rates
	start := time.Unix(1000, 0)
	for i, look := range []struct {
		after    time.Duration // since the start
		commands uint64
		want     float64
	}{
		{2 * time.Second, 100, 50},
		{2*time.Second + minRateInterval/2, 1000, 50}, // within minRateInterval
		{3 * time.Second, 1100, 1000},
		{4 * time.Second, 10, 10}, // after CONFIG RESETSTAT
		{5 * time.Second, 10, 0},
	} {
		if got := p.update(start, start.Add(look.after), [3]uint64{look.commands})[0]; got != look.want {
			t.Errorf("look %d: %v commands a second, want %v", i, got, look.want)
		}
	}
}
