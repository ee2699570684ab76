// Package histogram stores distributions of durations in little memory.
package histogram

import (
	"math"
	"math/bits"
	"time"
)

// Distribution is a distribution of durations in little memory. Buckets are at most a
// thirty-second wide; minimum, maximum and mean are exact.
type Distribution struct {
	N        int64
	Min, Max time.Duration
	sum      time.Duration
	buckets  [64 * perOctave]int64
}

const perOctave = 32

// Add adds a duration.
func (l *Distribution) Add(d time.Duration) {
	d = max(d, 0)
	if l.N == 0 || d < l.Min {
		l.Min = d
	}
	l.Max = max(l.Max, d)
	l.N++
	l.sum += d
	l.buckets[bucket(uint64(d))]++
}

// bucket numbers below 32 are exact; above, each power of two has 32 of them.
func bucket(ns uint64) int {
	if ns < perOctave {
		return int(ns)
	}
	shift := bits.Len64(ns) - 6
	return shift*perOctave + int(ns>>shift)
}

// Mean returns the mean, or 0 if the distribution is empty.
func (l *Distribution) Mean() time.Duration {
	if l.N == 0 {
		return 0
	}
	return (l.sum + time.Duration(l.N)/2) / time.Duration(l.N)
}

// Quantile returns an upper bound of the given fraction of durations; q is between 0 and 1.
func (l *Distribution) Quantile(q float64) time.Duration {
	rank := int64(math.Ceil(q * float64(l.N)))
	for b, n := range l.buckets {
		if rank -= n; rank <= 0 && n > 0 {
			return max(min(upper(b), l.Max), l.Min)
		}
	}
	return l.Max
}

// upper returns the longest duration of bucket b.
func upper(b int) time.Duration {
	if b < 2*perOctave {
		return time.Duration(b)
	}
	shift := b/perOctave - 1
	return time.Duration(uint64(b-shift*perOctave+1)<<shift - 1)
}
