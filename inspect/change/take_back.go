package change

import (
	"context"
	"errors"
	"strings"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/resp"
)

// Undone is an undo that came to its end, or did not; then it can be tried again.
type Undone struct {
	Step   Step
	Doubts []string // why it was not begun
	Gone   []string // keys whose time to live was to come back, and that are not there
	Err    error
}

// Undo takes a step back: when others changed what it left only if that is wanted.
func (c *Maker) Undo(ctx context.Context, s Step, wanted bool) Undone {
	u := Undone{Step: s, Err: errRaced}
	for range tries {
		if u.Doubts, u.Gone, u.Err = c.review(ctx, s, wanted); len(u.Doubts) > 0 || u.Err != nil {
			return u
		}
		u.Step.done, u.Err = c.takeBack(ctx, u.Step)
		if !errors.Is(u.Err, errRaced) {
			break
		}
	}
	return u
}

// takeBack undoes a step, the last one of the journal, and cuts it off. When that breaks
// off, done is how far it came, as in the step.
func (c *Maker) takeBack(ctx context.Context, s Step) (done int64, err error) {
	plain := c.Refusals.Has("WATCH")
	err = c.Journal.replay(s, func(at int64, db int, calls [][][]byte) error {
		job.CostOf(ctx).Progress(at, s.to-s.from)
		done = max(at, s.done)
		values, err := c.commit(ctx, db, !plain, calls)
		if err != nil {
			return err
		}
		for i, v := range values {
			if err := target.ReplyError(v); err != nil && !endedMeanwhile(calls, i, v) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return done, err
	}
	return 0, c.Journal.cut(s)
}

// endedMeanwhile reports whether an error of a command that brings a key back means
// that all of the key would have ended by now.
func endedMeanwhile(calls [][][]byte, i int, v resp.Value) bool {
	if i >= len(calls) {
		return false
	}
	name := string(calls[i][0])
	return (name == "RENAME" || name == "LSET") && strings.HasPrefix(string(v.Str), "ERR no such key")
}
