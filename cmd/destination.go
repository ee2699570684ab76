package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/transfer"
)

// destination is where the keys of a file go.
type destination struct {
	target   targetOptions
	existing existingOptions
	to       int // the database for all keys; -1 for their own
}

func (d *destination) addFlags(cmd *cobra.Command) {
	d.existing.addFlags(cmd)
	d.target.addFlags(cmd)
}

// check refuses flags that contradict each other, and takes note of those that
// were given.
func (d *destination) check(cmd *cobra.Command) error {
	if d.to = -1; cmd.Flags().Changed("database") {
		d.to = d.target.database
	}
	return exclusive(cmd, "replace", "skip")
}

// write writes all that source yields.
func (d *destination) write(ctx context.Context, s *streams, source transfer.Source, r *report) (written transfer.Written, err error) {
	c, err := d.target.connect(ctx, s, toWrite, false)
	if err != nil {
		return written, err
	}
	defer func() { err = closing(err, c) }()
	if c.chosen() {
		d.to = c.DB()
	}
	w := transfer.NewWriter(c, transfer.WriteOptions{Existing: d.existing.mode(), DB: into(d.to), Notify: r.notify, AtOnce: atOnce(c)})
	err = transfer.Run(ctx, source, w, r.notify, r.seen)
	return w.Written(), err
}

// into sends all keys to one database, or with -1 each to its own.
func into(db int) func(int) int {
	if db < 0 {
		return nil
	}
	return func(int) int { return db }
}
