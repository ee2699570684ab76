package server

import (
	"context"

	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/resp"
)

// Enter finds a client's tenant by the user name (acl.Default if none was given) and token. The tenant's server serves
// the client until leave is called. to is nil if the name or token is wrong. bad is the reply if the client cannot
// enter now.
type Enter func(ctx context.Context, name, token string) (to *Server, leave func(), bad resp.Value)

// ACL rules of a tenant: all commands for its own database and clients, none for the process or its users.
var tenantRules = []string{
	"reset", "on", "~*", "&*", "+@all", "-@admin",
	"+client", "+config|get", "+config|resetstat", "+slowlog", "+latency", "+monitor", "+role", "+lastsave", "+module|list",
	"-memory|stats", "-memory|malloc-stats", "-memory|doctor", "-acl|resttoken",
}

// tenantCommand limits a tenant's command, in bytes. A command is in memory before any budget counts it.
const tenantCommand = 64 << 20

// setUpTenant sets up a server for a tenant of Config.Within.
func (s *Server) setUpTenant() {
	within := s.config.Within
	s.since = within.since
	s.memory = within.memory.SubPool(s.config.MaxMemory)
	s.tally.AddTo(within.tally)
	s.traffic.whole = &within.traffic
	if wrong := s.users.Set(acl.Default, tenantRules); wrong != "" {
		panic(wrong) // unreachable: the rules are constant
	}
}

// enterFunc returns the func that finds tenants, or nil on a server without tenants.
func (s *Server) enterFunc() Enter {
	if s.config.Within != nil {
		return s.config.Within.config.Enter
	}
	return s.config.Enter
}

// Expel closes all connections of a tenant permanently.
func (s *Server) Expel() {
	s.expelled.Store(true)
	s.killAll(nil, func(*client) bool { return true })
	s.endStreams(func(*stream) bool { return true })
}

// tenantEntry holds the tenant that a client has entered.
type tenantEntry struct {
	to    *Server // server to move to after the reply, or nil
	leave func()  // leaves the tenant; nil without a tenant
}

var otherTenant = resp.MakeError("ERR this connection belongs to another database: open a connection for each")

// enter logs a client in to a tenant and reports whether the token belongs to one.
func (c *client) enter(name, token string) (v resp.Value, found bool) {
	enter := c.server.enterFunc()
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
		if c.entry.leave != nil { // it had entered another tenant before RESET
			c.entry.leave()
		}
		c.entry = tenantEntry{to, leave}
	}
	c.authed = true
	c.markAuthenticated()
	return resp.OK, true
}

// moveToTenant moves a client to the tenant that it has entered, after the reply was sent.
func (c *client) moveToTenant() {
	to := c.entry.to
	if to == nil {
		return
	}
	c.entry.to = nil
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

// end removes the client from its server and tenant.
func (c *client) end() {
	c.server.remove(c)
	c.session.Release()
	if c.entry.leave != nil {
		c.entry.leave()
	}
}

// TenantFigures holds the tenants' numbers for the metrics page.
type TenantFigures struct {
	Open, Clients           int
	Opened, Failed, Crowded int64
}
