package histogram

import "time"

// History keeps how times went on, oldest first, in at most Slots places: each holds the
// greatest of as many times as the others.
type History struct {
	slots []time.Duration
	per   int // times of a place
	last  int // times in the last one
}

// Slots is how many places a History has at most.
const Slots = 60

// Add takes a time in. Where there is no place left, each two become one.
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

// Times are the greatest times of the places, and of how many times each is; the last may
// have fewer.
func (h *History) Times() (greatest []time.Duration, of int) { return h.slots, h.per }

// Range is a part of a Distribution: how many times were at most To, and above the To of the
// range before.
type Range struct {
	To time.Duration
	N  int64
}

// Ranges are the times by ranges that end at 1, 2 and 5 of each power of ten, from the first
// with a time to the last. A time near an end may be in the range after: see Distribution.
func (l *Distribution) Ranges() []Range {
	var all []Range
	to := time.Microsecond
	for b, n := range l.buckets {
		if n == 0 {
			continue
		}
		for ; to < min(upper(b), l.Max); to = after(to) {
			if len(all) > 0 {
				all = append(all, Range{To: after(to)})
			}
		}
		if len(all) == 0 {
			all = append(all, Range{To: to})
		}
		all[len(all)-1].N += n
	}
	return all
}

// after is the next of 1, 2, 5, 10, 20 and so on.
func after(d time.Duration) time.Duration {
	for digit := d; ; digit /= 10 {
		switch digit {
		case 1, 5:
			return 2 * d
		case 2:
			return d / 2 * 5
		}
	}
}
