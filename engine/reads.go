package engine

import "github.com/meowdis/meowdis/redis/commands"

// SetClient says which client's the session is, for those who listen. It is for the time before the
// session is used.
func (s *Session) SetClient(id int64) { s.client = id }

// Client is the ID that SetClient was called with, 0 without one. Any goroutine may ask.
func (s *Session) Client() int64 { return s.client }

// Track has the session note which keys it reads, from now on or no longer.
func (s *Session) Track(on bool) { s.tracks, s.reads = on, nil }

// Reads are the keys that the commands of the session have read since it was last asked: those named
// by commands that only read, whatever the reply. What is read in a transaction that writes is told
// to those who listen, as a Change, and not here.
func (s *Session) Reads() [][]byte {
	keys := s.reads
	s.reads = nil
	return keys
}

// reading is the keys that a call reads for a session that tracks.
func (p *planned) reading() [][]byte {
	if p.session == nil || !p.session.tracks || p.cmd == nil || p.cmd.Flags&commands.ReadOnly == 0 {
		return nil
	}
	return p.keys()
}

// noteRead notes that a call reads, beside the writer.
func (p *planned) noteRead() {
	if keys := p.reading(); keys != nil {
		p.session.reads = append(p.session.reads, keys...)
	}
}

// read tells that a call reads, in a transaction that writes.
func (f *feed) read(t *transaction, p planned) {
	if keys := p.reading(); keys != nil {
		t.begun = append(t.begun, Change{Session: p.session, Command: p.cmd, Args: p.args, DB: p.db, Keys: keys, Read: true})
	}
}

// reads notes what a call of a transaction reads.
func (e *Engine) reads(p planned, beside bool) {
	if p.session == nil || !p.session.tracks {
		return
	}
	if beside || !e.feed.inside {
		p.noteRead()
	} else {
		e.feed.read(&e.feed.current, p)
	}
}

// unread forgets what a try of a transaction has read.
func unread(calls []planned) {
	for _, c := range calls {
		if c.session != nil {
			c.session.reads = nil
		}
		if c.eval != nil {
			c.eval.session.reads = nil
		}
	}
}
