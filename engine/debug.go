package engine

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
)

// debugTime limits a debugged script, with the time in which it waits for commands.
const debugTime = time.Hour

var (
	onlyEval  = resp.MakeError("ERR only EVAL can be debugged")
	noDebug   = resp.MakeError("ERR this target cannot run a script step by step")
	noMultiIn = resp.MakeError("ERR a script cannot be debugged inside MULTI")
)

// Debug runs an EVAL under a debugger. It rolls back unless keep is set. While the script is stopped, it holds the
// write lock of the store.
func (s *Session) Debug(ctx context.Context, args [][]byte, keep bool, d *script.Debugger) (reply resp.Value, err error) {
	return s.catchPanics(func() (resp.Value, error) { return s.debug(ctx, args, keep, d) })
}

func (s *Session) debug(ctx context.Context, args [][]byte, keep bool, d *script.Debugger) (reply resp.Value, err error) {
	cmd, bad := commands.Find(args)
	switch {
	case cmd == nil:
		return bad, nil
	case cmd.Name != "EVAL":
		return onlyEval, nil
	case s.multi:
		return noMultiIn, nil
	}
	t, can := s.engine.store.(transactor)
	if !can {
		return noDebug, nil
	}
	compiled, bad := script.CompileDebug(args[1])
	if bad.IsError() {
		return bad, nil
	}
	e, bad := s.evaluate(ctx, call{cmd, args})
	if e == nil {
		return bad, nil
	}
	e.script, e.debugger = compiled, d
	limit := time.Duration(s.engine.timeLimit.Load())
	s.engine.SetTimeLimit(debugTime)
	defer s.engine.SetTimeLimit(limit)
	o := rollBack
	if keep {
		o = 0
	}
	replies, _, err := s.engine.transact(ctx, t, o, nil, []planned{{eval: e, db: s.db}}, &s.work)
	if late, is := limited(err); is {
		return late, nil
	}
	if errors.Is(err, errUndone) || err == nil {
		e.release()
		return replies[0], nil
	}
	return reply, err
}
