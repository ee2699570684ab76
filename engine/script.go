package engine

import (
	"context"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

// PipelineUntilError runs commands in order and stops after the first reply that is or contains an error. It
// returns the replies up to that one. If ctx ends or the store fails, it returns the error and the replies of
// the commands that ran.
//
// On a store that can hold a transaction open, consecutive commands share one transaction, so a file of
// commands runs as fast as a pipeline. On any other store they run one by one.
func (s *Session) PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	t, can := s.engine.store.(transactor)
	replies := make([]resp.Value, 0, len(calls))
	for len(calls) > 0 {
		var run []planned
		if can {
			run = s.plain(calls)
		}
		got, err := make([]resp.Value, 1), error(nil)
		if len(run) > 0 {
			got, err = s.untilError(ctx, t, run)
		} else {
			got[0], err = s.Do(ctx, calls[0]...)
		}
		if err != nil {
			return replies, err
		}
		replies = append(replies, got...)
		if got[len(got)-1].HasError() {
			return replies, nil
		}
		calls = calls[len(got):]
	}
	return replies, nil
}

// plain returns the leading calls that need only the store and the session's database.
func (s *Session) plain(calls [][][]byte) []planned {
	var run []planned
	if s.multi {
		return nil
	}
	for _, args := range calls {
		cmd, _ := commands.Find(args)
		if cmd == nil || !translator.Translates(cmd) {
			break
		}
		if _, refused := s.Refused(cmd, args, Asking); refused || !s.engine.skipsQuota(call{cmd, args}) {
			break
		}
		if _, waits := s.waits(call{cmd, args}); waits {
			break
		}
		run = append(run, s.planned(call{cmd, args}))
	}
	return run
}

// untilError runs the first calls, up to an error or to the limits of one transaction.
func (s *Session) untilError(ctx context.Context, t transactor, calls []planned) ([]resp.Value, error) {
	for {
		replies, err := s.inOne(ctx, t, calls)
		switch late, is := limited(err); {
		case !is:
			if err == nil {
				s.ranAll(calls, replies)
			}
			return replies, err
		case len(replies) == 0:
			return []resp.Value{late}, nil
		}
		calls = calls[:len(replies)] // these succeeded, and run again without the call that failed
	}
}

func (s *Session) inOne(ctx context.Context, t transactor, calls []planned) (replies []resp.Value, err error) {
	env := s.engine.env(0, &s.work)
	used := s.work.Budget.Used()
	f, reads := &s.engine.feed, readOnly(calls)
	err = t.Transact(ctx, reads, panicsAsErrors(func(run Run) error {
		each := run
		if !reads {
			run = f.recordWrites(&f.current, run)
		}
		s.work.Budget.Rewind(used)
		replies = make([]resp.Value, 0, len(calls))
		began := time.Now()
		for i, c := range calls {
			start := time.Now()
			p, err := c.plan(env, i)
			if err != nil {
				return err
			}
			v, err := s.engine.steps(run, p, &s.work)
			if err == nil && !reads {
				err = f.serve(&f.current, inside{f, &f.current, each})
			}
			if err != nil {
				return err
			}
			calls[i].took = time.Since(start)
			replies = append(replies, v)
			if v.HasError() || ctx.Err() != nil || time.Since(began) > maxBlockTime {
				break // the calls that ran are committed
			}
		}
		return nil
	}))
	return replies, err
}
