package server

import (
	"strings"
	"sync/atomic"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server/tracking"
)

// trackingState holds a client's own tracking state. The table holds the rest.
type trackingState struct {
	listed  atomic.Bool // in the table, or being removed from it
	on      bool
	bcast   bool
	caching bool // CLIENT CACHING applies to the next command

	reading bool   // a command that may read keys is running
	begun   uint64 // when it began
}

// tracking runs CLIENT TRACKING ON|OFF [REDIRECT id] [PREFIX p …] [BCAST] [OPTIN] [OPTOUT] [NOLOOP].
func (c *client) tracking(args [][]byte) resp.Value {
	mode, prefixes, bad := c.server.trackingMode(args)
	if bad.IsError() {
		return bad
	}
	switch option(args, 2) {
	case "OFF":
		c.stopAllTracking()
		return resp.OK
	case "ON":
		return c.track(mode, prefixes)
	}
	return syntaxError
}

func (s *Server) trackingMode(args [][]byte) (m tracking.Mode, prefixes [][]byte, bad resp.Value) {
	for i := 3; i < len(args); i++ {
		more := i+1 < len(args)
		switch word := option(args, i); {
		case word == "BCAST":
			m.Bcast = true
		case word == "OPTIN":
			m.OptIn = true
		case word == "OPTOUT":
			m.OptOut = true
		case word == "NOLOOP":
			m.NoLoop = true
		case word == "PREFIX" && more:
			i++
			prefixes = append(prefixes, args[i])
		case word == "REDIRECT" && more:
			i++
			id, ok := commands.ParseInt(args[i])
			switch {
			case m.Redirect != 0:
				return m, nil, resp.MakeError("ERR A client can only redirect to a single other client")
			case !ok:
				return m, nil, resp.MakeError("ERR value is not an integer or out of range")
			case s.find(id) == nil:
				return m, nil, resp.MakeError("ERR The client ID you want redirect to does not exist")
			}
			m.Redirect = id
		default:
			return m, nil, syntaxError
		}
	}
	return m, prefixes, bad
}

// track starts tracking, or changes its mode.
func (c *client) track(mode tracking.Mode, prefixes [][]byte) resp.Value {
	s := c.server
	s.trackingMu.Lock()
	defer s.trackingMu.Unlock()
	if s.untrack == nil {
		s.untrack = s.config.Engine.Listen(s.onChange)
	}
	c.tracks.listed.Store(true)
	defer s.detachIfUnused()
	v := s.tracks.Enable(c.id, (*peer)(c), mode, prefixes)
	if v.IsError() {
		return v
	}
	c.tracks.on, c.tracks.bcast = true, mode.Bcast
	if c.session.Track(true); !mode.Bcast && !c.tracks.reading { // later commands of a transaction may read
		c.tracks.reading, c.tracks.begun = true, s.tracks.BeginRead()
	}
	return v
}

// stopAllTracking stops tracking and resets the client's state.
func (c *client) stopAllTracking() {
	c.stopTracking()
	c.session.Track(false)
	c.tracks.on, c.tracks.bcast, c.tracks.caching = false, false, false
}

// stopTracking removes the client from the table. Any goroutine may call it.
func (c *client) stopTracking() {
	if !c.tracks.listed.Swap(false) {
		return
	}
	s := c.server
	s.trackingMu.Lock()
	defer s.trackingMu.Unlock()
	s.tracks.Disable(c.id)
	s.detachIfUnused()
}

// detachIfUnused detaches the table from the engine when no client tracks, so that writes pay nothing for it.
func (s *Server) detachIfUnused() {
	if s.untrack != nil && s.tracks.Counts().Clients == 0 {
		s.untrack()
		s.untrack = nil
		s.tracks.Clear() // the table no longer hears of changes
	}
}

// onChange passes the changes of a transaction to the table. Engine.Listen calls it.
func (s *Server) onChange(changes []engine.Change) {
	events := make([]tracking.Event, 0, len(changes))
	for _, c := range changes {
		if c.Command != nil && (groupCommands[c.Command.Name] || strings.HasPrefix(c.Command.Name, "FUNCTION ")) {
			continue
		}
		e := tracking.Event{Read: c.Read, Keys: c.Keys}
		if c.Session != nil {
			e.Client = c.Session.Client()
		}
		events = append(events, e)
	}
	s.tracks.Record(events)
}

