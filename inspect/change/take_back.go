package change

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// An undo keeps what it overwrites, too, as a change does, in a journal of its own: so it
// can be undone itself, which makes the change again, and so on. A step goes from one of
// the two journals to the other.

// Undone is an undo, or what makes a change again, that came to its end or did not; then
// it can be tried again.
type Undone struct {
	Step   Step
	Again  bool     // the change was made again
	Back   *Step    // what takes this back; nil where nothing was done, or that cannot be kept
	Doubts []string // why it was not begun
	Gone   []string // keys whose time to live was to come back, and that are not there
	Taken  []string // names that keys were to get again, and that others have taken
	Err    error
}

// Undo takes a step back, the last one of the journal: when others changed what it left
// only if that is wanted.
func (c *Maker) Undo(ctx context.Context, s Step, wanted bool) Undone {
	return c.reverse(ctx, s, wanted, c.Journal, c.Redo)
}

// DoAgain makes a change again that was undone last, likewise.
func (c *Maker) DoAgain(ctx context.Context, s Step, wanted bool) Undone {
	u := c.reverse(ctx, s, wanted, c.Redo, c.Journal)
	u.Again = true
	return u
}

// reverse takes a step of one journal back, after it has kept in the other one what takes
// that back in turn. An undo does not fail because of that, only what changes more.
func (c *Maker) reverse(ctx context.Context, s Step, wanted bool, from, to *Journal) Undone {
	u := Undone{Step: s, Err: errConflict}
	for range tries {
		if u.Doubts, u.Gone, u.Err = c.review(ctx, from, s, wanted); len(u.Doubts) > 0 || u.Err != nil {
			return u
		}
		if u.Back = nil; s.done == 0 { // of what is half undone it cannot be told any more
			back, err := c.saveReverse(ctx, s, from, to)
			switch {
			case err == nil:
				u.Back = &back
			case ctx.Err() != nil || to == c.Journal:
				u.Err = err
				return u
			}
		}
		u.Taken = nil
		u.Step.done, u.Err = c.applyUndo(ctx, from, u.Step, func(name string) { u.Taken = append(u.Taken, name) })
		if !errors.Is(u.Err, errConflict) {
			break
		}
		if u.Back != nil {
			err := to.cut(*u.Back)
			if u.Back = nil; err != nil {
				u.Err = err
				break
			}
		}
	}
	return c.settle(ctx, u, from, to)
}

// settle ends a reversal. A change that broke off while it was made again can be undone.
func (c *Maker) settle(ctx context.Context, u Undone, from, to *Journal) Undone {
	switch {
	case u.Err != nil && u.Back != nil && to != c.Journal:
		u.Err = errors.Join(u.Err, to.cut(*u.Back))
		u.Back = nil
	case u.Err == nil && u.Back != nil:
		c.rememberUndone(ctx, u.Step, from, to)
		to.conclude(u.Back)
		u.Back.to = to.end
	}
	if u.Err == nil {
		u.Err = from.cut(u.Step)
	}
	return u
}

// saveReverse keeps what takes the undo of a step back: the commands of the change itself
// where they are known, else the keys as they are now.
func (c *Maker) saveReverse(ctx context.Context, s Step, from, to *Journal) (back Step, err error) {
	if back, err = to.beginStep(s); err != nil {
		return back, err
	}
	known, err := c.hasRedo(from, s)
	if known && err == nil {
		err = from.replayKind(recordRedo, s, func(_ int64, db int, calls [][][]byte) error { return to.add(db, calls) })
	}
	if err == nil {
		err = from.replay(s, func(at int64, db int, calls [][][]byte) error {
			if known {
				return to.addRedo(db, calls)
			}
			return c.saveKeys(ctx, to, db, calls)
		})
	}
	if err == nil {
		err = to.sync()
	}
	if err != nil {
		return back, errors.Join(err, to.cut(back))
	}
	back.to = to.end
	return back, nil
}

