package server

import (
	"context"
	"time"
)

// idleCheck is how often clients are looked at while there is a timeout.
const idleCheck = time.Second

// closeIdle closes clients that have been idle for longer than the parameter timeout says, until ctx
// is done. Without a timeout it only waits for one.
func (s *Server) closeIdle(ctx context.Context) {
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		due := tick.C
		if s.live.timeout.Load() == 0 {
			due = nil
			tick.Stop()
		} else {
			tick.Reset(idleCheck)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.live.rechecks:
		case now := <-due:
			s.closeIdleAt(now)
		}
	}
}

func (s *Server) closeIdleAt(now time.Time) {
	timeout := time.Duration(s.live.timeout.Load()) * time.Second
	if timeout == 0 {
		return
	}
	s.killAll(nil, func(c *client) bool { return c.idleFor(now) > timeout })
}

// idleFor is how long ago the client sent its last command, 0 for one that the server owes
// something: a client that waits, or listens, has nothing to send.
func (c *client) idleFor(now time.Time) time.Duration {
	if c.class.Load() != normalClass {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Sub(c.about.active)
}
