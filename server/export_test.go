package server

import (
	"slices"
	"time"
)

const LongEnough = hangupCheckAfter

// Held returns the bytes that requests hold.
func (s *Server) Held() int64 { return s.memory.Used() }

// Post sends bytes to a client from outside its own commands.
func (s *Server) Post(id int64, b []byte) {
	for _, c := range s.all() {
		if c.id == id {
			c.box.post(b)
		}
	}
}

// CloseIdle closes clients that have been idle for too long at now.
func (s *Server) CloseIdle(now time.Time) { s.closeIdleAt(now) }

// Waiting returns the number of clients blocked by a pause or on keys.
func (s *Server) Waiting() int {
	n, _, _ := s.config.Engine.Blocked()
	return n
}

// StoredParameters returns the settable parameters without effect, sorted.
func StoredParameters() (names []string) {
	for name, p := range specs() {
		if p.use == stored {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
