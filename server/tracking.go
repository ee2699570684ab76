package server

import (
	"strings"
	"sync/atomic"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server/tracking"
)

// tracked holds a client's own tracking state. The table holds the rest.
type tracked struct {
	listed  atomic.Bool // in the table, or being removed from it
	on      bool
	bcast   bool
	caching bool // CLIENT CACHING applies to the next command

	flying bool   // a command that may read keys is running
	begun  uint64 // when it began
}

// tracking runs CLIENT TRACKING ON|OFF [REDIRECT id] [PREFIX p …] [BCAST] [OPTIN] [OPTOUT] [NOLOOP].
func (c *client) tracking(args [][]byte) resp.Value {
	mode, prefixes, bad := c.server.trackingMode(args)
	if bad.IsError() {
		return bad
	}
	switch option(args, 2) {
	case "OFF":
		c.trackNothing()
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
	s.tracing.Lock()
	defer s.tracing.Unlock()
	if s.untrack == nil {
		s.untrack = s.config.Engine.Listen(s.changed)
	}
	c.tracks.listed.Store(true)
	defer s.trackedByNone()
	v := s.tracks.Enable(c.id, (*peer)(c), mode, prefixes)
	if v.IsError() {
		return v
	}
	c.tracks.on, c.tracks.bcast = true, mode.Bcast
	if c.session.Track(true); !mode.Bcast && !c.tracks.flying { // later commands of a transaction may read
		c.tracks.flying, c.tracks.begun = true, s.tracks.Begin()
	}
	return v
}

// trackNothing stops tracking and resets the client's state.
func (c *client) trackNothing() {
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
	s.tracing.Lock()
	defer s.tracing.Unlock()
	s.tracks.Disable(c.id)
	s.trackedByNone()
}

// trackedByNone detaches the table from the engine when no client tracks, so that writes pay nothing for it.
func (s *Server) trackedByNone() {
	if s.untrack != nil && s.tracks.Counts().Clients == 0 {
		s.untrack()
		s.untrack = nil
		s.tracks.Clear() // the table no longer hears of changes
	}
}

// changed passes the changes of a transaction to the table. Engine.Listen calls it.
func (s *Server) changed(changes []engine.Change) {
	events := make([]tracking.Event, 0, len(changes))
	for _, c := range changes {
		if c.Command != nil && (aside[c.Command.Name] || strings.HasPrefix(c.Command.Name, "FUNCTION ")) {
			continue
		}
		e := tracking.Event{Read: c.Read, Keys: c.Keys}
		if c.Session != nil {
			e.Client = c.Session.Client()
		}
		events = append(events, e)
	}
	s.tracks.Happen(events)
}

// These commands change the state of a stream's groups. Redis sends no invalidation for them.
var aside = map[string]bool{
	"XREADGROUP": true, "XACK": true, "XCLAIM": true, "XAUTOCLAIM": true, "XSETID": true,
	"XGROUP SETID": true, "XGROUP DESTROY": true, "XGROUP CREATECONSUMER": true, "XGROUP DELCONSUMER": true,
}

func (c *client) trackingInfo([][]byte) resp.Value { return c.server.tracks.Of(c.id).Info() }

// getRedir runs CLIENT GETREDIR.
func (c *client) getRedir([][]byte) resp.Value { return resp.MakeInt(c.server.tracks.Of(c.id).To()) }

// caching runs CLIENT CACHING YES|NO.
func (c *client) caching(args [][]byte) resp.Value {
	word := option(args, 2)
	v := c.server.tracks.Caching(c.id, word == "YES", word == "NO")
	c.tracks.caching = c.tracks.caching || !v.IsError()
	return v
}

// takeOff is called before each command of a client that may get messages.
func (c *client) takeOff(args [][]byte) {
	if !c.tracks.on {
		return
	}
	if c.tracks.bcast {
		c.inbox.read(true)
	} else {
		c.tracks.flying, c.tracks.begun = true, c.server.tracks.Begin()
	}
	if cmd := commands.Called(args); cmd != nil && (cmd.Name == "FLUSHALL" || cmd.Name == "FLUSHDB") {
		c.inbox.setEarly(!c.session.InMulti() && option(args, 1) != "ASYNC")
	}
}

// land records the keys that the command has read. It is called before the reply is sent, while messages are held.
func (c *client) land() {
	if c.tracks.flying {
		c.tracks.flying = false
		c.server.tracks.Land(c.id, c.tracks.begun, c.session.Reads(), true)
	}
}

// landed is called after a command, before its reply is sent.
func (c *client) landed(args [][]byte) {
	if c.tracks.flying { // the command has no reply
		c.inbox.hold()
		c.land()
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

// waits is called before a command blocks. It records the keys read so far; the command that serves the client records
// the rest. The caller calls goOn when the wait is over.
func (c *client) waits() (goOn func()) {
	if c.tracks.bcast {
		c.inbox.read(false)
		return func() { c.inbox.read(true) }
	}
	if !c.tracks.flying {
		return func() {}
	}
	c.tracks.flying = false
	c.server.tracks.Land(c.id, c.tracks.begun, c.session.Reads(), false)
	return func() { c.tracks.flying, c.tracks.begun = true, c.server.tracks.Begin() }
}

// tellOwn sends a client that tracks prefixes its own changes.
func (c *client) tellOwn() {
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

func (p *peer) Tell(m *tracking.Message, own bool) { p.inbox.invalidate(message{invalid: m}, own) }

func (p *peer) Pass(m *tracking.Message, to tracking.Peer, own bool) {
	l := message{invalid: m, passed: true}
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
