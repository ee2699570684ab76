package rqlite

// Waiting is how many calls that write wait for the request that is under way.
func (s *Store) Waiting() int { return s.writing.Waiting() }

// PanicOnce makes the next group of reads, or of writes, panic.
func (s *Store) PanicOnce(reads bool) {
	l := &s.writing
	if reads {
		l = &s.reading
	}
	serve := l.Serve
	l.Serve = func(group []*call) {
		l.Serve = serve
		panic("injected")
	}
}
