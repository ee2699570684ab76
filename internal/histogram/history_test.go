package histogram

import (
	"slices"
	"testing"
	"time"
)

// TestHistory keeps the greatest times in order, however many there are.
func TestHistory(t *testing.T) {
	var h History
	for n := 1; n <= 1000; n++ {
		h.Add(time.Duration(n))
		times, per := h.Times()
		if want := (n + per - 1) / per; len(times) != want || len(times) > Slots {
			t.Fatalf("%d places of %d after %d", len(times), per, n)
		}
		for i, got := range times {
			if want := time.Duration(min((i+1)*per, n)); got != want {
				t.Fatalf("after %d: place %d holds %d, want %d", n, i, got, want)
			}
		}
	}
}

func TestRanges(t *testing.T) {
	var l Distribution
	if got := l.Ranges(); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
	for _, d := range []time.Duration{30, 40, 90, 400, 3000} {
		l.Add(d * time.Microsecond)
	}
	us := func(n time.Duration) time.Duration { return n * time.Microsecond }
	want := []Range{{us(50), 2}, {us(100), 1}, {us(200), 0}, {us(500), 1}, {us(1000), 0}, {us(2000), 0}, {us(5000), 1}}
	if got := l.Ranges(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	l = Distribution{}
	l.Add(0)
	l.Add(100 * time.Hour)
	var n int64
	for _, r := range l.Ranges() {
		n += r.N
	}
	if n != 2 {
		t.Errorf("%d of 2 times", n)
	}
}
