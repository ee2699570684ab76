package engine

import (
	"context"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Guard decides whether a session may run a call, whose number of arguments is valid. refused is false if it
// may; else v is the error reply, or the reply of a connection that answers the call itself. step, unless it is nil, is
// called with the steps of the decision; it may panic.
type Guard func(cmd *commands.Command, args [][]byte, at Moment, step func(n int)) (v resp.Value, refused bool)

// Moment gives the reason for a call of a Guard.
type Moment byte

const (
	Asking   Moment = iota // only a question: nothing runs, and nothing is recorded
	Calling                // the client has sent it
	Queueing               // the client has sent it in MULTI
	Exec                   // EXEC is about to run it; permissions may have changed since MULTI
	InScript               // a script calls it
)

// SetGuard sets the guard that decides on each call. A session without a guard may run every command.
func (s *Session) SetGuard(g Guard) { s.guard, s.step = g, s.work.Step }

// Refused calls the session's guard.
func (s *Session) Refused(cmd *commands.Command, args [][]byte, at Moment) (v resp.Value, refused bool) {
	return s.refused(cmd, args, at, nil)
}

func (s *Session) refused(cmd *commands.Command, args [][]byte, at Moment, step func(int)) (v resp.Value, refused bool) {
	if s.guard == nil {
		return resp.Value{}, false
	}
	return s.guard(cmd, args, at, step)
}

// mayRead returns a function that reports whether the guard lets a call of cmd read a key that its arguments do not
// name, nil without a guard.
func (s *Session) mayRead(cmd *commands.Command) func(key []byte) bool {
	if s.guard == nil || cmd == nil {
		return nil
	}
	var asked *commands.Command
	return func(key []byte) bool {
		if asked == nil {
			c := *cmd
			c.Keys, c.FindKeys = commands.Lookup("GET").Keys, nil
			asked = &c
		}
		_, refused := s.guard(asked, [][]byte{[]byte(asked.Name), key}, Asking, nil)
		return !refused
	}
}

// check returns the call of args, or a call without a command and the error reply if it can be neither run nor
// queued. With planOnly it records nothing.
func (s *Session) check(ctx context.Context, args [][]byte, o options) (c call, bad resp.Value) {
	cmd, bad := commands.Find(args)
	if cmd == nil {
		return call{}, bad
	}
	c = call{cmd, args}
	at, step := Calling, (func(int))(nil)
	switch {
	case o.has(planOnly):
		at, step = Asking, s.step
		s.work.Step(stepsPerArg * len(args))
	case s.multi:
		if at = Queueing; cmd.Flags&commands.NoMulti != 0 {
			return call{}, resp.MakeError("ERR Command not allowed inside a transaction")
		}
	}
	if v, refused := s.refused(cmd, args, at, step); refused {
		if !v.IsError() && at != Asking {
			s.show(c, s.db)
		}
		return call{}, v
	}
	if reason := s.engine.readOnly(); reason != "" && cmd.Flags&commands.Write != 0 {
		return call{}, resp.MakeError("READONLY " + reason)
	}
	if at == Asking && !s.engine.skipsQuota(c) || at != Asking && s.overQuota(ctx, c) {
		return call{}, outOfMemory
	}
	if v, busy := s.engine.busyWith(cmd); busy {
		return call{}, v
	}
	return c, bad
}
