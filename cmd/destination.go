package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// destination is where the keys of a file go.
type destination struct {
	targets  targetOptions
	confirm  confirmOptions
	existing existingOptions
	keys     moveOptions
	target   target // what the flags choose
}

func (d *destination) addFlags(cmd *cobra.Command) {
	d.existing.addFlags(cmd)
	d.keys.addFlags(cmd, "")
	d.confirm.addFlags(cmd)
	d.targets.addFlags(cmd)
}

// check refuses flags that contradict each other, and takes note of those that
// were given.
func (d *destination) check(cmd *cobra.Command) error {
	if d.keys.to < 0 && cmd.Flags().Changed("database") {
		d.keys.to = d.targets.database
	}
	return errors.Join(exclusive(cmd, "replace", "skip"), exclusive(cmd, "database", "db-to"), d.keys.check(cmd))
}

// choose finds the target, and asks whether the verb may write to it.
func (d *destination) choose(ctx context.Context, s *streams, verb string) (err error) {
	if d.target, err = d.targets.resolve(s.getenv); err != nil {
		return err
	}
	d.targets.tell(d.target, s)
	if d.keys.dryRun {
		return nil
	}
	return d.confirm.mayWrite(ctx, s, &d.targets, d.target, verb)
}

// connect connects to the target that was chosen.
func (d *destination) connect(ctx context.Context, s *streams) (*connection, error) {
	t, file := d.target, toWrite
	switch {
	case !d.keys.dryRun:
	case t.isNew():
		t.path = local.Memory // it is not made for this
	default:
		file.ReadOnly = t.path != local.Memory
	}
	c, err := d.targets.enter(ctx, t, file)
	if err != nil {
		return nil, err
	}
	if d.keys.dryRun {
		return c, nil
	}
	if err := c.writable(ctx, s); err != nil {
		return nil, closing(err, c)
	}
	if c.chosen() {
		d.keys.to = c.DB()
	}
	return c, nil
}

// write writes all that the source of the file at path yields, or with --dry-run counts it; did
// is what the verb does.
func (d *destination) write(ctx context.Context, s *streams, c *connection, path, did string, source transfer.Source, r *report) (transfer.Written, error) {
	change, err := d.keys.fromFile(time.Now())
	if err != nil {
		return transfer.Written{}, err
	}
	change.DB = nil // the sink does that: messages name keys as they are in the file
	source = change.Of(of(path, source))
	if d.keys.dryRun {
		if d.keys.to < 0 && c.chosen() {
			d.keys.to = c.DB()
		}
		w := transfer.NewSurveyor(c, into(d.keys.to))
		if err := transfer.Run(ctx, source, w, r.notify, r.seen); err != nil {
			return transfer.Written{}, err
		}
		r.bar.end()
		tellSurvey(s, w.Found(), did, true)
		return transfer.Written{}, r.end(nil)
	}
	w := c.writer(d.existing.mode(), into(d.keys.to), r.notify)
	err = transfer.Run(ctx, source, w, r.notify, r.seen)
	r.say("%s", r.outcome(did, w.Written()))
	return w.Written(), err
}

// sourceError is what kept a file from being read on: to go on is of no use.
type sourceError struct{ error }

func (e sourceError) Unwrap() error { return e.error }

// of is a source whose errors say which file it is.
func of(path string, source transfer.Source) transfer.Source {
	return func(yield func(transfer.Part, error) bool) {
		for p, err := range source {
			if err != nil {
				err = sourceError{reading(path, err)}
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// explain says how to go on behind an error.
func (d *destination) explain(ctx context.Context, r *report, written transfer.Written, err error) error {
	const goOn = "what was written stays: --skip goes on from there"
	var damage *transfer.Damage
	var source sourceError
	switch {
	case errors.Is(err, transfer.ErrExists):
		r.say("%v in %s; --replace replaces such keys, --skip leaves them alone", err, d.target)
		return errAnswered
	case wasStopped(ctx, err):
		return stopped(ctx, goOn)
	case errors.Is(err, rdb.ErrChecksum):
		return fmt.Errorf("%w: any value that was written may be wrong", err)
	case errors.As(err, &damage):
		return fmt.Errorf("%w; nothing of that block was written; restore --salvage --skip goes on behind it", err)
	case err != nil && !errors.As(err, &source) && written != (transfer.Written{}):
		return fmt.Errorf("%w; %s", err, goOn)
	}
	return err
}

// into sends all keys to one database, or with -1 each to its own.
func into(db int) func(int) int {
	if db < 0 {
		return nil
	}
	return func(int) int { return db }
}
