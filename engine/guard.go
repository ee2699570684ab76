package engine

import (
	"context"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Guard decides whether a session may run a call, whose number of arguments is valid. refused is false if it
// may; else v is the error reply, or the reply of a connection that answers the call itself.
type Guard func(cmd *commands.Command, args [][]byte, at Moment) (v resp.Value, refused bool)

// Moment is the reason for a call of a Guard.
type Moment byte

const (
	Asking   Moment = iota // only a question: nothing runs, and nothing is recorded
	Calling                // the client has sent it
	Queueing               // the client has sent it in MULTI
	Exec                   // EXEC is about to run it; permissions may have changed since MULTI
	InScript               // a script calls it
)

// SetGuard sets the guard that decides on each call. A session without a guard may run every command.
func (s *Session) SetGuard(g Guard) { s.guard = g }

// Refused calls the session's guard.
func (s *Session) Refused(cmd *commands.Command, args [][]byte, at Moment) (v resp.Value, refused bool) {
	if s.guard == nil {
		return resp.Value{}, false
	}
	return s.guard(cmd, args, at)
}

// find returns the command that args call, or nil and the error reply if it can be neither run nor queued.
func (s *Session) find(ctx context.Context, args [][]byte) (cmd *commands.Command, bad resp.Value) {
	cmd, bad = commands.Find(args)
	if cmd == nil {
		return nil, bad
	}
	at := Calling
	if s.multi {
		if at = Queueing; cmd.Flags&commands.NoMulti != 0 {
			return nil, resp.MakeError("ERR Command not allowed inside a transaction")
		}
	}
	if v, refused := s.Refused(cmd, args, at); refused {
		if !v.IsError() {
			s.show(call{cmd, args}, s.db)
		}
		return nil, v
	}
	if reason := s.engine.readOnly; reason != "" && cmd.Flags&commands.Write != 0 {
		return nil, resp.MakeError("READONLY " + reason)
	}
	if s.overQuota(ctx, call{cmd, args}) {
		return nil, outOfMemory
	}
	return cmd, bad
}
