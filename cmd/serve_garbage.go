package cmd

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// leastGarbage is how many bytes of garbage a server leaves before it is collected. By itself Go
// collects as soon as there is as much of it as memory in use, which in a server is about a megabyte: for
// each thousand commands, at a tenth of what these take of the processor.
const leastGarbage = 16 << 20

// mostPercent is the most of GOGC. The least heap at which Go collects is 4 MB of a hundred of it.
const mostPercent = 400

// collectRarely keeps Go from collecting less garbage than leastGarbage. With more memory in use than
// that Go collects as it would by itself. GOGC in the environment is left alone.
func collectRarely(getenv func(string) string) {
	if getenv("GOGC") == "" {
		collectOnce()
	}
}

var collectOnce = sync.OnceFunc(func() {
	debug.SetGCPercent(mostPercent)
	afterCollection(mostPercent)
})

// afterCollection chooses GOGC, which is percent, anew after each collection.
func afterCollection(percent int) {
	runtime.AddCleanup(new([]byte), func(percent int) {
		if now := percentFor(scanned()); now < percent*9/10 || now > percent*11/10 {
			debug.SetGCPercent(now)
			percent = now
		}
		afterCollection(percent)
	}, percent)
}

// percentFor is GOGC for what Go takes it of: the bytes that were in use at the last collection.
func percentFor(used uint64) int {
	return int(min(max(100*leastGarbage/max(used, 1), 100), mostPercent))
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
