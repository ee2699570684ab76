package rqlite

// Waiting is how many calls that write wait for the request that is under way.
func (s *Store) Waiting() int {
	s.writing.mu.Lock()
	defer s.writing.mu.Unlock()
	return len(s.writing.waiting)
}

// PanicOnce makes the next group of reads, or of writes, panic.
func (s *Store) PanicOnce(reads bool) {
	l := &s.writing
	if reads {
		l = &s.reading
	}
	serve := l.serve
	l.serve = func(group []*call) {
		l.serve = serve
		panic("injected")
	}
}
