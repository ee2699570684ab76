package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/progress"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// importOptions holds the flags and arguments of import.
type importOptions struct {
	destination
	format  string
	salvage bool
	trust   bool // do not verify the file first
	path    string
}

func newImport(s *streams) *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use:     "import [FLAGS] FILE|- [TARGET]",
		GroupID: groupMove,
		Short:   "Read keys from a file of another program",
		Long: `Writes the keys of a file, or of stdin with -, to the target: each key to its
own database, or all keys to the one that -n names. An existing key stops it,
unless you give --replace or --skip. Formats, which it recognises:

  rdb       a dump file of Redis, up to version 12 (Redis 7.4)
  aof       an append-only file of Redis, or its directory
  sqlite    a file of Redka, Redlite, the first meowdis, or this one
  commands  Redis commands in lines, quoted as in redis-cli
  archive   an archive of "meowdis dump"
  jsonl     JSON lines of "meowdis dump"

The checksum of a dump file is verified before anything is written.`,
		Example: `  meowdis import /var/lib/redis/appendonlydir cats.sqlite
  meowdis import redka.db @prod --replace`,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.check(cmd), o.targets.Argument(args[1:])); err != nil {
				return err
			}
			o.path = args[0]
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "`FORMAT` of the file, if it is not recognised: "+strings.Join(move.InputFormats, ", "))
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(move.InputFormats, cobra.ShellCompDirectiveNoFileComp))
	f.BoolVar(&o.salvage, "salvage", false, "continue after damage")
	f.BoolVar(&o.trust, "no-verify", false, "do not verify the checksum of a dump file first")
	o.addFlags(cmd)
	return cmd
}

func (o *importOptions) run(ctx context.Context, s *streams) (err error) {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	in, err := move.OpenInput(o.path, o.format, s.input(ctx))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if in.Format == "rdb" && !o.trust && !o.salvage {
		if err := in.Verify(ctx, o.path, s.err, func(total int64) *progress.Bar { return newProgress(s, "verifying", "bytes", total) }); err != nil {
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
	defer func() { err = closeConn(err, c) }()
	r := newMoveReport(s, &o.keys, "importing", -1, nil)
	source, err := o.source(ctx, in, r)
	if err != nil {
		return r.End(err)
	}
	written, err := o.write(ctx, s, c, o.path, "imported", source.keys, r)
	if err == nil && !o.keys.DryRun && o.keys.All() && source.definitions != nil {
		err = r.Load(ctx, c, source.definitions(), o.existing.Mode(), "imported")
	}
	if o.salvage && errors.Is(err, rdb.ErrChecksum) {
		r.Failed++
		r.Say("%v: any written value may be wrong", err)
		err = nil
	}
	if err == nil && source.damage != nil {
		err = move.ReadError{Err: move.Reading(o.path, source.damage)}
	}
	return r.End(o.explain(ctx, r, written, err))
}

// importSource reads the keys of a file. damage is the error that ended the replay of commands early. definitions
// returns the definitions once keys is read to its end; it is nil if the format has none.
type importSource struct {
	keys        transfer.Source
	definitions func() transfer.Definitions
	damage      error
}

func (o *importOptions) source(ctx context.Context, in *move.Input, r *move.Report) (importSource, error) {
	passed := func(place, what string) { r.Say("%s: skipped %s", place, what) }
	var all transfer.Definitions
	found := func() transfer.Definitions { return all }
	switch in.Format {
	case "rdb":
		note := func(at int64, what string) { passed(fmt.Sprintf("byte %d", at), what) }
		empty := func(n int64) { r.Say("skipped %s without elements, as Redis does", move.Count(n, "key")) }
		keys := transfer.FromRDB(in.Text, transfer.RDBOptions{Note: note, Definitions: &all, Salvage: o.salvage, Empty: empty})
		return importSource{keys: keys, definitions: found}, nil
	case "archive", "jsonl":
		f, err := move.FormatNamed(in.Format)
		if err != nil {
			return importSource{}, err
		}
		return importSource{keys: f.Read(in.Text, transfer.ArchiveOptions{Damaged: r.Damaged(o.salvage), Definitions: &all}), definitions: found}, nil
	case "sqlite":
		return o.sqliteSource(ctx, in, r)
	}
	replay := func(ctx context.Context, session keyspace.Session, options transfer.ReplayOptions) error {
		if in.Format == "commands" {
			return transfer.Replay(ctx, transfer.FromScript(in.Text), session, options)
		}
		return in.EachLog(func(text *bufio.Reader) error { return transfer.ReplayLog(ctx, text, session, options) })
	}
	return replayed(ctx, in, r, passed, replay)
}

// sqliteSource reads the keys of another SQLite file.
func (o *importOptions) sqliteSource(ctx context.Context, in *move.Input, r *move.Report) (importSource, error) {
	if targets.SameFile(o.target, targets.Target{Path: o.path}) {
		return importSource{}, exit.Usagef("%s is the target itself", o.path)
	}
	c, err := new(targets.Options).Connect(ctx, targets.Target{Path: o.path}, local.Options{ReadOnly: true, CacheBytes: readCache}, false)
	if err != nil {
		return importSource{}, err
	}
	in.OnClose(c.Close)
	definitions := func() transfer.Definitions { return r.Definitions(ctx, c) }
	return importSource{keys: move.Keys(ctx, c, transfer.ReadOptions{}), definitions: definitions}, nil
}

// replayed runs the commands of in on a temporary file, and returns the keys of that file.
func replayed(ctx context.Context, in *move.Input, r *move.Report, passed func(place, what string),
	replay func(context.Context, keyspace.Session, transfer.ReplayOptions) error) (importSource, error) {
	dir, err := os.MkdirTemp("", "meowdis-import-*")
	if err != nil {
		return importSource{}, err
	}
	in.OnClose(func() error { return os.RemoveAll(dir) })
	path := filepath.Join(dir, "replayed.sqlite")
	place, err := local.Open(path, toWrite)
	if err != nil {
		return importSource{}, err
	}
	damage := replay(ctx, &targets.Conn{Session: engine.New(place).Session(), File: place}, transfer.ReplayOptions{
		Refused: func(place, command string, err error) {
			if r.Failed++; r.Failed <= move.MaxListed {
				r.Say("%s: %s was refused: %s", place, shown(command), shown(err.Error()))
			}
		},
		Skipped: passed,
		Seen:    r.Bar.Add,
		Notify:  r.Notify,
	})
	if err := place.Close(); err != nil {
		return importSource{}, err
	}
	if ctx.Err() != nil {
		return importSource{}, exit.Stopped(ctx, "nothing was imported")
	}
	// Keys are read in order, so reading needs less cache than writing.
	if place, err = local.Open(path, local.Options{ReadOnly: true, CacheBytes: readCache}); err != nil {
		return importSource{}, err
	}
	in.OnClose(place.Close)
	c := &targets.Conn{Session: engine.New(place).Session(), File: place}
	definitions := func() transfer.Definitions { return r.Definitions(ctx, c) }
	return importSource{keys: move.Keys(ctx, c, transfer.ReadOptions{}), definitions: definitions, damage: damage}, nil
}

// shown escapes and shortens text of an untrusted file for a line on a terminal.
func shown(text string) string { return display.Text(text, 120) }
