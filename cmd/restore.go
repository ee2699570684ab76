package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/transfer"
)

// restoreOptions are the flags and arguments of restore.
type restoreOptions struct {
	destination
	salvage bool
	path    string
}

func newRestore(s *streams) *cobra.Command {
	o := &restoreOptions{}
	cmd := &cobra.Command{
		Use:     "restore [FLAGS] FILE|-",
		GroupID: groupMove,
		Short:   "Read keys from a file",
		Long: `Writes the keys of a file that "meowdis dump" made, or with - of stdin, to the
target: each into its database, or all into the one that -n names. The format is
recognised.

A key appears whole or not at all. A key that is there already ends it, unless
--replace or --skip is given; what was written before stays.

Nothing of a damaged block of an archive is written. It ends there, unless
--salvage is given, which goes on at the next whole block.

` + moveExitCodesHelp + "\n\n" + targetHelp,
		Example: `  meowdis restore cats.archive
  meowdis restore --db new.sqlite --replace cats.jsonl
  meowdis restore --profile prod --replace cats.archive`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			o.path = args[0]
			return o.run(cmd.Context(), s)
		},
	}
	cmd.Flags().BoolVar(&o.salvage, "salvage", false, "go on behind damage")
	o.addFlags(cmd)
	return cmd
}

func (o *restoreOptions) run(ctx context.Context, s *streams) (err error) {
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	in := s.input(ctx)
	if o.path != "-" {
		f, err := openInput(o.path)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	r := &report{s: s, bar: newProgress(s, "restoring", "keys", -1)}
	source, err := o.source(in, r)
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
	defer func() { err = closing(err, c) }()
	written, err := o.write(ctx, s, c, o.path, "restored", source, r)
	return r.end(o.explain(ctx, r, written, err))
}

// source recognises what is in a file.
func (o *restoreOptions) source(in io.Reader, r *report) (transfer.Source, error) {
	b := bufio.NewReaderSize(in, 64<<10)
	beginning, err := b.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, reading(o.path, err)
	}
	if len(beginning) == 0 {
		return nil, fmt.Errorf("%s is empty", o.path)
	}
	f, ok := formatOf(beginning)
	if !ok {
		return nil, fmt.Errorf("%s is no archive and no JSON of dump; meowdis import reads commands and the files of Redis", o.path)
	}
	return f.read(b, r.damaged(o.salvage)), nil
}

// damaged is who is told of damage, nil where it is the end.
func (r *report) damaged(salvage bool) func(*transfer.Damage) {
	if !salvage {
		return nil
	}
	return func(d *transfer.Damage) {
		r.failed++
		r.say("%v", d)
	}
}
