package engine

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// RunsScripts reports whether a command is a form of EVAL or FCALL.
func RunsScripts(cmd *commands.Command) bool { return runsScripts(cmd) }

// Watch wraps run for one command of a script. call is empty for the engine's lookup of a function.
type Watch = func(call [][]byte, run Run) Run

// Trial runs a form of EVAL or FCALL in a transaction, watches the commands that it calls, and then rolls back.
// It may run the script twice, and calls start each time. A script that may write runs for at most hold,
// because writers wait for it; hold stays the engine's time limit. The store must be a transactor.
func (s *Session) Trial(ctx context.Context, args [][]byte, hold time.Duration, start func() Watch) (reply resp.Value, err error) {
	cmd, bad := commands.Find(args)
	if cmd == nil {
		return bad, nil
	}
	var e *evaluation
	err = store.Caught(func() error {
		e, bad = s.evaluate(ctx, call{cmd, args})
		return nil
	})
	if late, is := limited(err); is || err != nil {
		return late, err
	}
	if e == nil {
		return bad, nil
	}
	e.trial = start
	o := rollBack
	if e.mayRead() {
		o |= reading
	}
	var replies []resp.Value
	for {
		if !o.has(reading) {
			s.engine.SetTimeLimit(hold)
		}
		replies, _, err = s.engine.transact(ctx, s.engine.store.(transactor), o, nil, []planned{{eval: e, db: s.db}}, &s.work)
		if !o.has(reading) || !errors.Is(err, errWrites) {
			break
		}
		o &^= reading
	}
	if late, is := limited(err); is {
		return late, nil
	}
	if errors.Is(err, errUndone) {
		return replies[0], nil
	}
	return reply, err
}
