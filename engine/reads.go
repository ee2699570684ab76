package engine

import "github.com/meowdis/meowdis/redis/commands"

// SetClient sets the session's client ID, which listeners see. Call it before the session is used.
func (s *Session) SetClient(id int64) { s.client = id }

// Client returns the ID set by SetClient, or 0. Any goroutine may call it.
func (s *Session) Client() int64 { return s.client }

// Track starts or stops recording the keys that the session reads.
func (s *Session) Track(on bool) { s.tracks, s.reads = on, nil }

// Reads returns the keys that the session's commands have read since the last call of Reads: the keys named by
// read-only commands, whatever the reply. Keys read in a transaction that writes are not included; listeners
// get them as a Change.
func (s *Session) Reads() [][]byte {
	keys := s.reads
	s.reads = nil
	return keys
}

// reading returns the keys that a call reads, if its session tracks them.
func (p *planned) reading() [][]byte {
	if p.session == nil || !p.session.tracks || p.cmd == nil || p.cmd.Flags&commands.ReadOnly == 0 {
		return nil
	}
	return p.keys()
}

// noteRead records the keys of a call that reads outside the writer.
func (p *planned) noteRead() {
	if keys := p.reading(); keys != nil {
		p.session.reads = append(p.session.reads, keys...)
	}
}

// read reports the keys of a call that reads in a transaction that writes.
func (f *feed) read(t *transaction, p planned) {
	if keys := p.reading(); keys != nil {
		t.changes = append(t.changes, Change{Session: p.session, Command: p.cmd, Args: p.args, DB: p.db, Keys: keys, Read: true})
	}
}

// reads records the keys that a call of a transaction reads. beside is true in a read-only transaction.
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

// unread forgets the keys read by a failed attempt of a transaction.
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
