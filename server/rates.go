package server

import (
	"sync"
	"time"
)

// rates measures the growth of counters per second between two calls of look. The zero value is ready to use.
type rates struct {
	mu        sync.Mutex
	at        time.Time
	counts    [3]uint64
	perSecond [3]float64
}

// minRateInterval is the shortest interval measured. Calls of look within it return the same rates.
const minRateInterval = 100 * time.Millisecond

// update returns the rates of a server that started at since and whose counters now have these values.
func (p *rates) update(since, now time.Time, counts [3]uint64) [3]float64 {
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
		if over >= minRateInterval {
			p.perSecond[i] = float64(n-p.counts[i]) / over.Seconds()
			p.counts[i] = n
		}
	}
	if over >= minRateInterval {
		p.at = now
	}
	return p.perSecond
}
