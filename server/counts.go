package server

import "sync/atomic"

// counts are what INFO's Stats tells beside the commands, since the start or CONFIG RESETSTAT.
type counts struct {
	connections atomic.Int64
	rejected    atomic.Int64 // connections that found no room
	longQueries atomic.Int64 // clients that were closed since they sent too long a command
	fullOutputs atomic.Int64 // clients that were closed since they did not read
}

// resetStats is CONFIG RESETSTAT.
func (s *Server) resetStats() {
	s.tally.Reset()
	s.traffic.reset()
	for _, n := range []*atomic.Int64{&s.counts.connections, &s.counts.rejected, &s.counts.longQueries, &s.counts.fullOutputs} {
		n.Store(0)
	}
	s.users.Log.ResetCounts()
	s.config.Engine.ResetEvicted()
}
