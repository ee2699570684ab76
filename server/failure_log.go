package server

import (
	"sync"
	"time"
)

// complaints limits the log lines of a repeated failure: one when it begins, then one a minute with a count.
type complaints struct {
	mu     sync.Mutex
	says   string
	since  time.Time // when it was last logged
	unsaid int
}

const complainEvery = time.Minute

// worth reports whether a failure should be logged now, and how often it was suppressed since it was last logged.
func (c *complaints) worth(says string, now time.Time) (unsaid int, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if says == c.says && now.Sub(c.since) < complainEvery {
		c.unsaid++
		return 0, false
	}
	if says == c.says {
		unsaid = c.unsaid
	}
	c.says, c.since, c.unsaid = says, now, 0
	return unsaid, true
}

// logFailure logs a failure of the store.
func (s *Server) logFailure(err error, first string, commands int) {
	if unsaid, is := s.complaints.worth(err.Error(), time.Now()); is {
		s.config.Logger.Error("running commands", "error", err, "first", first, "commands", commands, "unsaid", unsaid)
	}
}
