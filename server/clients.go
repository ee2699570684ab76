package server

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server/tracking"
)

func (c *client) getID([][]byte) resp.Value { return resp.MakeInt(c.id) }

func (c *client) getName([][]byte) resp.Value {
	if c.clientInfo.name == "" {
		return resp.Nil
	}
	return resp.MakeString(c.clientInfo.name)
}

func (c *client) setName(args [][]byte) resp.Value {
	if !printable(args[2]) {
		return badName
	}
	c.rename(string(args[2]))
	return resp.OK
}

// rename sets the client's name. Only the connection's own goroutine may read the name without the lock.
func (c *client) rename(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clientInfo.name = name
}

// printable reports whether b may appear in CLIENT LIST. Like Redis, it checks b up to the first NUL.
func printable(b []byte) bool {
	b, _, _ = bytes.Cut(b, []byte{0})
	return !bytes.ContainsFunc(b, func(r rune) bool { return r < '!' || r > '~' })
}

func (c *client) setInfo(args [][]byte) resp.Value {
	option := strings.ToLower(string(args[2]))
	if option != "lib-name" && option != "lib-ver" {
		return resp.MakeError("ERR Unrecognized option '" + commands.Quote(args[2]) + "'")
	}
	if !printable(args[3]) {
		return resp.MakeError("ERR " + string(args[2]) + " cannot contain spaces, newlines or special characters.")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if option == "lib-name" {
		c.clientInfo.libName = string(args[3])
	} else {
		c.clientInfo.libVersion = string(args[3])
	}
	return resp.OK
}

// noEvict runs CLIENT NO-EVICT. It only sets a flag, since the server evicts no clients.
func (c *client) noEvict(args [][]byte) resp.Value { return c.onOff(args, &c.clientInfo.noEvict) }

// noTouch runs CLIENT NO-TOUCH. It only sets a flag, since reads do not count as uses of a key.
func (c *client) noTouch(args [][]byte) resp.Value { return c.onOff(args, &c.clientInfo.noTouch) }

func (c *client) onOff(args [][]byte, is *bool) resp.Value {
	word := option(args, 2)
	if word != "ON" && word != "OFF" {
		return syntaxError
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	*is = word == "ON"
	return resp.OK
}

func (c *client) reply(args [][]byte) resp.Value {
	switch strings.ToUpper(string(args[2])) {
	case "ON":
		c.replyMode = repliesOn
	case "OFF":
		c.replyMode = repliesOff
	case "SKIP":
		if c.replyMode != repliesOff {
			c.replyMode = skipNext
		}
	default:
		return syntaxError
	}
	return resp.OK
}

func (c *client) info([][]byte) resp.Value { return verbatim(c.describe() + "\n") }

func verbatim(text string) resp.Value { return resp.Value{Kind: resp.Verbatim, Str: []byte(text)} }

// who returns the client's address and name for the slow log.
func (c *client) who() (addr, name string) { return c.net.RemoteAddr().String(), c.clientInfo.name }

// watched returns the number of keys that the client watches.
func (c *client) watched() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clientInfo.watched
}

// age returns the seconds since the client connected.
func (c *client) age() int64 { return int64(time.Since(c.since).Seconds()) }

// describe returns the client's line of CLIENT LIST. It has all fields of Redis, since client libraries parse them;
// fields about buffers that do not exist here are 0.
func (c *client) describe() string {
	c.mu.Lock()
	a, s := c.clientInfo, c.server
	c.mu.Unlock()
	protocol, command := 2, "NULL"
	if a.resp3 {
		protocol = 3
	}
	if name := strings.ReplaceAll(string(a.command), "|", " "); commands.Lookup(name) != nil {
		command = strings.ToLower(string(a.command))
	}
	n := s.hub.CountsOf(&c.inbox)
	waits, sending := c.box.unsent()
	tracks := s.tracks.State(c.id)
	pieces, events := 0, "r"
	if waits > 0 {
		pieces = 1
	}
	if sending {
		events = "rw"
	}
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d multi=%d watch=%d "+
		"qbuf=%d qbuf-free=0 argv-mem=0 multi-mem=%d rbs=0 rbp=0 obl=0 oll=%d omem=%d tot-mem=%d events=%s "+
		"cmd=%s user=%s redir=%d resp=%d lib-name=%s lib-ver=%s io-thread=0",
		c.id, c.net.RemoteAddr(), c.net.LocalAddr(), c.loopState.fd, a.name, c.age(), int64(time.Since(a.active).Seconds()),
		c.flags(n, &a, tracks), a.db, n[pubsub.Channel], n[pubsub.Pattern], n[pubsub.Shard], a.queued, a.watched,
		a.ahead, a.queuedBytes, pieces, waits, int64(a.ahead)+a.queuedBytes+int64(waits), events,
		command, c.user.Load().Name(), tracks.RedirectID(), protocol, a.libName, a.libVersion)
}

// flags returns the flags of CLIENT LIST.
func (c *client) flags(n pubsub.Counts, a *clientInfo, tracks tracking.State) (flags string) {
	for _, f := range []struct {
		flag string
		is   bool
	}{
		{"S", c.isReplica.Load()}, {"O", n[pubsub.Commands] > 0}, {"P", listening(n)}, {"x", a.queued >= 0}, {"b", c.session.Blocked()},
		{"t", tracks.On}, {"R", tracks.Broken}, {"B", tracks.Bcast},
		{"U", c.net.LocalAddr().Network() == "unix"}, {"e", a.noEvict}, {"T", a.noTouch},
	} {
		if f.is {
			flags += f.flag
		}
	}
	return cmp.Or(flags, "N")
}

