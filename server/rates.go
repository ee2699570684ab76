package server

import (
	"sync"
	"time"
)

// pace is how fast numbers grow, since the look at them before. The zero value has not been
// looked at.
type pace struct {
	mu        sync.Mutex
	at        time.Time
	counts    [3]uint64
	perSecond [3]float64
}

// paceOver is the shortest time that is measured: looks that follow sooner see the same.
const paceOver = 100 * time.Millisecond

// look is the pace of a server that began at since and has counted so much by now.
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
