package local

// SweepAll is what the background sweeper does at each tick.
func (s *Store) SweepAll() { s.sweepAll() }