// hasRedo reports whether j knows the commands that make a step again. Where they, or the
// undo, set a time to live that is over by now, they do not bring back what that ends.
func (c *Maker) hasRedo(j *Journal, s Step) (known bool, err error) {
	now, over := c.Clock(), false
	err = j.replayKind(recordRedo, s, func(_ int64, _ int, calls [][][]byte) error {
		known, over = true, over || setsPastExpiry(calls, now)
		return nil
	})
	if known && err == nil {
		err = j.replay(s, func(_ int64, _ int, calls [][][]byte) error {
			over = over || setsPastExpiry(calls, now)
			return nil
		})
	}
	return known && !over, err
}

// setsPastExpiry reports whether a call sets a time to live that is over.
func setsPastExpiry(calls [][][]byte, now int64) bool {
	return slices.ContainsFunc(calls, func(call [][]byte) bool {
		name := string(call[0])
		return (name == "PEXPIREAT" || name == "HPEXPIREAT") && target.Atoi(string(call[2])) <= now
	})
}

// saveKeys keeps the keys that calls change, or only when they end where the calls change
// no more.
func (c *Maker) saveKeys(ctx context.Context, to *Journal, db int, calls [][][]byte) error {
	onlyTTLs := !setsPastExpiry(calls, c.Clock()) && !slices.ContainsFunc(calls, func(call [][]byte) bool {
		return string(call[0]) != "PERSIST" && string(call[0]) != "PEXPIREAT"
	})
	images := c.restoreCalls
	if onlyTTLs {
		images = c.ttlCalls
	}
	for _, p := range changedKeys(db, calls) {
		p.keys = slices.DeleteFunc(p.keys, func(key string) bool { return strings.HasPrefix(key, transfer.TemporaryPrefix) })
		there, err := images(ctx, p.db, p.keys, c.Clock(), func(calls [][][]byte) error { return to.add(p.db, calls) })
		if err != nil {
			return err
		}
		if missing := p.without(there); !onlyTTLs && len(missing) > 0 {
			if err := to.add(p.db, deleteCalls(missing)); err != nil {
				return err
			}
		}
	}
	return nil
}

// rememberUndone keeps what the undo of a step left: the answers by now to what was asked
// about the change. Where they cannot be told, whoever takes the undo back is asked.
func (c *Maker) rememberUndone(ctx context.Context, s Step, from, to *Journal) {
	mark, unknown := to.end, false
	s.done = 0
	err := from.replayChecks(s, func(db int, checks []Check) error {
		known, err := c.answer(ctx, db, checks, c.Clock())
		if unknown = unknown || !known; err != nil || unknown {
			return err
		}
		return to.addChecks(db, checks)
	}, func() { unknown = true })
	if err != nil || unknown {
		to.cutAt(mark)
	}
}

// applyUndo runs the commands that undo a step of j. When that breaks off, done is how far
// it came, as in the step. A name that a key cannot get, since there is such a key, goes
// to taken.
func (c *Maker) applyUndo(ctx context.Context, j *Journal, s Step, taken func(name string)) (done int64, err error) {
	plain := c.Refusals.Has("WATCH")
	err = j.replay(s, func(at int64, db int, calls [][][]byte) error {
		job.CostOf(ctx).Progress(at, s.to-s.from)
		done = max(at, s.done)
		values, err := c.commit(ctx, db, !plain, calls)
		if err != nil {
			return err
		}
		for i, v := range values {
			if err := target.ReplyError(v); err != nil && !isExpiredKeyError(calls, i, v) {
				return err
			}
			if i < len(calls) && string(calls[i][0]) == "RENAMENX" && v.Kind == resp.Int && v.Int == 0 {
				taken(display.Text(string(calls[i][2]), 30))
			}
		}
		return nil
	})
	if err != nil {
		return done, err
	}
	return 0, nil
}

// isExpiredKeyError reports whether an error of a command that brings a key back means
// that all of the key would have ended by now.
func isExpiredKeyError(calls [][][]byte, i int, v resp.Value) bool {
	if i >= len(calls) {
		return false
	}
	return (isRename(calls[i]) || string(calls[i][0]) == "LSET") && strings.HasPrefix(string(v.Str), "ERR no such key")
}