// These commands change the state of a stream's groups. Redis sends no invalidation for them.
var groupCommands = map[string]bool{
	"XREADGROUP": true, "XACK": true, "XCLAIM": true, "XAUTOCLAIM": true, "XSETID": true,
	"XGROUP SETID": true, "XGROUP DESTROY": true, "XGROUP CREATECONSUMER": true, "XGROUP DELCONSUMER": true,
}

func (c *client) trackingInfo([][]byte) resp.Value { return c.server.tracks.State(c.id).Info() }

// getRedir runs CLIENT GETREDIR.
func (c *client) getRedir([][]byte) resp.Value {
	return resp.MakeInt(c.server.tracks.State(c.id).RedirectID())
}

// caching runs CLIENT CACHING YES|NO.
func (c *client) caching(args [][]byte) resp.Value {
	word := option(args, 2)
	v := c.server.tracks.Caching(c.id, word == "YES", word == "NO")
	c.tracks.caching = c.tracks.caching || !v.IsError()
	return v
}

// beforeCommand is called before each command of a client that may get messages.
func (c *client) beforeCommand(args [][]byte) {
	if !c.tracks.on {
		return
	}
	if c.tracks.bcast {
		c.inbox.setReading(true)
	} else {
		c.tracks.reading, c.tracks.begun = true, c.server.tracks.BeginRead()
	}
	if cmd := commands.Called(args); cmd != nil && (cmd.Name == "FLUSHALL" || cmd.Name == "FLUSHDB") {
		c.inbox.setEarly(!c.session.InMulti() && option(args, 1) != "ASYNC")
	}
}

// recordReads records the keys that the command has read. It is called before the reply is sent, while messages are
// held.
func (c *client) recordReads() {
	if c.tracks.reading {
		c.tracks.reading = false
		c.server.tracks.EndRead(c.id, c.tracks.begun, c.session.Reads(), true)
	}
}

// afterCommand is called after a command, before its reply is sent.
func (c *client) afterCommand(args [][]byte) {
	if c.tracks.reading { // the command has no reply
		c.inbox.hold()
		c.recordReads()
	}
	if !c.tracks.on {
		return
	}
	if c.tracks.bcast {
		c.session.Reads() // discard the keys read
	}
	if c.tracks.caching && !c.session.InMulti() {
		if cmd := commands.Called(args); cmd == nil || !strings.HasPrefix(cmd.Name, "CLIENT ") {
			c.tracks.caching = false
			c.server.tracks.Cached(c.id)
		}
	}
}

// suspendTracking is called before a command blocks. It records the keys read so far; the command that serves the
// client records the rest. The caller calls goOn when the wait is over.
func (c *client) suspendTracking() (goOn func()) {
	if c.tracks.bcast {
		c.inbox.setReading(false)
		return func() { c.inbox.setReading(true) }
	}
	if !c.tracks.reading {
		return func() {}
	}
	c.tracks.reading = false
	c.server.tracks.EndRead(c.id, c.tracks.begun, c.session.Reads(), false)
	return func() { c.tracks.reading, c.tracks.begun = true, c.server.tracks.BeginRead() }
}

// flushOwnChanges sends a client that tracks prefixes its own changes.
func (c *client) flushOwnChanges() {
	if c.tracks.bcast && c.server.tracks.Flush(c.id) {
		c.inbox.release()
	}
}

// peer adapts a client to tracking.Peer.
type peer client

// peer returns the client with an ID, or nil.
func (s *Server) peer(id int64) tracking.Peer {
	if c := s.find(id); c != nil {
		return (*peer)(c)
	}
	return nil
}

func (p *peer) Send(m *tracking.Message, own bool) { p.inbox.invalidate(message{invalid: m}, own) }

func (p *peer) Redirect(m *tracking.Message, to tracking.Peer, own bool) {
	l := message{invalid: m, redirected: true}
	other := to.(*peer)
	if other == p {
		p.inbox.invalidate(l, own)
		return
	}
	if !own {
		other.inbox.invalidate(l, false)
	}
	l.to = &other.inbox
	p.inbox.forward(l, own)
}

func (p *peer) Hold() { p.inbox.hold() }
