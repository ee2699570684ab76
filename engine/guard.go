package engine

import (
	"context"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Guard decides whether a session may run a call, which has the right number of words.
// refused is false for one that it may run; else v is the error reply, or the reply of a connection
// that answers the call itself.
type Guard func(cmd *commands.Command, args [][]byte, at Moment) (v resp.Value, refused bool)

// Moment is when a Guard is asked.
type Moment byte

const (
	Asking   Moment = iota // nothing will run because of it, and nothing is recorded
	Calling                // the client has sent it
	Queueing               // the client has sent it inside MULTI
	Exec                   // EXEC is about to run it, and rights may have changed since
	InScript               // a script calls it
)

// SetGuard makes the session ask before a call runs. A session without a guard may run all.
func (s *Session) SetGuard(g Guard) { s.guard = g }

// Refused asks the session's guard.
func (s *Session) Refused(cmd *commands.Command, args [][]byte, at Moment) (v resp.Value, refused bool) {
	if s.guard == nil {
		return resp.Value{}, false
	}
	return s.guard(cmd, args, at)
}

// find is the command that args call, or nil and the error reply when it can neither run
// nor be queued.
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
	if s.noRoom(ctx, call{cmd, args}) {
		return nil, outOfMemory
	}
	return cmd, bad
}
