package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// importOptions are the flags and arguments of import.
type importOptions struct {
	destination
	format  string
	salvage bool
	trust   bool // the file is not verified first
	path    string
}

func newImport(s *streams) *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use:     "import [FLAGS] FILE|-",
		GroupID: groupMove,
		Short:   "Read keys from a file of another program",
		Long: `Writes the keys that a file holds, or with - those on stdin, to the target: each into
its database, or all into the one that -n names. Formats, which are recognised:

  rdb       a dump file of Redis, of the versions up to 12 (Redis 7.4)
  aof       an append-only file of Redis, or the directory of one
  sqlite    a file of Redka, of Redlite, of the first meowdis, or of this one
  commands  Redis commands in lines, in redis-cli's quoting
  archive   what "meowdis dump" writes
  jsonl     what "meowdis dump" writes as JSON

Commands and append-only files are run in an empty place first, and what comes of
them is imported. Values of modules other than vector sets are named and left out,
and functions passed over.

A key appears whole or not at all. A key that is there already ends it, unless
--replace or --skip is given; what was written before stays.

A dump file is read twice: first its checksum is verified, unless --no-verify is
given, and nothing is written when that is wrong. What comes from stdin can be read
once: that it was damaged is known, and said, at its end. --salvage names the keys that
are damaged and goes on behind them, as long as it is clear where they end.

` + moveExitCodesHelp + "\n\n" + targetHelp,
		Example: `  meowdis import dump.rdb
  meowdis import --db cats.sqlite /var/lib/redis/appendonlydir
  meowdis import --profile prod redka.db --replace`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			o.path = args[0]
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "`FORMAT` of the file, when it is not recognised: "+strings.Join(importFormats, ", "))
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(importFormats, cobra.ShellCompDirectiveNoFileComp))
	f.BoolVar(&o.salvage, "salvage", false, "go on behind damage")
	f.BoolVar(&o.trust, "no-verify", false, "do not verify the checksum of a dump file first")
	o.addFlags(cmd)
	return cmd
}

func (o *importOptions) run(ctx context.Context, s *streams) (err error) {
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	in, err := openImport(o.path, o.format, s.input(ctx))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	if in.format == "rdb" && !o.trust && !o.salvage {
		if err := in.verify(ctx, s, o.path); err != nil {
			return err
		}
	}
	if err := o.choose(ctx, s, "import"); err != nil {
		return err
	}
	c, err := o.connect(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	r := &report{s: s, bar: newProgress(s, "importing", "keys", -1)}
	source, err := o.source(ctx, in, r)
	if err != nil {
		return r.end(err)
	}
	written, err := o.write(ctx, s, c, o.path, "imported", source.keys, r)
	if o.salvage && errors.Is(err, rdb.ErrChecksum) {
		r.failed++
		r.say("%v: what was written may be wrong in places that do not show", err)
		err = nil
	}
	if err == nil && source.damage != nil {
		err = sourceError{reading(o.path, source.damage)}
	}
	return r.end(o.explain(ctx, r, written, err))
}

// importSource is the keys of a file. damage is what kept a file that had to be run
// first from being run to its end.
type importSource struct {
	keys   transfer.Source
	damage error
}

func (o *importOptions) source(ctx context.Context, in *importFile, r *report) (importSource, error) {
	passed := func(place, what string) { r.say("%s: %s is passed over", place, what) }
	switch in.format {
	case "rdb":
		note := func(at int64, what string) { passed(fmt.Sprintf("byte %d", at), what) }
		empty := func(n int64) { r.say("%s without elements passed over, as Redis does", count(n, "key")) }
		return importSource{keys: transfer.FromRDB(in.text, transfer.RDBOptions{Note: note, Salvage: o.salvage, Empty: empty})}, nil
	case "archive", "jsonl":
		f, err := formatNamed(in.format)
		if err != nil {
			return importSource{}, err
		}
		return importSource{keys: f.read(in.text, r.damaged(o.salvage))}, nil
	case "sqlite":
		return o.sqliteSource(ctx, in)
	}
	replay := func(ctx context.Context, session transfer.Session, options transfer.ReplayOptions) error {
		if in.format == "commands" {
			return transfer.Replay(ctx, transfer.FromScript(in.text), session, options)
		}
		return in.eachLog(func(text *bufio.Reader) error { return transfer.ReplayLog(ctx, text, session, options) })
	}
	return replayed(ctx, in, r, passed, replay)
}

// sqliteSource reads another SQLite file.
func (o *importOptions) sqliteSource(ctx context.Context, in *importFile) (importSource, error) {
	if same(o.target, target{path: o.path}) {
		return importSource{}, usagef("%s is the target itself", o.path)
	}
	c, err := new(targetOptions).connectTo(ctx, target{path: o.path}, local.Options{ReadOnly: true, Cache: readCache}, false)
	if err != nil {
		return importSource{}, err
	}
	in.later(c.close)
	return importSource{keys: c.keys(ctx, transfer.ReadOptions{})}, nil
}

// replayed runs commands in a place of their own, and reads what came of them.
func replayed(ctx context.Context, in *importFile, r *report, passed func(place, what string),
	replay func(context.Context, transfer.Session, transfer.ReplayOptions) error) (importSource, error) {
	dir, err := os.MkdirTemp("", "meowdis-import-*")
	if err != nil {
		return importSource{}, err
	}
	in.later(func() error { return os.RemoveAll(dir) })
	place, err := local.Open(filepath.Join(dir, "replayed.sqlite"), toWrite)
	if err != nil {
		return importSource{}, err
	}
	in.later(place.Close)
	c := &connection{session: engine.New(place).Session(), file: place}
	damage := replay(ctx, c, transfer.ReplayOptions{
		Refused: func(place, command string, err error) {
			if r.failed++; r.failed <= maxTold {
				r.say("%s: %s was refused: %s", place, shown(command), shown(err.Error()))
			}
		},
		Passed: passed,
		Seen:   r.bar.add,
		Notify: r.notify,
	})
	if ctx.Err() != nil {
		return importSource{}, stopped(ctx, "nothing was imported")
	}
	return importSource{keys: c.keys(ctx, transfer.ReadOptions{}), damage: damage}, nil
}

// later has close called when the import is over, before what was opened earlier
// is closed.
func (f *importFile) later(close func() error) { f.closers = append(f.closers, close) }

func (f *importFile) close() error {
	var errs []error
	for i := len(f.closers) - 1; i >= 0; i-- {
		errs = append(errs, f.closers[i]())
	}
	return errors.Join(errs...)
}

// shown is text of a file that may be anything, for a line on a terminal.
func shown(text string) string { return display.Text(text, 120) }

// eachLog reads the files of an append-only directory, or the one file.
func (f *importFile) eachLog(read func(*bufio.Reader) error) error {
	if f.logs == nil {
		return read(f.text)
	}
	for _, name := range f.logs {
		if err := eachFile(name, read); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
	}
	return nil
}

func eachFile(name string, read func(*bufio.Reader) error) error {
	in, err := openInput(name)
	if err != nil {
		return err
	}
	defer in.Close()
	return read(bufio.NewReaderSize(io.Reader(in), importBuffer))
}
