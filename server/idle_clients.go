package server

import (
	"context"
	"time"
)

// idleCheck separates the checks of idle clients.
const idleCheck = time.Second

// closeIdle closes clients that have been idle for longer than the parameter timeout, until ctx is done. While the
// timeout is 0, it does nothing until the parameter changes.
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

// idleFor returns the time since the client's last command. It returns 0 for a client that monitors or subscribes,
// since that client has nothing to send.
func (c *client) idleFor(now time.Time) time.Duration {
	if c.class.Load() != normalClass {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Sub(c.clientInfo.active)
}
