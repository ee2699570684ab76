package cmd

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// A server collects minGarbage bytes of garbage or more at a time. By default Go collects when the
// garbage equals the memory in use, which is about a megabyte in a server: once per thousand commands, which costs a
// tenth of their processor time.
const minGarbage = 16 << 20

// maxGOGC limits GOGC. Go never collects below a heap of 4 MB at GOGC=100.
const maxGOGC = 400

// collectRarely sets GOGC so that Go collects at minGarbage or more. With more memory in use Go collects as it does
// by default. GOGC in the environment takes precedence.
func collectRarely(getenv func(string) string) {
	if getenv("GOGC") == "" {
		collectOnce()
	}
}

var collectOnce = sync.OnceFunc(func() {
	debug.SetGCPercent(maxGOGC)
	afterCollection(maxGOGC)
})

// afterCollection recalculates GOGC after each collection. percent is its current value.
func afterCollection(percent int) {
	runtime.AddCleanup(new([]byte), func(percent int) {
		if now := percentFor(scanned()); now < percent*9/10 || now > percent*11/10 {
			debug.SetGCPercent(now)
			percent = now
		}
		afterCollection(percent)
	}, percent)
}

// percentFor returns GOGC for used bytes of memory at the last collection.
func percentFor(used uint64) int {
	return int(min(max(100*minGarbage/max(used, 1), 100), maxGOGC))
}

func scanned() (bytes uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			bytes += s.Value.Uint64()
		}
	}
	return bytes
}
