package cmd

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
)

// backupOptions holds the flags of backup.
type backupOptions struct {
	file  fileOptions
	force bool
}

func newBackup(s *streams) *cobra.Command {
	o := &backupOptions{}
	cmd := &cobra.Command{
		Use:     "backup [FLAGS] [TARGET] COPY",
		GroupID: groupMaintain,
		Short:   "Copy a file while other processes use it",
		Long: `Copies a file to COPY as of one moment, while other processes use it. COPY is
one file, which appears only once it is complete, checked and safe on disk.`,
		Example: `  meowdis backup cats.sqlite /backup/cats.sqlite
  meowdis backup cats.sqlite /backup/latest.sqlite --force`,
		Args:              usageArgs(cobra.RangeArgs(1, 2)),
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			return o.run(cmd.Context(), s, args[:last], args[last])
		},
	}
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, "replace an existing file")
	o.file.addFlags(cmd, false)
	return cmd
}

func (o *backupOptions) run(ctx context.Context, s *streams, file []string, to string) (err error) {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		return exit.Usagef("%s is a directory: name the file in it", to)
	} else if err == nil && !o.force {
		another := "name another file"
		if len(file) == 0 { // the user may have left out COPY
			another += " after it"
		}
		return exit.Usagef("the backup file %s already exists: %s, or give --force to replace it", to, another)
	}
	t, err := o.file.choose(s, file)
	if err != nil {
		return err
	}
	f, err := local.OpenFile(t.Path, true)
	if err != nil {
		return err
	}
	defer func() { err = closeFile(err, f) }()
	bar := newProgress(s, "copying", "pages", -1)
	err = f.Backup(ctx, to, local.BackupOptions{Replace: o.force, Progress: func(done, total int) {
		if bar.Set(int64(done), int64(total)); done == total {
			bar.Say("checking the copy")
		}
	}})
	bar.End()
	if exit.WasStopped(ctx, err) {
		return exit.Stopped(ctx, to+" was not written")
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	if o.file.json {
		return printJSON(s.out, backupResult{t.Path, to, info.Size()})
	}
	_, err = fmt.Fprintf(s.out, "%s: %s, checked\n", to, display.Bytes(info.Size()))
	return err
}

// backupResult defines the JSON output of backup.
type backupResult struct {
	File  string `json:"file"`
	Copy  string `json:"copy"`
	Bytes int64  `json:"bytes"` // of the copy, which is checked
}
