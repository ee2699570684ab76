package tracking

import (
	"bytes"
	"maps"
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Mode holds the options of CLIENT TRACKING: redis.io/commands/client-tracking.
type Mode struct {
	Bcast, OptIn, OptOut, NoLoop bool
	Redirect                     int64 // ID of the client that gets the messages, 0 for itself
}

var (
	prefixWithoutBcast = resp.MakeError("ERR PREFIX option requires BCAST mode to be enabled")
	otherBcast         = resp.MakeError("ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.")
	bcastOpt           = resp.MakeError("ERR OPTIN and OPTOUT are not compatible with BCAST")
	bothOpts           = resp.MakeError("ERR You can't specify both OPTIN mode and OPTOUT mode")
	otherOpt           = resp.MakeError("ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.")

	noOpt     = resp.MakeError("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	noOptIn   = resp.MakeError("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
	noOptOut  = resp.MakeError("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	badSyntax = resp.MakeError("ERR syntax error")
)

// Enable starts tracking for a client, or changes its mode. It returns the reply of CLIENT TRACKING ON.
func (t *Table) Enable(id int64, peer Peer, mode Mode, prefixes [][]byte) resp.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[id]
	if bad := mode.check(c, prefixes); bad.IsError() {
		return bad
	}
	if c == nil {
		c = &client{id: id, peer: peer, prefixes: map[string]bool{}}
		t.clients[id] = c
	}
	c.Mode, c.broken = mode, false
	if mode.Bcast && len(prefixes) == 0 {
		prefixes = [][]byte{nil}
	}
	for _, name := range prefixes {
		t.join(c, string(name))
	}
	return resp.OK
}

// check returns an error if the client cannot use the mode. c is nil for a client that does not track yet.
func (m Mode) check(c *client, prefixes [][]byte) resp.Value {
	switch {
	case !m.Bcast && len(prefixes) > 0:
		return prefixWithoutBcast
	case c != nil && c.Bcast != m.Bcast:
		return otherBcast
	case m.Bcast && (m.OptIn || m.OptOut):
		return bcastOpt
	case m.OptIn && m.OptOut:
		return bothOpts
	case c != nil && (m.OptIn && c.OptOut || m.OptOut && c.OptIn):
		return otherOpt
	}
	return checkOverlap(c, prefixes)
}

// checkOverlap returns an error if a prefix contains another one, or a prefix of c.
func checkOverlap(c *client, prefixes [][]byte) resp.Value {
	var existing []string
	if c != nil {
		existing = slices.Sorted(maps.Keys(c.prefixes))
	}
	for i, name := range prefixes {
		for _, other := range existing {
			if overlap(name, []byte(other)) {
				return overlaps(name, "an existing", []byte(other))
			}
		}
		for _, other := range prefixes[i+1:] {
			if overlap(name, other) {
				return overlaps(name, "another provided", other)
			}
		}
	}
	return resp.Value{}
}

func overlap(a, b []byte) bool { return bytes.HasPrefix(a, b) || bytes.HasPrefix(b, a) }

func overlaps(name []byte, which string, other []byte) resp.Value {
	return resp.MakeError("ERR Prefix '" + commands.Quote(name) + "' overlaps with " + which + " prefix '" + commands.Quote(other) +
		"'. Prefixes for a single client must not overlap.")
}

// Disable stops tracking for a client. After it returns, the client gets no message. As in Redis, keys read by the
// client stay in the table until they change.
func (t *Table) Disable(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[id]
	if c == nil {
		return
	}
	for name := range c.prefixes {
		t.leave(c, name)
	}
	delete(t.clients, id)
}

// Caching runs CLIENT CACHING, which applies to the next command.
func (t *Table) Caching(id int64, yes, no bool) resp.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[id]
	switch {
	case c == nil:
		return noOpt
	case !yes && !no:
		return badSyntax
	case yes && !c.OptIn:
		return noOptIn
	case no && !c.OptOut:
		return noOptOut
	}
	c.caching = true
	return resp.OK
}

// Cached ends the effect of Caching.
func (t *Table) Cached(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.clients[id]; c != nil {
		c.caching = false
	}
}

// State is a client's tracking state.
type State struct {
	On, Caching, Broken bool
	Mode
	Prefixes []string // sorted
}

// State returns the state of a client.
func (t *Table) State(id int64) State {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[id]
	if c == nil {
		return State{}
	}
	return State{On: true, Caching: c.caching, Broken: c.broken, Mode: c.Mode, Prefixes: slices.Sorted(maps.Keys(c.prefixes))}
}

// Info returns the reply of CLIENT TRACKINGINFO.
func (s State) Info() resp.Value {
	flags := resp.Value{Kind: resp.Set}
	for _, flag := range []struct {
		is   bool
		name string
	}{
		{!s.On, "off"}, {s.On, "on"}, {s.Bcast, "bcast"}, {s.OptIn, "optin"}, {s.OptIn && s.Caching, "caching-yes"},
		{s.OptOut, "optout"}, {s.OptOut && s.Caching, "caching-no"}, {s.NoLoop, "noloop"}, {s.Broken, "broken_redirect"},
	} {
		if flag.is {
			flags.Elems = append(flags.Elems, resp.MakeString(flag.name))
		}
	}
	prefixes := resp.EmptyArray
	for _, name := range s.Prefixes {
		prefixes.Elems = append(prefixes.Elems, resp.MakeString(name))
	}
	return resp.MakeMap(resp.MakeString("flags"), flags, resp.MakeString("redirect"), resp.MakeInt(s.RedirectID()), resp.MakeString("prefixes"), prefixes)
}

// RedirectID returns the ID of the client that gets the messages, 0 for the client itself, -1 if it does not track.
func (s State) RedirectID() int64 {
	if !s.On {
		return -1
	}
	return s.Redirect
}
