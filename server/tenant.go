package server

import (
	"context"

	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/resp"
)

// Enter finds the tenant that a client is of, by the name that it gave, acl.Default for none, and
// its token. Until leave is called the server of that tenant serves the client. A nil one is a wrong
// name or token, and bad is the reply to a client that cannot enter now.
type Enter func(ctx context.Context, name, token string) (to *Server, leave func(), bad resp.Value)

// tenantRules are those of a tenant: all that is about its own database and its own clients, and
// nothing about the process or its users.
var tenantRules = []string{
	"reset", "on", "~*", "&*", "+@all", "-@admin",
	"+client", "+config|get", "+config|resetstat", "+slowlog", "+latency", "+monitor", "+role", "+lastsave", "+module|list",
	"-memory|stats", "-memory|malloc-stats", "-memory|doctor", "-acl|resttoken",
}

// tenantCommand is how many bytes a command of a tenant may have: it is in memory before anything counts it.
const tenantCommand = 64 << 20

// beTenant makes a new server one of a tenant of Config.Within.
func (s *Server) beTenant() {
	within := s.config.Within
	s.since = within.since
	s.memory = within.memory.Within(s.config.MaxMemory)
	s.tally.AddTo(within.tally)
	s.traffic.whole = &within.traffic
	if wrong := s.users.Set(acl.Default, tenantRules); wrong != "" {
		panic(wrong) // the rules are ours
	}
}

// entrance is where clients say which tenant they are of, nil on a server without tenants.
func (s *Server) entrance() Enter {
	if s.config.Within != nil {
		return s.config.Within.config.Enter
	}
	return s.config.Enter
}

// Expel closes all connections of a tenant, for good.
func (s *Server) Expel() {
	s.expelled.Store(true)
	s.killAll(nil, func(*client) bool { return true })
	s.endStreams(func(*stream) bool { return true })
}

// visit is a client's stay with a tenant.
type visit struct {
	to    *Server // where it goes after its reply, nil for nowhere
	leave func()  // ends the stay, nil for none
}

var otherTenant = resp.MakeError("ERR this connection is that of another database: open one for each")

// enter logs a client in to a tenant, and reports whether the token is one of a tenant.
func (c *client) enter(name, token string) (v resp.Value, found bool) {
	enter := c.server.entrance()
	if enter == nil {
		return v, false
	}
	to, leave, bad := enter(c.life, name, token)
	switch {
	case bad.IsError():
		return bad, true
	case to == nil:
		return v, false
	case to == c.server:
		leave()
		c.user.Store(to.users.Default())
	case c.authed:
		leave()
		return otherTenant, true
	default:
		if c.visit.leave != nil { // it was another's until RESET
			c.visit.leave()
		}
		c.visit = visit{to, leave}
	}
	c.authed = true
	c.met()
	return resp.OK, true
}

// move makes a client that of the tenant which it has entered, once it has the reply.
func (c *client) move() {
	to := c.visit.to
	if to == nil {
		return
	}
	c.visit.to = nil
	c.server.remove(c)
	c.session.Release()
	c.mu.Lock()
	c.server = to
	c.mu.Unlock()
	if g, ok := c.net.(*limitedConn); ok {
		g.traffic.Store(&to.traffic)
	}
	c.begin()
	to.counts.connections.Add(1)
	to.add(c)
	c.closed = c.closed || to.expelled.Load()
}

// end is the end of a client.
func (c *client) end() {
	c.server.remove(c)
	c.session.Release()
	if c.visit.leave != nil {
		c.visit.leave()
	}
}

// TenantFigures are what the metrics tell of tenants.
type TenantFigures struct {
	Open, Clients           int
	Opened, Failed, Crowded int64
}
