package rqlite

// Waiting is how many calls that write wait for the request that is under way.
func (s *Store) Waiting() int {
	s.writing.mu.Lock()
	defer s.writing.mu.Unlock()
	return len(s.writing.waiting)
}
