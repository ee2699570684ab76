package embedded

import (
	"sync"
	"time"
)

// clock can be moved and stopped. It has the timeouts of blocked commands.
type clock struct {
	base func() time.Time

	mu      sync.Mutex
	offset  time.Duration // offset from base
	stopped time.Time     // fixed time; zero while it runs
	alarms  map[*alarm]bool
}

// alarm times out on the system's clock. Moving the database's clock ahead shortens it by the same duration.
type alarm struct {
	due   time.Time
	timer *time.Timer
	rings chan time.Time
}

func newClock(base func() time.Time) *clock {
	return &clock{base: base, alarms: map[*alarm]bool{}}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		return c.stopped
	}
	return c.base().Add(c.offset)
}

// ms returns the time in Unix ms.
func (c *clock) ms() int64 { return c.now().UnixMilli() }

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped.IsZero() {
		c.offset += d
	} else {
		c.stopped = c.stopped.Add(d)
	}
	for a := range c.alarms {
		a.due = a.due.Add(-d)
		a.timer.Reset(time.Until(a.due))
	}
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = t
}

// timer returns a channel that receives when d has passed, and a func that stops it. It is for engine.WithTimer.
func (c *clock) timer(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &alarm{due: time.Now().Add(d), rings: make(chan time.Time, 1)}
	a.timer = time.AfterFunc(d, func() {
		select {
		case a.rings <- a.due:
		default: // it fired before and was then moved ahead
		}
	})
	c.alarms[a] = true
	return a.rings, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		a.timer.Stop()
		delete(c.alarms, a)
	}
}
