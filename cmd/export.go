package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// exportOptions holds the flags and arguments of export.
type exportOptions struct {
	target   targets.Options
	keys     move.Options
	database bool // -n was given
	file     outFile
}

func newExport(s *streams) *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:     "export [FLAGS] [SOURCE] FILE.rdb",
		GroupID: groupMove,
		Short:   "Write keys to a dump file that redis-server loads",
		Long: `Writes all keys of the source, or of the database that -n names, to a dump file
that redis-server 7.0 or later loads when it starts. Hash fields that expire
need 7.4, and vector sets 8.0. JSON documents, probabilistic types,
time series and suggestions need the modules of Redis 8: other servers do not
load a file with them. Arrays are left out, because the format has none.`,
		Example: `  meowdis export cats.sqlite cats.rdb
  redis-server --dbfilename cats.rdb         # loads it`,
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
	o.file.addFlags(cmd)
	o.keys.AddFlags(cmd, "")
	o.target.AddReadFlags(cmd)
	return cmd
}

func (o *exportOptions) run(ctx context.Context, s *streams) (err error) {
	if filepath.Ext(o.file.path) != ".rdb" {
		return exit.Usagef("export writes Redis dump files: give a name that ends in .rdb; for other formats use meowdis dump")
	}
	read, err := o.keys.ReadOptions()
	if err != nil {
		return err
	}
	if o.keys.From >= 0 {
		read.Databases = []int{o.keys.From}
	}
	change, err := o.keys.Change(time.Now())
	if err != nil {
		return err
	}
	if o.keys.DryRun {
		return countOnly(ctx, s, &o.target, o.database, &o.keys, read, "exported")
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
	r := newMoveReport(s, &o.keys, "exporting", total(ctx, c, read), c)
	var keys int64
	err = atomicfile.Write(o.file.path, o.file.force, func(f *os.File) error {
		spool := &spoolFile{dir: filepath.Dir(o.file.path)}
		w := transfer.NewRDBWriter(rdb.NewFileWriter(f, spool.open), r.Notify)
		if o.keys.All() && read.Databases == nil {
			if err := w.Definitions(r.Definitions(ctx, c)); err != nil {
				return err
			}
		}
		err := transfer.Run(ctx, move.InFile(c.Target.String(), change.Apply(move.Keys(ctx, c, read))), w, r.Notify, r.Seen)
		keys = w.Keys()
		return errors.Join(err, spool.remove())
	})
	if err != nil {
		return r.End(move.NotWritten(ctx, o.file.path, err))
	}
	r.Done("wrote", transfer.Written{Keys: keys})
	return r.End(nil)
}

// spoolFile buffers large values in a temporary file.
type spoolFile struct {
	dir  string
	file *os.File
}

func (a *spoolFile) open() (_ rdb.Spool, err error) {
	a.file, err = os.CreateTemp(a.dir, ".meowdis-export-*")
	return a.file, err
}

func (a *spoolFile) remove() error {
	if a.file == nil {
		return nil
	}
	return errors.Join(a.file.Close(), os.Remove(a.file.Name()))
}
