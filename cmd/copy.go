package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/transfer"
)

// copyOptions holds the flags and arguments of copy.
type copyOptions struct {
	keys     move.Options
	existing move.Existing
	confirm  confirmOptions
	tokens   targets.Tokens
	resume   string
	verify   bool
	full     bool
	follow   followOptions
	reach    targets.Reach
	src, dst string

	flags *pflag.FlagSet
}

func newCopy(s *streams) *cobra.Command {
	o := &copyOptions{}
	cmd := &cobra.Command{
		Use:     "copy [FLAGS] SOURCE TARGET",
		GroupID: groupMove,
		Short:   "Copy keys from one target to another",
		Long: `Copies all keys from one target to another, each to its own database: -n copies
only one database, and --to-database puts its keys into another one. A key is
copied whole or not at all. An existing key stops the copy, unless you give
--replace or --skip. Both sides may be in use.

--follow then applies all further writes at the source: see docs/moving.md.

SOURCE and TARGET are a file, a URL or @PROFILE.`,
		Example: `  meowdis copy redis://localhost:6379 cats.sqlite
  meowdis copy cats.sqlite @prod --match 'cat:*'
  meowdis copy a.sqlite b.sqlite -n 0 --to-database 5 --replace
  meowdis copy --follow redis://old cats.sqlite --cut-over ./switch.sh`,
		Args:              usageArgs(cobra.ExactArgs(2)),
		ValidArgsFunction: targets.CompleteNames(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(flags.Exclusive(cmd, "replace", "skip"), o.keys.Check(cmd), o.follow.check(cmd)); err != nil {
				return err
			}
			o.src, o.dst = args[0], args[1]
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	o.flags = f
	o.existing.AddFlags(cmd)
	o.confirm.addFlags(cmd)
	o.keys.AddFlags(cmd, "n")
	f.StringVar(&o.resume, "resume", "", "continue at the `POSITION` that a copy printed")
	f.BoolVar(&o.verify, "verify", false, "compare each key after the copy, as diff does")
	o.follow.addFlags(cmd)
	o.tokens.AddFlags(cmd, "src-token", "dst-token")
	o.reach.AddFlags(cmd)
	f.BoolVar(&o.full, "full", false, "commits to a file survive a power cut (slower)")
	return cmd
}

func (o *copyOptions) run(ctx context.Context, s *streams) (err error) {
	read, err := o.readOptions()
	if err != nil {
		return err
	}
	if _, err := o.keys.Change(time.Now()); err != nil {
		return err
	}
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	opts := targets.Options{Full: o.full, Reach: o.reach}
	from, err := o.tokens.Named(s.getenv, o.src, o.tokens.First)
	if err != nil {
		return err
	}
	to, err := o.tokens.Named(s.getenv, o.dst, o.tokens.Second)
	if err != nil {
		return err
	}
	if err := errors.Join(from.HasDatabase(o.flags, "from-database", o.keys.From), to.HasDatabase(o.flags, "to-database", o.keys.To)); err != nil {
		return err
	}
	if targets.SameFile(from, to) {
		return exit.Usagef("%s and %s are the same file", o.src, o.dst)
	}
	src, err := connectExisting(ctx, &opts, from)
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, src) }()
	if o.keys.From < 0 && src.Chosen() {
		read.Databases = []int{src.DB()}
	}
	if o.follow.follow {
		return o.migrate(ctx, s, &opts, src, to)
	}
	file := toWrite
	switch {
	case !o.keys.DryRun:
		err = o.confirm.confirmWrite(ctx, s, &opts, to, "copy")
	case to.IsNew():
		to.Path = local.Memory // a dry run creates no file
	default:
		file.ReadOnly = to.Path != local.Memory
	}
	if err != nil {
		return err
	}
	dst, err := opts.Enter(ctx, to, file)
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, dst) }()
	return o.copyOpen(ctx, s, src, dst, read)
}

// copyOpen checks the databases of the open targets, and then copies, or counts for a dry run.
func (o *copyOptions) copyOpen(ctx context.Context, s *streams, src, dst *targets.Conn, read transfer.ReadOptions) error {
	if o.keys.To < 0 && dst.Chosen() {
		o.keys.To = dst.DB()
	}
	if o.keys.To >= 0 && len(read.Databases) == 0 {
		return exit.Usagef("give -n, the database to copy from: keys of several databases could have the same name")
	}
	change, err := o.keys.Change(time.Now())
	if err != nil {
		return err
	}
	if err := checkDatabases(ctx, src, dst, read.Databases, change.DB); err != nil {
		return err
	}
	if o.keys.DryRun {
		return o.count(ctx, s, src, dst, read, change)
	}
	if err := writable(ctx, s, dst); err != nil {
		return err
	}
	if err = o.copy(ctx, s, src, dst, read, change); err != nil || !o.verify {
		return err
	}
	return o.compare(ctx, s, src, dst, read, change)
}

// checkDatabases refuses a copy into a file that does not have one of the databases. Without dbs it checks every
// database of the source that has keys.
func checkDatabases(ctx context.Context, src, dst *targets.Conn, dbs []int, into func(int) int) (err error) {
	if dst.File == nil || src.File != nil {
		return nil
	}
	if dbs == nil {
		if dbs, err = transfer.Databases(ctx, src); err != nil {
			return err
		}
	}
	for _, db := range dbs {
		if into != nil {
			db = into(db)
		}
		if db >= commands.Databases {
			return exit.Usagef("database %[1]d: a file has the databases 0 to %[2]d; -n %[1]d --to-database NUMBER puts its keys into another", db, commands.Databases-1)
		}
	}
	return nil
}

