package server

import (
	"sync"
	"time"
)

// complaints keeps a failure that goes on from filling the log: it has a line when it
// begins, and one a minute with how often it came.
type complaints struct {
	mu     sync.Mutex
	says   string
	since  time.Time // of the last line
	unsaid int
}

const complainEvery = time.Minute

// worth reports whether a failure is worth a line now, and how many like it had none
// since the last.
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

// logFailure logs that the store failed.
func (s *Server) logFailure(err error, first string, commands int) {
	if unsaid, is := s.complaints.worth(err.Error(), time.Now()); is {
		s.config.Logger.Error("running commands", "error", err, "first", first, "commands", commands, "unsaid", unsaid)
	}
}
