package change

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/transfer"
)

// Copying is keys of another target that a change brings here.
type Copying struct {
	From    *Maker
	DB      int // of the keys there
	Keys    Selection
	Replace bool // keys that are here already; else they stay

	copied, kept int64
	failed       int64
	why          string // of the first that failed
}

// copyAll copies keys some at a time: what each overwrites, or that it was not there, is
// kept before.
func (c *Maker) copyAll(ctx context.Context, db int, ch *Change) (*Step, error) {
	s, err := c.Journal.begin(ch.Title)
	if err != nil {
		return nil, err
	}
	from, done := ch.Copies, int64(0)
	err = from.From.visit(ctx, from.DB, from.Keys, func(names []string) error {
		for some := range slices.Chunk(names, KeysAtOnce) {
			job.CostOf(ctx).Progress(done, ch.Many)
			done += int64(len(some))
			if err := c.copySome(ctx, db, from, some); err != nil {
				return err
			}
		}
		return nil
	})
	s.to = c.Journal.end
	ch.Title += from.said()
	if !c.Journal.keeps(s) {
		return nil, errors.Join(err, c.Journal.cut(s))
	}
	if err == nil && from.failed > 0 {
		err = fmt.Errorf("%s: %s: %s", ch.Title, display.Counted(from.failed, "key was not copied", "keys were not copied"), from.why)
	}
	return &s, err
}

// said is what became of the keys.
func (f *Copying) said() string {
	said := ": " + display.Counted(f.copied, "key", "keys")
	if f.kept > 0 {
		said += "; " + display.Grouped(f.kept) + " there already"
	}
	return said
}

func (c *Maker) copySome(ctx context.Context, db int, f *Copying, names []string) error {
	there, err := existing(ctx, c.Conn, db, names)
	if err != nil {
		return err
	}
	var old, fresh []string
	for i, name := range names {
		if there[i] {
			old = append(old, name)
		} else {
			fresh = append(fresh, name)
		}
	}
	o := transfer.WriteOptions{Existing: transfer.Skip, DB: func(int) int { return db }, Notify: func(k *transfer.Key, why error) {
		if f.failed++; f.failed == 1 {
			f.why = display.Text(string(k.Name), 40) + ": " + why.Error()
		}
	}}
	if f.Replace {
		o.Existing = transfer.Replace
		add := func(calls [][][]byte) error { return c.Journal.add(db, calls) }
		if _, err := c.images(ctx, db, old, c.Clock(), add); err != nil {
			return err
		}
	} else {
		f.kept += int64(len(old))
		names = fresh
	}
	if len(names) == 0 {
		return nil
	}
	if err := c.Journal.add(db, gone(fresh)); err != nil {
		return err
	}
	if err := c.Journal.sync(); err != nil {
		return err
	}
	w := transfer.NewWriter(c.In(db), o)
	err = transfer.Run(ctx, transfer.FromKeys(ctx, f.From.In(f.DB), target.Names(names)...), w, o.Notify, nil)
	f.copied += w.Written().Keys
	c.Journal.keys += w.Written().Keys
	checks := asked(WholeKey, names)
	if known, failed := c.answer(context.WithoutCancel(ctx), db, checks, c.Clock()); failed == nil && known {
		err = errors.Join(err, c.Journal.addChecks(db, checks))
	}
	return err
}
