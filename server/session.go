package server

import (
	"context"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Session starts a session of the program that the server is a part of, in database 0. It has no
// connection, and the rules of no user bind it. MONITOR and the slow log call it what who returns.
func (s *Server) Session(who func() (addr, name string)) *engine.Session {
	addr, _ := who()
	p := &person{server: s, addr: addr}
	p.user.Store(s.users.Default())
	session := s.config.Engine.SessionOn(func(ctx context.Context, cmd *commands.Command, args [][]byte) (resp.Value, bool) {
		return s.own(ctx, p, cmd, args)
	})
	session.SetWho(who)
	return session
}
