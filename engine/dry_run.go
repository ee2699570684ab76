package engine

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// errUndone ends a transaction that is only to be looked at.
var errUndone = errors.New("undone")

// RunsScripts reports whether a command is EVAL, FCALL or one of their like.
func RunsScripts(cmd *commands.Command) bool { return runsScripts(cmd) }

// Watch has a command of a script run by what it makes of run. One without words is the engine's
// look for a function.
type Watch = func(call [][]byte, run Run) Run

// Trial runs a call of EVAL, FCALL or one of their like in a transaction, which it then undoes, and
// watches what it calls. It may run twice, and calls start each time. One that may write runs for hold at
// most, since writers wait for it: that stays the engine's time limit. The store must be able to hold a
// transaction open.
func (s *Session) Trial(ctx context.Context, args [][]byte, hold time.Duration, start func() Watch) (reply resp.Value, err error) {
	cmd, bad := commands.Find(args)
	if cmd == nil {
		return bad, nil
	}
	e, bad := s.evaluate(ctx, call{cmd, args})
	if e == nil {
		return bad, nil
	}
	reads := e.mayRead()
	if !reads {
		s.engine.SetTimeLimit(hold)
	}
	reply, err = s.trial(ctx, e, reads, start)
	if errors.Is(err, errWrites) {
		s.engine.SetTimeLimit(hold)
		reply, err = s.trial(ctx, e, false, start)
	}
	if late, is := limited(err); is {
		return late, nil
	}
	if errors.Is(err, errUndone) {
		err = nil
	}
	return reply, err
}

// trial is one try of Trial; errWrites ends one that reads and should not.
func (s *Session) trial(ctx context.Context, e *evaluation, reads bool, start func() Watch) (reply resp.Value, err error) {
	e.reading = reads
	env := s.engine.env(0, &s.work)
	err = s.engine.store.(transactor).Transact(ctx, reads, guarded(func(run Run) (err error) {
		e.watch = start()
		if reply, err = e.within(run, env, 0, s.db, &s.work); err != nil {
			return err
		}
		return errUndone
	}))
	return reply, err
}
