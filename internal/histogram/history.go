package histogram

import "time"

// History keeps a series of durations, oldest first, in at most Slots slots. Each slot holds
// the maximum of the same number of durations.
type History struct {
	slots []time.Duration
	per   int // durations per slot
	last  int // durations in the last slot
}

// Slots is the maximum number of slots of a History.
const Slots = 60

// Add adds a duration. When the slots are full, pairs of them are merged.
func (h *History) Add(d time.Duration) {
	if h.last > 0 && h.last < h.per {
		h.slots[len(h.slots)-1] = max(h.slots[len(h.slots)-1], d)
		h.last++
		return
	}
	if len(h.slots) == Slots {
		for i := range Slots / 2 {
			h.slots[i] = max(h.slots[2*i], h.slots[2*i+1])
		}
		h.slots = h.slots[:Slots/2]
		h.per *= 2
	}
	h.per = max(h.per, 1)
	h.slots, h.last = append(h.slots, d), 1
}

// Times returns the maximum of each slot, and the number of durations per slot; the last may
// have fewer.
func (h *History) Times() (greatest []time.Duration, of int) { return h.slots, h.per }

// Range is a part of a Distribution: the number of durations up to To and above the previous
// range's To.
type Range struct {
	To time.Duration
	N  int64
}

// Ranges returns the non-empty part of the ranges that end at 1, 2 and 5 times each power of
// ten. A duration near an end may count in the next range: see Distribution.
func (l *Distribution) Ranges() []Range {
	var all []Range
	to := time.Microsecond
	for b, n := range l.buckets {
		if n == 0 {
			continue
		}
		for ; to < min(upper(b), l.Max); to = nextBound(to) {
			if len(all) > 0 {
				all = append(all, Range{To: nextBound(to)})
			}
		}
		if len(all) == 0 {
			all = append(all, Range{To: to})
		}
		all[len(all)-1].N += n
	}
	return all
}

// nextBound returns the next of 1, 2, 5, 10, 20 and so on.
func nextBound(d time.Duration) time.Duration {
	for digit := d; ; digit /= 10 {
		switch digit {
		case 1, 5:
			return 2 * d
		case 2:
			return d / 2 * 5
		}
	}
}
