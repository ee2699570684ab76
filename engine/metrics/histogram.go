package metrics

import (
	"math/bits"
	"strconv"
	"sync/atomic"
	"time"
)

// histogram counts times from 1 ns to 1 s to two digits: 128 classes for each doubling, as in HdrHistogram
// (hdrhistogram.github.io), which Redis uses.
type histogram struct {
	classes [classCount]atomic.Uint64
}

const (
	halfBits   = 7
	half       = 1 << halfBits
	longest    = time.Second
	classCount = (22 + 2) * half // for 1e9 ns, which has 30 bits
)

func classOf(ns uint64) int {
	shift := max(bits.Len64(ns)-halfBits-1, 0)
	return shift*half + int(ns>>shift)
}

// highest returns the longest time in a class, in ns.
func highest(class int) uint64 {
	shift := max(class/half-1, 0)
	return uint64(class-shift*half+1)<<shift - 1
}

func (h *histogram) add(took time.Duration, calls uint64) {
	h.classes[classOf(uint64(min(max(took, 1), longest)))].Add(calls)
}

// counts returns a copy of the counts, and their sum.
func (h *histogram) counts() (counts []uint64, total uint64) {
	counts = make([]uint64, classCount)
	if h == nil {
		return counts, 0
	}
	for i := range counts {
		counts[i] = h.classes[i].Load()
		total += counts[i]
	}
	return counts, total
}

// Percentiles returns the times, in ns, that the given percentages of the calls did not exceed.
func (s Stat) Percentiles(percents []float64) []uint64 {
	counts, total := s.times.counts()
	all := make([]uint64, len(percents))
	for i, p := range percents {
		want := max(uint64(min(p, 100)/100*float64(total)+0.5), 1)
		sum := uint64(0)
		for class, n := range counts {
			if sum += n; sum >= want {
				all[i] = highest(class)
				break
			}
		}
	}
	return all
}

// Tracked reports whether the command has a histogram.
func (s Stat) Tracked() bool { return s.times != nil }

// Bar is the number of calls that took at most Micros µs.
type Bar struct{ Micros, Calls int64 }

// Bars returns the bars of LATENCY HISTOGRAM: one per doubling of 1024 ns, without the bars that add no call.
func (s Stat) Bars() []Bar {
	counts, total := s.times.counts()
	var bars []Bar
	sum, before, class := uint64(0), uint64(0), 0
	for level := uint64(1024); sum < total; level *= 2 {
		last := min(classOf(level), classCount-1)
		for ; class <= last; class++ {
			sum += counts[class]
		}
		if sum > before {
			bars = append(bars, Bar{int64(highest(last) / 1000), int64(sum)})
			before = sum
		}
	}
	return bars
}

// PercentileName returns INFO's name of a percentile, such as p99.9.
func PercentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'g', -1, 64) }
