package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// destination holds the target that a verb writes the keys of a file to.
type destination struct {
	targets  targets.Options
	confirm  confirmOptions
	existing move.Existing
	keys     move.Options
	target   targets.Target // chosen by the flags
}

func (d *destination) addFlags(cmd *cobra.Command) {
	d.existing.AddFlags(cmd)
	d.keys.AddFlags(cmd, "")
	d.confirm.addFlags(cmd)
	d.targets.AddFlags(cmd)
}

// check refuses contradicting flags, and notes whether the user chose a database.
func (d *destination) check(cmd *cobra.Command) error {
	if d.keys.To < 0 && cmd.Flags().Changed("database") {
		d.keys.To = d.targets.Database
	}
	return errors.Join(flags.Exclusive(cmd, "replace", "skip"), flags.Exclusive(cmd, "database", "to-database"), d.keys.Check(cmd))
}

// choose finds the target, and asks whether the verb may write to it.
func (d *destination) choose(ctx context.Context, s *streams, verb string) (err error) {
	if d.target, err = d.targets.Find(s.getenv, s.err); err != nil {
		return err
	}
	if d.keys.DryRun {
		return nil
	}
	return d.confirm.confirmWrite(ctx, s, &d.targets, d.target, verb)
}

// connect connects to the chosen target.
func (d *destination) connect(ctx context.Context, s *streams) (*targets.Conn, error) {
	t, file := d.target, toWrite
	switch {
	case !d.keys.DryRun:
	case t.IsNew():
		t.Path = local.Memory // a dry run creates no file
	default:
		file.ReadOnly = t.Path != local.Memory
	}
	c, err := d.targets.Enter(ctx, t, file)
	if err != nil {
		return nil, err
	}
	if d.keys.DryRun {
		return c, nil
	}
	if err := writable(ctx, s, c); err != nil {
		return nil, closeConn(err, c)
	}
	if c.Chosen() {
		d.keys.To = c.DB()
	}
	return c, nil
}

// write writes the keys of source, read from the file at path, to c; --dry-run only counts them. did is the verb's
// past participle, for the report.
func (d *destination) write(ctx context.Context, s *streams, c *targets.Conn, path, did string, source transfer.Source, r *move.Report) (transfer.Written, error) {
	change, err := d.keys.FromFile(time.Now())
	if err != nil {
		return transfer.Written{}, err
	}
	change.DB = nil // the sink does that: messages name keys by their database in the file
	source = change.Apply(move.InFile(path, source))
	if d.keys.DryRun {
		if d.keys.To < 0 && c.Chosen() {
			d.keys.To = c.DB()
		}
		w := transfer.NewCounter(c, move.IntoDatabase(d.keys.To))
		if err := transfer.Run(ctx, source, w, r.Notify, r.Seen); err != nil {
			return transfer.Written{}, err
		}
		r.Bar.End()
		return transfer.Written{}, errors.Join(printCounts(s, &d.keys, w.Found(), did, true), r.End(nil))
	}
	w := move.NewWriter(c, d.existing.Mode(), move.IntoDatabase(d.keys.To), r.Notify)
	err = transfer.Run(ctx, move.Sorted(ctx, c, source, func() error { return w.Flush(ctx) }), w, r.Notify, r.Seen)
	r.Done(did, w.Written())
	return w.Written(), err
}

// explain adds to err how to continue.
func (d *destination) explain(ctx context.Context, r *move.Report, written transfer.Written, err error) error {
	const goOn = "the keys written so far are kept: to continue, run the same command with --skip"
	var damage *transfer.Damage
	var source move.ReadError
	switch {
	case errors.Is(err, transfer.ErrExists):
		r.Say("%v in %s; give --replace to replace such keys, or --skip to keep them", err, d.target)
		return exit.ErrReported
	case exit.WasStopped(ctx, err):
		return exit.Stopped(ctx, goOn)
	case errors.Is(err, rdb.ErrChecksum):
		return fmt.Errorf("%w: any value written so far may be wrong", err)
	case errors.As(err, &damage):
		return fmt.Errorf("%w; nothing of that block was written; restore --salvage --skip continues after it", err)
	case err != nil && !errors.As(err, &source) && written != (transfer.Written{}):
		return fmt.Errorf("%w; %s", err, goOn)
	}
	return err
}
