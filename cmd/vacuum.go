package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/store/schema"
)

func newVacuum(s *streams) *cobra.Command {
	o := &fileOptions{}
	cmd := &cobra.Command{
		Use:     "vacuum [FLAGS] [TARGET]",
		GroupID: groupMaintain,
		Short:   "Reclaim the space of deleted keys",
		Long: `Packs the file, and prints how many bytes it freed. Meanwhile other processes
can read, but not write, and as much free disk space as the file is needed.`,
		Example:           `  meowdis vacuum cats.sqlite`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runVacuum(cmd.Context(), s, o, args)
		},
	}
	o.addFlags(cmd, true)
	return cmd
}

func runVacuum(ctx context.Context, s *streams, o *fileOptions, args []string) (err error) {
	t, err := o.choose(s, args)
	if err != nil {
		return err
	}
	if err := o.confirmChange(ctx, s, t, "vacuum"); err != nil {
		return err
	}
	f, err := local.OpenFile(t.Path, false)
	if err != nil {
		return err
	}
	defer func() { err = closeFile(err, f) }()
	switch version, err := f.SchemaVersion(); {
	case err != nil:
		return fmt.Errorf("opening %s: %w", f.Path(), err)
	case version > schema.Version:
		return fmt.Errorf("opening %s: %w", f.Path(), local.NewerError(version))
	case version == schema.Version:
		if err := f.Change(func() error { return doctor.DeletePending(f.Query) }); err != nil {
			return err
		}
	}
	before, err := bytesOf(f)
	if err != nil {
		return err
	}
	over := newProgress(s, "packing", "files", -1).Wait("packing " + f.Path())
	err = f.Rewrite(ctx)
	over()
	if err != nil {
		return err
	}
	after, err := bytesOf(f)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(s.out, vacuumResult{f.Path(), before, after})
	}
	_, err = fmt.Fprintf(s.out, "%s: %s before, %s now, %s freed\n", f.Path(),
		display.Bytes(before), display.Bytes(after), display.Bytes(max(before-after, 0)))
	return err
}

// vacuumResult defines the JSON output of vacuum.
type vacuumResult struct {
	File   string `json:"file"`
	Before int64  `json:"bytes_before"`
	After  int64  `json:"bytes_after"`
}

func bytesOf(f *local.File) (int64, error) {
	file, log, err := f.Size()
	return file + log, err
}
