package edit

import (
	"testing"
	"time"
)

func TestLives(t *testing.T) {
	const now = 1_000_000
	for text, want := range map[string]int64{
		"never": 0, "": 0, "90": now + 90_000, "90s": now + 90_000, "5m": now + 300_000, "1h30m": now + 5400_000,
		"7d": now + 7*86400_000, "1d 12h": now + 36*3600_000, "250ms": now + 250,
		"2030-01-02": time.Date(2030, 1, 2, 0, 0, 0, 0, time.Local).UnixMilli(),
	} {
		if got, err := parseTTL(text, now); err != nil || got != want {
			t.Errorf("%q: %d %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "-5", "0", "5 weeks", "d", "99999999d", "2030-13-01"} {
		if got, err := parseTTL(text, now); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
