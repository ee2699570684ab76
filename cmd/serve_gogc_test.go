package cmd

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPercentOfGarbage(t *testing.T) {
	const mb = 1 << 20
	for used, want := range map[uint64]int{0: 400, 1: 400, 1 * mb: 400, 4 * mb: 400, 8 * mb: 200, 12 * mb: 133, 16 * mb: 100, 1000 * mb: 100} {
		if got := percentFor(used); got != want {
			t.Errorf("%d bytes: %d, want %d", used, got, want)
		}
	}
}

// TestCollectRarely chooses anew when more memory is in use, and again when it is free.
func TestCollectRarely(t *testing.T) {
	collectRarely(func(string) string { return "" })
	comesTo := func(what string, right func(percent int) bool) {
		t.Helper()
		for late := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Millisecond) {
			runtime.GC()
			percent := debug.SetGCPercent(maxGOGC)
			if debug.SetGCPercent(percent); right(percent) {
				return
			}
			if time.Now().After(late) {
				t.Fatalf("%s: %d", what, percent)
			}
		}
	}
	much := make([]byte, 64<<20)
	comesTo("with much in use", func(percent int) bool { return percent == 100 })
	runtime.KeepAlive(much)
	comesTo("with little in use", func(percent int) bool { return percent > 100 })
}
