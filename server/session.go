package server

import (
	"context"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Session returns a session for the program that embeds the server, in database 0. It has no connection and no user's
// restrictions. MONITOR and the slow log show the result of who.
func (s *Server) Session(who func() (addr, name string)) *engine.Session {
	addr, _ := who()
	p := &principal{server: s, addr: addr}
	p.user.Store(s.users.Default())
	session := s.config.Engine.SessionOn(func(ctx context.Context, cmd *commands.Command, args [][]byte) (resp.Value, bool) {
		return s.own(ctx, p, cmd, args)
	})
	session.SetWho(who)
	return session
}
