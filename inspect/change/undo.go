package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// Like a change, an undo saves the data it overwrites, in a second journal. So an undo can
// be undone, which is a redo, and so on. A step moves from one journal to the other.

// UndoResult holds the result of an undo or a redo. If it was interrupted, it can be retried.
type UndoResult struct {
	Step        Step
	IsRedo      bool     // it was a redo
	Back        *Step    // undoes this in turn; nil if nothing was done or it cannot be saved
	Conflicts   []string // reasons why it was not started
	MissingKeys []string // missing keys whose TTL was to be restored
	TakenNames  []string // names that were to be restored, and that other keys have now
	LostRules   []string // compaction rules that were not restored, with the reasons
	Err         error
}

// Undo undoes the last step of the journal. If another client has changed the data since
// the step, Undo requires wanted.
func (c *Maker) Undo(ctx context.Context, s Step, wanted bool) UndoResult {
	return c.reverse(ctx, s, wanted, c.Journal, c.RedoJournal)
}

// Redo redoes the change that was undone last, under the same condition.
func (c *Maker) Redo(ctx context.Context, s Step, wanted bool) UndoResult {
	u := c.reverse(ctx, s, wanted, c.RedoJournal, c.Journal)
	u.IsRedo = true
	return u
}

// reverse undoes a step of one journal after saving, in the other one, what undoes that in
// turn. If this cannot be saved, a redo fails; an undo continues without it.
func (c *Maker) reverse(ctx context.Context, s Step, wanted bool, from, to *Journal) UndoResult {
	u := UndoResult{Step: s, Err: errConflict}
	for range tries {
		if u.Conflicts, u.MissingKeys, u.Err = c.review(ctx, from, s, wanted); len(u.Conflicts) > 0 || u.Err != nil {
			return u
		}
		if u.Back = nil; s.done == 0 { // a half undone step can no longer be saved
			back, err := c.saveReverse(ctx, s, from, to)
			switch {
			case err == nil:
				u.Back = &back
			case ctx.Err() != nil || to == c.Journal:
				u.Err = err
				return u
			}
		}
		u.TakenNames, u.LostRules = nil, nil
		u.Step.done, u.Err = c.applyUndo(ctx, from, u.Step, func(name string) { u.TakenNames = append(u.TakenNames, name) })
		if u.Err == nil {
			u.Err = c.createRules(ctx, from, u.Step, func(source, target string, why error) {
				u.LostRules = append(u.LostRules, fmt.Sprintf("the compaction rule from %s into %s: %v", display.Text(source, 30), display.Text(target, 30), why))
			})
		}
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

// settle completes a reversal. A redo that was interrupted can be undone.
func (c *Maker) settle(ctx context.Context, u UndoResult, from, to *Journal) UndoResult {
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

// saveReverse saves what reverts the undo of a step: the commands of the change itself if
// they are recorded, else the current state of the keys.
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

// hasRedo reports whether j has commands that redo the step. It returns false if they or
// the undo set an expiry that has passed by now: they could not restore the expired data.
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

// setsPastExpiry reports whether a call sets an expiry that has passed.
func setsPastExpiry(calls [][][]byte, now int64) bool {
	return slices.ContainsFunc(calls, func(call [][]byte) bool {
		name := string(call[0])
		return (name == "PEXPIREAT" || name == "HPEXPIREAT") && client.Atoi(string(call[2])) <= now
	})
}

// saveKeys saves the keys that calls change, or only their expiry if the calls change no
// more than that.
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
		there, err := images(ctx, p.db, p.keys, c.Clock(), func(kind byte, calls [][][]byte) error { return to.addCalls(kind, p.db, calls) })
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

// rememberUndone records the state after the undo of a step: the current answers to the
// step's checks. If they cannot be determined, undoing the undo asks first.
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

// applyUndo runs the commands that undo a step of j. If it is interrupted, done is the
// position it reached, as in the step. It calls taken with each name that cannot be
// restored because another key has it.
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
			if err := client.ReplyError(v); err != nil && !isExpiredKeyError(calls, i, v) {
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

// isExpiredKeyError reports whether the error of a command that restores a key means that
// the key would have expired by now.
func isExpiredKeyError(calls [][][]byte, i int, v resp.Value) bool {
	if i >= len(calls) {
		return false
	}
	return (isRename(calls[i]) || string(calls[i][0]) == "LSET") && strings.HasPrefix(string(v.Str), "ERR no such key")
}
