package server

import (
	"sync"
	"time"
)

// pace is how many commands a second run, since the look at it before. The zero value has
// not been looked at.
type pace struct {
	mu        sync.Mutex
	at        time.Time
	commands  uint64
	perSecond float64
}

// paceOver is the shortest time that is measured: looks that follow sooner see the same.
const paceOver = 100 * time.Millisecond

// look is the pace of a server that began at since and has run so many commands by now.
func (p *pace) look(since, now time.Time, commands uint64) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		p.at = since
	}
	if commands < p.commands { // CONFIG RESETSTAT
		p.commands = 0
	}
	if over := now.Sub(p.at); over >= paceOver {
		p.perSecond = float64(commands-p.commands) / over.Seconds()
		p.at, p.commands = now, commands
	}
	return p.perSecond
}
