package engine

import (
	"bytes"
	"time"

	"github.com/meowdis/meowdis/engine/metrics"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// SetTally makes the engine count its sessions' commands in t. Call it before the first session starts.
func (e *Engine) SetTally(t *metrics.Tally) { e.tally = t }

// expirer is a store that deletes expired keys and fields, and counts them.
type expirer interface{ Expired() (keys, fields int64) }

// Expired returns the numbers of expired keys, and of expired fields of live keys, that the store has deleted.
func (e *Engine) Expired() (keys, fields int64) {
	if s, can := e.store.(expirer); can {
		return s.Expired()
	}
	return 0, 0
}

// sweeper is a store that deletes expired keys in the background.
type sweeper interface{ SetSweeping(bool) }

// SetSweeping turns the background deletion of expired keys on or off.
func (e *Engine) SetSweeping(on bool) {
	if s, can := e.store.(sweeper); can {
		s.SetSweeping(on)
	}
}

// SetWho sets the function that returns the client's address and name for the slow log.
func (s *Session) SetWho(who func() (addr, name string)) { s.who = who }

// ran counts a call that has its reply. took is how long the call kept the session or the store busy, without
// waiting for other clients.
func (s *Session) ran(c call, took time.Duration, v *resp.Value) {
	t := s.engine.tally
	if t == nil {
		return
	}
	slow := t.Ran(c.cmd, c.args, took, v)
	if len(s.innerError) > 0 {
		if v.IsError() && bytes.HasPrefix(v.Str, s.innerError) {
			t.Passed(v)
		}
		s.innerError = nil
	}
	if !slow {
		return
	}
	addr, name := "", ""
	if s.who != nil {
		addr, name = s.who()
	}
	t.Slow.Add(time.UnixMilli(s.engine.now()), c.cmd, c.args, took, addr, name)
}

// ranInScript does the same as ran for a command of a script. The slow log then names no client.
func (s *Session) ranInScript(c call, took time.Duration, v *resp.Value) {
	t := s.engine.tally
	if t == nil {
		return
	}
	if t.Ran(c.cmd, c.args, took, v) {
		t.Slow.Add(time.UnixMilli(s.engine.now()), c.cmd, c.args, took, "", "")
	}
	if v.IsError() {
		s.innerError = v.Str
	}
}

// rejected counts a call that is neither run nor queued.
func (s *Session) rejected(args [][]byte, v *resp.Value) {
	if t := s.engine.tally; t != nil {
		t.Rejected(commands.Called(args), v)
	}
}

// rejectedInScript does the same as rejected for a command of a script.
func (s *Session) rejectedInScript(args [][]byte, v *resp.Value) {
	s.rejected(args, v)
	s.innerError = v.Str
}

// counted is a call of a pipeline with its planning time.
type counted struct {
	call
	at   int // its index in the pipeline
	took time.Duration
}

// ranTogether counts the first of calls, up to the number of replies.
func (s *Session) ranTogether(calls []counted, results []store.Result, replies []resp.Value) {
	t := s.engine.tally
	if t == nil {
		return
	}
	var sum metrics.Sum
	for i := range replies {
		c, took := &calls[i], calls[i].took+results[i].Took
		if !t.Sum(&sum, c.cmd, c.args, took, &replies[i]) {
			s.ran(c.call, took, &replies[i])
		}
	}
	t.Flush(&sum)
}

// ranAll counts the calls of a transaction that have run.
func (s *Session) ranAll(calls []planned, replies []resp.Value) {
	for i := range replies {
		c := calls[i].call
		if calls[i].eval != nil {
			c = calls[i].eval.call
		}
		if c.cmd != nil {
			s.ran(c, calls[i].took, &replies[i])
		}
	}
}