func listening(n pubsub.Counts) bool {
	return n[pubsub.Channel]+n[pubsub.Pattern]+n[pubsub.Shard] > 0
}

// list runs CLIENT LIST [TYPE type] [ID id …].
func (c *client) list(args [][]byte) resp.Value {
	want := func(*client) bool { return true }
	switch option := option(args, 2); {
	case len(args) == 2:
	case option == "TYPE" && len(args) == 4:
		ofType, bad := c.server.ofType(args[3])
		if bad.IsError() {
			return bad
		}
		want = ofType
	case option == "ID" && len(args) > 3:
		ids := map[int64]bool{}
		for _, arg := range args[3:] {
			id, ok := commands.ParseInt(arg)
			if !ok {
				return resp.MakeError("ERR Invalid client ID")
			}
			ids[id] = true
		}
		want = func(c *client) bool { return ids[c.id] }
	default:
		return syntaxError
	}
	var text strings.Builder
	for _, other := range c.server.all() {
		if want(other) {
			text.WriteString(other.describe() + "\n")
		}
	}
	return verbatim(text.String())
}

// option returns argument i in upper case, or "" if it is missing.
func option(args [][]byte, i int) string {
	if i >= len(args) {
		return ""
	}
	return strings.ToUpper(string(args[i]))
}

// ofType returns the filter for a client type, or an error if the type does not exist.
func (s *Server) ofType(arg []byte) (want func(*client) bool, bad resp.Value) {
	pubsub := false
	switch strings.ToLower(string(arg)) {
	case "normal":
	case "pubsub":
		pubsub = true
	case "master", "slave", "replica":
		return func(*client) bool { return false }, bad
	default:
		return nil, resp.MakeError("ERR Unknown client type '" + commands.Quote(arg) + "'")
	}
	return func(c *client) bool { return listening(s.hub.CountsOf(&c.inbox)) == pubsub }, bad
}

// kill runs CLIENT KILL addr, and CLIENT KILL with filters that must all match. A client that kills itself still gets
// its reply.
func (c *client) kill(args [][]byte) resp.Value {
	if len(args) == 3 {
		addr := string(args[2])
		if c.server.killAll(c, func(o *client) bool { return o.net.RemoteAddr().String() == addr }) == 0 {
			return resp.MakeError("ERR No such client")
		}
		return resp.OK
	}
	want, bad := c.killFilter(args[2:])
	if bad.IsError() {
		return bad
	}
	return resp.MakeInt(c.server.killAll(c, want))
}

func (c *client) killFilter(args [][]byte) (want func(*client) bool, bad resp.Value) {
	var filters []func(*client) bool
	skipMe := true
	if len(args)%2 != 0 {
		return nil, syntaxError
	}
	for i := 0; i < len(args); i += 2 {
		switch name := option(args, i); name {
		case "USER":
			user := c.server.users.Find(string(args[i+1]))
			if user == nil {
				return nil, resp.MakeError("ERR No such user '" + commands.Quote(args[i+1]) + "'")
			}
			filters = append(filters, func(o *client) bool { return o.user.Load() == user })
		case "SKIPME":
			switch option(args, i+1) {
			case "YES":
				skipMe = true
			case "NO":
				skipMe = false
			default:
				return nil, syntaxError
			}
		default:
			filter, bad := c.server.killBy(name, args[i+1])
			if bad.IsError() {
				return nil, bad
			}
			filters = append(filters, filter)
		}
	}
	return func(o *client) bool {
		for _, filter := range filters {
			if !filter(o) {
				return false
			}
		}
		return o != c || !skipMe
	}, resp.Value{}
}

// killBy returns the filter of CLIENT KILL with that name.
func (s *Server) killBy(name string, arg []byte) (filter func(*client) bool, bad resp.Value) {
	value := string(arg)
	switch name {
	case "ID":
		id, ok := commands.ParseInt(arg)
		if !ok || id < 1 {
			return nil, resp.MakeError("ERR client-id should be greater than 0")
		}
		return func(o *client) bool { return o.id == id }, bad
	case "TYPE":
		return s.ofType(arg)
	case "ADDR":
		return func(o *client) bool { return o.net.RemoteAddr().String() == value }, bad
	case "LADDR":
		return func(o *client) bool { return o.net.LocalAddr().String() == value }, bad
	case "MAXAGE":
		age, ok := commands.ParseInt(arg)
		switch {
		case !ok:
			return nil, resp.MakeError("ERR maxage is not an integer or out of range")
		case age < 1:
			return nil, resp.MakeError("ERR maxage should be greater than 0")
		}
		return func(o *client) bool { return o.age() >= age }, bad
	}
	return nil, syntaxError
}

// killAll closes the matching clients and returns their number.
func (s *Server) killAll(killer *client, want func(*client) bool) int64 {
	n := int64(0)
	for _, o := range s.all() {
		switch {
		case !want(o):
			continue
		case o == killer:
			o.closed = true
		default:
			s.remove(o) // removed first, so it is listed and killed only once
			o.net.Close()
		}
		n++
	}
	return n
}
