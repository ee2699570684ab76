package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/transfer"
)

// dumpOptions holds the flags and arguments of dump.
type dumpOptions struct {
	target   targets.Options
	keys     move.Options
	format   string
	database bool // -n was given
	file     outFile
}

func newDump(s *streams) *cobra.Command {
	o := &dumpOptions{}
	cmd := &cobra.Command{
		Use:     "dump [FLAGS] [SOURCE] FILE|-",
		GroupID: groupMove,
		Short:   "Write keys to a file",
		Long: `Writes all keys of the source, or of the database that -n names, to a file, or
to stdout with -. It keeps types, databases and expiries. --force replaces a
file, but never a SQLite database.

Formats, chosen by the ending of FILE or with --format:

  archive   compressed, with checksums; the default
  jsonl     JSON, a line for each key or piece of a large one (.jsonl)
  json      the same as one array, not for restore (.json)
  csv       a row for each element, not for restore (.csv)
  commands  Redis commands in lines, for "meowdis exec" (.txt, .redis)
  resp      the Redis protocol, for "redis-cli --pipe" (.resp)`,
		Example: `  meowdis dump cats.sqlite cats.jsonl --match 'cat:*'
  meowdis dump @dev - --format resp | redis-cli --pipe -p 6380`,
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			own, err := ownArgs(cmd, &o.target, args, targets.Own{What: "FILE", Least: 1, Most: 1})
			if err != nil {
				return err
			}
			o.file.path, o.database = own[0], cmd.Flags().Changed("database")
			if err := o.keys.Check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "", "`FORMAT` of the file (default: by its ending, or archive)")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(move.FormatsToWrite(), cobra.ShellCompDirectiveNoFileComp))
	o.file.addFlags(cmd)
	o.keys.AddFlags(cmd, "")
	o.target.AddReadFlags(cmd)
	return cmd
}

func (o *dumpOptions) run(ctx context.Context, s *streams) (err error) {
	format, err := move.FormatToWrite(o.format, o.file.path)
	if err != nil {
		return err
	}
	read, err := o.keys.ReadOptions()
	if err != nil {
		return err
	}
	if o.file.path == "-" && s.outTerminal && format.Binary {
		return exit.Usagef("this format is binary: give a file, or --format jsonl")
	}
	if o.keys.From >= 0 {
		read.Databases = []int{o.keys.From}
	}
	change, err := o.keys.Change(time.Now())
	if err != nil {
		return err
	}
	if o.file.path == "-" && o.keys.JSON && !o.keys.DryRun {
		return exit.Usagef("stdout is for the keys: with --json give a file, or --dry-run")
	}
	if o.keys.DryRun {
		return countOnly(ctx, s, &o.target, o.database, &o.keys, read, "dumped")
	}
	if err := o.file.check(); err != nil {
		return err
	}
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	c, err := connectToRead(ctx, s, &o.target, o.database, &read)
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, c) }()
	r := newMoveReport(s, &o.keys, "dumping", total(ctx, c, read), c)
	var keys transfer.Written
	seen := func(p transfer.Part) {
		if p.Last && p.Err == nil {
			keys.Keys++
		}
		r.Seen(p)
	}
	err = o.file.write(s.out, func(out io.Writer) error {
		sink := format.Write(out, r.Notify)
		if o.keys.All() && read.Databases == nil {
			if err := r.Put(r.Definitions(ctx, c), sink); err != nil {
				return err
			}
		}
		return transfer.Run(ctx, move.InFile(c.Target.String(), change.Apply(move.Keys(ctx, c, read))), sink, r.Notify, seen)
	})
	if err != nil {
		return r.End(move.NotWritten(ctx, o.file.path, err))
	}
	r.Done("wrote", keys)
	return r.End(nil)
}

// outFile holds the arguments and flags of a verb that writes a file.
type outFile struct {
	path  string // - is stdout
	force bool
}

func (o *outFile) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, "replace an existing file; never a SQLite database")
}

// check returns an error if the file may not be written. Verbs call it before they do any work.
func (o *outFile) check() error {
	if o.path == "-" {
		return nil
	}
	switch err := atomicfile.Check(o.path, o.force); {
	case errors.Is(err, atomicfile.ErrExists):
		return exit.Usagef("%s: %w: name another file, or give --force to replace it", o.path, err)
	case errors.Is(err, atomicfile.ErrDatabase):
		return exit.Usagef("%s: %w: name another file; to read its keys, give it first: meowdis dump %s FILE", o.path, err, o.path)
	case err != nil:
		return fmt.Errorf("writing %s: %w", o.path, err)
	}
	return nil
}

// write creates or replaces the file if write succeeds; otherwise it leaves the path unchanged.
func (o *outFile) write(stdout io.Writer, write func(io.Writer) error) error {
	if o.path == "-" {
		return buffered(stdout, write)
	}
	return atomicfile.Write(o.path, o.force, func(f *os.File) error { return buffered(f, write) })
}

func buffered(out io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(out, 256<<10)
	err := write(b)
	if flushed := b.Flush(); err == nil {
		err = flushed
	}
	return err
}
