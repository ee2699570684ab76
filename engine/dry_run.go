package engine

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// errUndone rolls back the transaction of a trial.
var errUndone = errors.New("undone")

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

// trial makes one attempt at Trial. A read-only attempt that turns out to write returns errWrites.
func (s *Session) trial(ctx context.Context, e *evaluation, reads bool, start func() Watch) (reply resp.Value, err error) {
	e.reading = reads
	env := s.engine.env(0, &s.work)
	err = s.engine.store.(transactor).Transact(ctx, reads, panicsAsErrors(func(run Run) (err error) {
		e.watch = start()
		if reply, err = e.within(run, env, 0, s.db, &s.work); err != nil {
			return err
		}
		return errUndone
	}))
	return reply, err
}
