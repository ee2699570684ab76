package server

import "sync/atomic"

// counts holds counters of INFO's Stats, since the start or CONFIG RESETSTAT.
type counts struct {
	connections atomic.Int64
	rejected    atomic.Int64 // connections over the limit
	longQueries atomic.Int64 // clients closed for too long a command
	fullOutputs atomic.Int64 // clients closed because they did not read
}

// resetStats runs CONFIG RESETSTAT.
func (s *Server) resetStats() {
	s.tally.Reset()
	s.traffic.reset()
	for _, n := range []*atomic.Int64{&s.counts.connections, &s.counts.rejected, &s.counts.longQueries, &s.counts.fullOutputs} {
		n.Store(0)
	}
	s.users.Log.ResetCounts()
	s.config.Engine.ResetEvicted()
}
