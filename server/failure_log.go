package server

import (
	"sync"
	"time"
)

// failureLog limits the log lines of a repeated failure: one when it begins, then one a minute with a count.
type failureLog struct {
	mu         sync.Mutex
	message    string
	lastLogged time.Time // when it was last logged
	suppressed int
}

const failureLogInterval = time.Minute

// shouldLog reports whether a failure should be logged now, and how often it was suppressed since it was last logged.
func (c *failureLog) shouldLog(says string, now time.Time) (suppressed int, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if says == c.message && now.Sub(c.lastLogged) < failureLogInterval {
		c.suppressed++
		return 0, false
	}
	if says == c.message {
		suppressed = c.suppressed
	}
	c.message, c.lastLogged, c.suppressed = says, now, 0
	return suppressed, true
}

// logFailure logs a failure of the store.
func (s *Server) logFailure(err error, first string, commands int) {
	if suppressed, is := s.failures.shouldLog(err.Error(), time.Now()); is {
		s.config.Logger.Error("running commands", "error", err, "first", first, "commands", commands, "suppressed", suppressed)
	}
}
