package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store/schema"
)

func newMigrate(s *streams) *cobra.Command {
	o := &fileOptions{}
	cmd := &cobra.Command{
		Use:     "migrate [FLAGS] [TARGET]",
		GroupID: groupMaintain,
		Short:   "Update a file of an older meowdis, after a backup",
		Long: `Updates the tables of a file to the schema of this meowdis, in one transaction,
and keeps a copy of the old file beside it. Every verb that writes does the
same, but without the copy.`,
		Example:           `  meowdis migrate cats.sqlite`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runMigrate(cmd.Context(), s, o, args)
		},
	}
	o.addFlags(cmd, true)
	return cmd
}

func runMigrate(ctx context.Context, s *streams, o *fileOptions, args []string) error {
	t, err := o.choose(s, args)
	if err != nil {
		return err
	}
	f, err := local.OpenFile(t.Path, true)
	if err != nil {
		return err
	}
	version, err := f.SchemaVersion()
	backup := backupName(f.Path(), fmt.Sprintf("schema-%d", version))
	switch {
	case err != nil:
		err = fmt.Errorf("opening %s: %w", f.Path(), err)
	case version > schema.Version:
		err = fmt.Errorf("opening %s: %w", f.Path(), local.NewerError(version))
	case version == 0:
		err = fmt.Errorf("opening %s: it is empty: nothing to migrate", f.Path())
	case version == schema.Version:
	default:
		if err = o.confirmChange(ctx, s, t, "migrate"); err != nil {
			break
		}
		err = f.Backup(ctx, backup, local.BackupOptions{})
	}
	if err = closeFile(err, f); err != nil {
		return err
	}
	if version == schema.Version {
		if o.json {
			return printJSON(s.out, migrateResult{File: f.Path(), From: version, To: version})
		}
		_, err := fmt.Fprintf(s.out, "%s: schema version %d is up to date\n", f.Path(), version)
		return err
	}
	migrated, err := local.Open(f.Path(), local.Options{SweepEvery: noSweep})
	if err != nil {
		return fmt.Errorf("%w; the original file is saved as %s", err, backup)
	}
	if err := migrated.Close(); err != nil {
		return err
	}
	if o.json {
		return printJSON(s.out, migrateResult{f.Path(), version, schema.Version, backup})
	}
	_, err = fmt.Fprintf(s.out, "%s: updated from schema version %d to %d; the original file is saved as %s\n", f.Path(), version, schema.Version, backup)
	return err
}

// migrateResult defines the JSON output of migrate.
type migrateResult struct {
	File   string `json:"file"`
	From   int    `json:"from"` // its schema version before
	To     int    `json:"to"`
	Backup string `json:"backup,omitempty"` // a copy of the file before the migration; empty if it was up to date
}
