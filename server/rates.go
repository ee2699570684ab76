package server

import (
	"sync"
	"time"
)

// pace measures the growth of counters per second between two calls of look. The zero value is ready to use.
type pace struct {
	mu        sync.Mutex
	at        time.Time
	counts    [3]uint64
	perSecond [3]float64
}

// paceOver is the shortest interval measured. Calls of look within it return the same rates.
const paceOver = 100 * time.Millisecond

// look returns the rates of a server that started at since and whose counters now have these values.
func (p *pace) look(since, now time.Time, counts [3]uint64) [3]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		p.at = since
	}
	over := now.Sub(p.at)
	for i, n := range counts {
		if n < p.counts[i] { // CONFIG RESETSTAT
			p.counts[i] = 0
		}
		if over >= paceOver {
			p.perSecond[i] = float64(n-p.counts[i]) / over.Seconds()
			p.counts[i] = n
		}
	}
	if over >= paceOver {
		p.at = now
	}
	return p.perSecond
}
