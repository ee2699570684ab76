package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/transfer"
)

// dumpOptions are the flags and arguments of dump.
type dumpOptions struct {
	target   targetOptions
	keys     selection
	format   string
	database bool // -n was given
	path     string
}

func newDump(s *streams) *cobra.Command {
	o := &dumpOptions{}
	cmd := &cobra.Command{
		Use:     "dump [FLAGS] FILE|-",
		GroupID: groupMove,
		Short:   "Write keys to a file",
		Long: `Writes all keys of the target, of all its databases or the one that -n names, to
a file, or with - to stdout. Types, databases and expiries are kept. Formats:

  archive   compressed, with checksums; the default. "meowdis restore" reads it
  jsonl     JSON, a line for each key, or for each piece of a large one (.jsonl)
  commands  Redis commands in lines, for "meowdis exec" (.txt, .redis)
  resp      Redis commands as clients send them, for "redis-cli --pipe" (.resp)

The file appears when it is complete. Keys may change meanwhile: each one is
written as it is when its turn comes, and one that was changed while it was read
is named on stderr.

` + moveExitCodesHelp + "\n\n" + targetHelp,
		Example: `  meowdis dump cats.archive
  meowdis dump --db cats.sqlite --match 'cat:*' cats.jsonl
  meowdis dump --url redis://localhost:6379 --format resp - | redis-cli -p 6380 --pipe`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path, o.database = args[0], cmd.Flags().Changed("database")
			return o.run(cmd.Context(), s)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "", "`FORMAT` of the file (default: by its name, or archive)")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatsToWrite(), cobra.ShellCompDirectiveNoFileComp))
	o.keys.addFlags(cmd)
	o.target.addLookFlags(cmd)
	return cmd
}

func (o *dumpOptions) run(ctx context.Context, s *streams) (err error) {
	format, err := formatToWrite(o.format, o.path)
	if err != nil {
		return err
	}
	read, err := o.keys.readOptions()
	if err != nil {
		return err
	}
	if o.path == "-" && s.outTerminal && format.binary {
		return usagef("this format is not for a terminal: give a file, or --format jsonl")
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	c, err := o.target.connectToRead(ctx, s, o.database, &read)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	r := &report{s: s, bar: newProgress(s, "dumping", "keys", total(ctx, c, read))}
	var keys transfer.Written
	seen := func(p transfer.Part) {
		if p.Last && p.Err == nil {
			keys.Keys++
		}
		r.seen(p)
	}
	err = writeFile(o.path, s.out, func(out io.Writer) error {
		return transfer.Run(ctx, of(c.target.String(), c.keys(ctx, read)), format.write(out), r.notify, seen)
	})
	if err != nil {
		return r.end(notWritten(ctx, o.path, err))
	}
	r.say("%s", r.outcome("wrote", keys))
	return r.end(nil)
}

// writeFile makes the file of that name when write succeeds, and leaves what was
// there before otherwise. - is stdout.
func writeFile(path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == "-" {
		return buffered(stdout, write)
	}
	return replaceFile(path, func(f *os.File) error { return buffered(f, write) })
}

// replaceFile is writeFile for what wants a file.
func replaceFile(path string, write func(*os.File) error) (err error) {
	if err := local.CheckNew(path); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("nothing can be made in %s: %w", filepath.Dir(path), local.Pathless(err))
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return local.Pathless(err)
}

func buffered(out io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(out, 256<<10)
	err := write(b)
	if flushed := b.Flush(); err == nil {
		err = flushed
	}
	return err
}
