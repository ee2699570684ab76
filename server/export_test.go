package server

import (
	"slices"
	"time"
)

const LongEnough = longEnough

// Held is how many bytes requests hold of what they may together.
func (s *Server) Held() int64 { return s.memory.Used() }

// Post tells the client with the id something from outside its own commands.
func (s *Server) Post(id int64, b []byte) {
	for _, c := range s.all() {
		if c.id == id {
			c.box.post(b)
		}
	}
}

// CloseIdle looks for clients that have been idle for too long at now.
func (s *Server) CloseIdle(now time.Time) { s.closeIdleAt(now) }

// Waiting is how many clients wait for a pause to end, or for keys.
func (s *Server) Waiting() int {
	n, _, _ := s.config.Engine.Blocked()
	return n
}

// StoredParameters returns the parameters that can be set without an effect, sorted.
func StoredParameters() (names []string) {
	for name, p := range specs() {
		if p.use == stored {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