// compare implements --verify: it compares the copied keys with the source.
func (o *copyOptions) compare(ctx context.Context, s *streams, src, dst *targets.Conn, read transfer.ReadOptions, change transfer.Change) error {
	r := newMoveReport(s, &o.keys, "verifying", total(ctx, src, read), src)
	different := 0
	found := func(d transfer.Difference) {
		if different++; different <= move.MaxListed {
			r.Say("%s", (&diffOptions{}).line(d))
		}
	}
	keys, err := transfer.Diff(ctx, src, dst, transfer.DiffOptions{
		Read: read, A: move.List(src, read), Find: move.Find(dst), ExpectedChange: &change, Tolerance: time.Second, Notify: r.Notify, Seen: r.Seen,
		Found: found,
	})
	if err == nil && o.keys.All() && !src.Chosen() {
		r.DiffDefinitions(ctx, src, dst, true, found)
	}
	switch {
	case exit.WasStopped(ctx, err):
		err = exit.Stopped(ctx, "the copied keys are kept, but not verified")
	case err == nil:
		r.AddResult(move.Verified{Action: "verified", Keys: keys, Differences: different})
	}
	switch {
	case err != nil:
	case different > 0:
		r.Say("verified %s: %s", move.Count(keys, "key"), move.Count(int64(different), "difference"))
		err = exit.ErrReported
	default:
		r.Say("verified %s", move.Count(keys, "key"))
	}
	return r.End(err)
}

func (o *copyOptions) readOptions() (transfer.ReadOptions, error) {
	read, err := o.keys.ReadOptions()
	if err != nil {
		return read, err
	}
	if o.resume != "" {
		if read.From, err = transfer.ParsePosition(o.resume); err != nil {
			return read, exit.Usage(fmt.Errorf("--resume: %w", err))
		}
		if read.From.DB >= commands.Databases {
			return read, exit.Usagef("--resume %s: databases are numbered 0 to %d", o.resume, commands.Databases-1)
		}
	}
	if o.keys.From >= 0 {
		read.Databases = []int{o.keys.From}
	}
	return read, nil
}

func (o *copyOptions) copy(ctx context.Context, s *streams, src, dst *targets.Conn, read transfer.ReadOptions, change transfer.Change) error {
	r := newMoveReport(s, &o.keys, "copying", total(ctx, src, read), src)
	w := move.NewWriter(dst, o.existing.Mode(), move.IntoDatabase(o.keys.To), r.Notify)
	change.DB = nil // the sink does that: messages name keys by their database at the source
	var listed, reached transfer.Position
	written := func() error {
		if err := w.Flush(ctx); err != nil {
			return err
		}
		reached = listed
		return nil
	}
	read.Reached = func(ctx context.Context, at transfer.Position) error {
		if listed = at; dst.File != nil { // a run of sorted keys is written at its end
			return nil
		}
		return written()
	}
	source := move.Sorted(ctx, dst, change.Apply(move.Keys(ctx, src, read)), written)
	err := transfer.Run(ctx, source, w, r.Notify, r.Seen)
	r.Done("copied", w.Written())
	if err == nil && o.keys.All() && !src.Chosen() {
		err = r.Load(ctx, dst, r.Definitions(ctx, src), o.existing.Mode(), "copied")
	}
	wrote := w.Written() != transfer.Written{} || exit.WasStopped(ctx, err)
	switch {
	case errors.Is(err, transfer.ErrExists):
		r.Say("%v in %s; give --replace to replace such keys, or --skip to keep them", err, dst.Target)
		err = exit.ErrReported
	case exit.WasStopped(ctx, err):
		err = exit.Stopped(ctx, "the copied keys are kept")
	}
	if err != nil && !errors.Is(err, exit.ErrReported) && wrote {
		err = fmt.Errorf("%w; to continue, run the same command%s", err, o.continueFlags(reached))
	}
	return r.End(err)
}

// continueFlags returns the flags that make the same command continue after reached. Some later keys may have been
// copied, too.
func (o *copyOptions) continueFlags(reached transfer.Position) string {
	var flags []string
	if reached.Cursor != "" {
		flags = append(flags, "--resume "+reached.String())
	}
	if o.existing.Mode() == transfer.Refuse {
		flags = append(flags, "--skip")
	}
	if len(flags) == 0 {
		return ""
	}
	return " with " + strings.Join(flags, " ")
}

// total returns the number of keys of a source, or -1 if some are left out.
func total(ctx context.Context, c *targets.Conn, read transfer.ReadOptions) int64 {
	if read.Match != "" || read.Type != "" || read.From.Cursor != "" {
		return -1
	}
	n, err := transfer.CountKeys(ctx, c, read.Databases)
	if err != nil {
		return -1
	}
	return n
}

// count implements --dry-run.
func (o *copyOptions) count(ctx context.Context, s *streams, src, dst *targets.Conn, read transfer.ReadOptions, change transfer.Change) error {
	r := newReport(s, "counting", "keys", total(ctx, src, read))
	read.List = move.List(src, read)
	there, err := transfer.Preview(ctx, src, read, dst, change, r.Bar.Add)
	r.Bar.End()
	if exit.WasStopped(ctx, err) {
		return exit.Stopped(ctx, "nothing was copied")
	}
	if err != nil {
		return err
	}
	return printCounts(s, &o.keys, there, "copied", true)
}
