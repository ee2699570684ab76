// Package histogram keeps how long round trips took, in little memory.
package histogram

import (
	"math"
	"math/bits"
	"time"
)

// Distribution is how long things took, in little memory: buckets are at most a
// thirty-second wide, while the least, the greatest and the mean are exact.
type Distribution struct {
	N        int64
	Min, Max time.Duration
	sum      time.Duration
	buckets  [64 * perOctave]int64
}

const perOctave = 32

// Add takes a time in.
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

// Mean is the mean, 0 of none.
func (l *Distribution) Mean() time.Duration {
	if l.N == 0 {
		return 0
	}
	return l.sum / time.Duration(l.N)
}

// Quantile is a time that the given part of all, between 0 and 1, do not exceed.
func (l *Distribution) Quantile(q float64) time.Duration {
	rank := int64(math.Ceil(q * float64(l.N)))
	for b, n := range l.buckets {
		if rank -= n; rank <= 0 && n > 0 {
			return max(min(upper(b), l.Max), l.Min)
		}
	}
	return l.Max
}

// upper is the greatest time of a bucket.
func upper(b int) time.Duration {
	if b < 2*perOctave {
		return time.Duration(b)
	}
	shift := b/perOctave - 1
	return time.Duration(uint64(b-shift*perOctave+1)<<shift - 1)
}
