package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/transfer"
)

// restoreOptions holds the flags and arguments of restore.
type restoreOptions struct {
	destination
	salvage bool
	at      string
	path    string
}

func newRestore(s *streams) *cobra.Command {
	o := &restoreOptions{}
	cmd := &cobra.Command{
		Use:     "restore [FLAGS] FILE|-|STREAM [TARGET]",
		GroupID: groupMove,
		Short:   "Restore keys from a file, or a file from a stream",
		Long: `Writes the keys of a file of "meowdis dump", or of stdin with -, to the target:
each key to its own database, or all keys to the one that -n names. An existing
key stops it, unless you give --replace or --skip.

STREAM is the place of "meowdis serve --replicate": a directory, file:///path or
s3://bucket/path. The new file has its latest state, or the state --at a time.`,
		Example: `  meowdis restore cats.jsonl new.sqlite --replace
  meowdis restore cats.archive @prod --replace
  meowdis restore s3://bucket/cats cats.sqlite
  meowdis restore --at "2026-11-30 18:05" /backup/cats yesterday.sqlite`,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.checkStream(cmd, args), o.targets.Argument(args[1:])); err != nil {
				return err
			}
			if o.path = args[0]; isStream(o.path) {
				return o.runStream(cmd.Context(), s)
			}
			return o.run(cmd.Context(), s)
		},
	}
	cmd.Flags().BoolVar(&o.salvage, "salvage", false, "continue after damage")
	cmd.Flags().StringVar(&o.at, "at", "", "restore a stream as of `TIME`: 2026-11-30T18:05:00Z, or 2026-11-30 18:05 in local time")
	o.addFlags(cmd)
	return cmd
}

func (o *restoreOptions) run(ctx context.Context, s *streams) (err error) {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	in := s.input(ctx)
	if o.path != "-" {
		f, err := move.OpenFile(o.path)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	r := newMoveReport(s, &o.keys, "restoring", -1, nil)
	var all transfer.Definitions
	source, err := o.source(in, r, &all)
	if err != nil {
		return err
	}
	if err := o.choose(ctx, s, "restore"); err != nil {
		return err
	}
	c, err := o.connect(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, c) }()
	written, err := o.write(ctx, s, c, o.path, "restored", source, r)
	if err == nil && !o.keys.DryRun && o.keys.All() {
		err = r.Load(ctx, c, all, o.existing.Mode(), "restored")
	}
	return r.End(o.explain(ctx, r, written, err))
}

// source recognises the format of a file. all is complete after the source is read.
func (o *restoreOptions) source(in io.Reader, r *move.Report, all *transfer.Definitions) (transfer.Source, error) {
	b := bufio.NewReaderSize(in, 64<<10)
	beginning, err := b.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, move.Reading(o.path, err)
	}
	if len(beginning) == 0 {
		return nil, fmt.Errorf("%s is empty", o.path)
	}
	f, ok := move.Recognise(beginning)
	if !ok {
		return nil, fmt.Errorf("%s is not a file of meowdis dump; for commands and files of Redis use meowdis import", o.path)
	}
	return f.Read(b, transfer.ArchiveOptions{Damaged: r.Damaged(o.salvage), Definitions: all}), nil
}
