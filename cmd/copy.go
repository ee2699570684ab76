package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/transfer"
)

// copyOptions are the flags and arguments of copy.
type copyOptions struct {
	keys     moveOptions
	existing existingOptions
	confirm  confirmOptions
	tokens   tokenOptions
	resume   string
	verify   bool
	full     bool
	reach    reachOptions
	src, dst string

	flags *pflag.FlagSet
}

// tokenOptions are the flags with the tokens of two targets.
type tokenOptions struct {
	both, src, dst string
}

func (o *tokenOptions) addFlags(cmd *cobra.Command, src, dst string) {
	f := cmd.Flags()
	f.StringVar(&o.both, "token", "", "`TOKEN` of whichever wants one")
	f.StringVar(&o.src, src, "", "`TOKEN` of the first one, when they differ")
	f.StringVar(&o.dst, dst, "", "`TOKEN` of the second one")
	for _, name := range []string{"token", src, dst} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
}

// named is the target that an argument means, with the token of its own flag, or
// else of --token, which a Redis server gets only when it wants one: the other
// side's may be meant. The environment's is for a REST endpoint that has none by then.
func (o *tokenOptions) named(s *streams, spec, token string) (target, error) {
	t, err := named(s.getenv, spec, firstOf(token, o.both))
	switch {
	case t.isREST() && t.token == "":
		t.token = s.getenv("MEOWDIS_TOKEN")
	case t.url != nil && !t.isREST() && token == "" && t.url.User.Username() == "":
		if password, _ := t.url.User.Password(); password == o.both {
			t.url.User, t.spare = nil, o.both
		}
	}
	return t, err
}

const twoTargetsHelp = targetHelp + `
This verb has two, and looks at its arguments only.`

func newCopy(s *streams) *cobra.Command {
	o := &copyOptions{}
	cmd := &cobra.Command{
		Use:     "copy [FLAGS] SOURCE DESTINATION",
		GroupID: groupMove,
		Short:   "Copy keys from one place to another",
		Long: `Copies all keys from one target to another: of all databases, each into its own,
or of one with -n, which --db-to puts into another. Types and expiries are kept.

A key appears whole or not at all. A key that is there already ends it, unless
--replace or --skip is given; what was copied before stays.

Both sides may be in use. Each key is copied as it is when its turn comes; one
that was changed while it was read is named on stderr.

` + twoTargetsHelp + "\n\n" + moveExitCodesHelp,
		Example: `  meowdis copy redis://localhost:6379 cats.sqlite
  meowdis copy cats.sqlite @prod --match 'cat:*'
  meowdis copy a.sqlite b.sqlite -n 0 --db-to 5 --replace`,
		Args:              usageArgs(cobra.ExactArgs(2)),
		ValidArgsFunction: completeTargets(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(exclusive(cmd, "replace", "skip"), o.keys.check(cmd)); err != nil {
				return err
			}
			o.src, o.dst = args[0], args[1]
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	o.flags = f
	o.existing.addFlags(cmd)
	o.confirm.addFlags(cmd)
	o.keys.addFlags(cmd, "n")
	f.StringVar(&o.resume, "resume", "", "go on at `POSITION`, which an interrupted copy printed")
	f.BoolVar(&o.verify, "verify", false, "compare each key behind the copy, as diff does")
	o.tokens.addFlags(cmd, "src-token", "dst-token")
	o.reach.addFlags(cmd)
	f.BoolVar(&o.full, "full", false, "make each commit to a file survive a power cut (slower)")
	return cmd
}

func (o *copyOptions) run(ctx context.Context, s *streams) (err error) {
	read, err := o.readOptions()
	if err != nil {
		return err
	}
	if _, err := o.keys.change(time.Now()); err != nil {
		return err
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	targets := targetOptions{full: o.full, reach: o.reach}
	from, err := o.tokens.named(s, o.src, o.tokens.src)
	if err != nil {
		return err
	}
	to, err := o.tokens.named(s, o.dst, o.tokens.dst)
	if err != nil {
		return err
	}
	if err := errors.Join(from.hasDatabase(o.flags, "db-from", o.keys.from), to.hasDatabase(o.flags, "db-to", o.keys.to)); err != nil {
		return err
	}
	if same(from, to) {
		return usagef("%s and %s are the same file", o.src, o.dst)
	}
	src, err := targets.connectExisting(ctx, from)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, src) }()
	if o.keys.from < 0 && src.chosen() {
		read.Databases = []int{src.DB()}
	}
	file := toWrite
	switch {
	case !o.keys.dryRun:
		err = o.confirm.mayWrite(ctx, s, &targets, to, "copy")
	case to.isNew():
		to.path = local.Memory // it is not made for this
	default:
		file.ReadOnly = to.path != local.Memory
	}
	if err != nil {
		return err
	}
	dst, err := targets.enter(ctx, to, file)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, dst) }()
	if o.keys.to < 0 && dst.chosen() {
		o.keys.to = dst.DB()
	}
	if o.keys.to >= 0 && len(read.Databases) == 0 {
		return usagef("give -n, the database to copy from: keys of several databases could have the same name")
	}
	change, err := o.keys.change(time.Now())
	if err != nil {
		return err
	}
	if err := fits(ctx, src, dst, read.Databases, change.DB); err != nil {
		return err
	}
	if o.keys.dryRun {
		return o.count(ctx, s, src, dst, read, change)
	}
	if err := dst.writable(ctx, s); err != nil {
		return err
	}
	if err = o.copy(ctx, s, src, dst, read, change); err != nil || !o.verify {
		return err
	}
	return o.compare(ctx, s, src, dst, read, change)
}

// fits refuses to begin a copy into a file that has no place for one of the databases.
// Those of the source that hold keys are meant when none is named.
func fits(ctx context.Context, src, dst *connection, dbs []int, into func(int) int) (err error) {
	if dst.file == nil || src.file != nil {
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
			return usagef("database %[1]d: a file has the databases 0 to %[2]d; -n %[1]d --db-to NUMBER puts its keys into another", db, commands.Databases-1)
		}
	}
	return nil
}

// compare is --verify: what was copied is looked up where it was to arrive.
func (o *copyOptions) compare(ctx context.Context, s *streams, src, dst *connection, read transfer.ReadOptions, change transfer.Change) error {
	r := &report{s: s, bar: newProgress(s, "verifying", "keys", total(ctx, src, read))}
	different := 0
	keys, err := transfer.Diff(ctx, src, dst, transfer.DiffOptions{
		Read: read, A: src.list(read), Arrived: &change, Tolerance: time.Second, Notify: r.notify, Seen: r.seen,
		Found: func(d transfer.Difference) {
			if different++; different <= maxTold {
				r.say("%s", (&diffOptions{}).line(d))
			}
		},
	})
	switch {
	case wasStopped(ctx, err):
		err = stopped(ctx, "what was copied stays, and is not verified")
	case err == nil && different > 0:
		r.say("verified %s: %s", count(keys, "key"), count(int64(different), "difference"))
		err = errAnswered
	case err == nil:
		r.say("verified %s", count(keys, "key"))
	}
	return r.end(err)
}

// same reports whether two targets are one file.
func same(a, b target) bool {
	if a.url != nil || b.url != nil {
		return false
	}
	one, err1 := os.Stat(a.path)
	other, err2 := os.Stat(b.path)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

func (o *copyOptions) readOptions() (transfer.ReadOptions, error) {
	read, err := o.keys.readOptions()
	if err != nil {
		return read, err
	}
	if o.resume != "" {
		if read.From, err = transfer.ParsePosition(o.resume); err != nil {
			return read, usageError{fmt.Errorf("--resume: %w", err)}
		}
		if read.From.DB >= commands.Databases {
			return read, usagef("--resume %s: databases have the numbers 0 to %d", o.resume, commands.Databases-1)
		}
	}
	if o.keys.from >= 0 {
		read.Databases = []int{o.keys.from}
	}
	return read, nil
}

// pagesToFile is after how many pages of a scan a file has what was read: as many
// keys as it takes at once.
const pagesToFile = 16

func (o *copyOptions) copy(ctx context.Context, s *streams, src, dst *connection, read transfer.ReadOptions, change transfer.Change) error {
	r := &report{s: s, bar: newProgress(s, "copying", "keys", total(ctx, src, read))}
	w := dst.writer(o.existing.mode(), into(o.keys.to), r.notify)
	change.DB = nil // the sink does that: messages name keys as they are at the source
	var reached transfer.Position
	pages := 0
	read.Passed = func(ctx context.Context, at transfer.Position) error {
		if pages++; dst.file != nil && pages%pagesToFile != 0 {
			return nil
		}
		if err := w.Flush(ctx); err != nil {
			return err
		}
		reached = at
		return nil
	}
	err := transfer.Run(ctx, change.Of(src.keys(ctx, read)), w, r.notify, r.seen)
	r.say("%s", r.outcome("copied", w.Written()))
	wrote := w.Written() != transfer.Written{} || wasStopped(ctx, err)
	switch {
	case errors.Is(err, transfer.ErrExists):
		r.say("%v in %s; --replace replaces such keys, --skip leaves them alone", err, dst.target)
		err = errAnswered
	case wasStopped(ctx, err):
		err = stopped(ctx, "what was copied stays")
	}
	if err != nil && !errors.Is(err, errAnswered) && wrote {
		err = fmt.Errorf("%w; to go on, give the same command%s", err, o.goOn(reached))
	}
	return r.end(err)
}

// goOn are the flags that make the same command go on: from what was reached, and
// behind that some keys may have been copied, too.
func (o *copyOptions) goOn(reached transfer.Position) string {
	var flags []string
	if reached.Cursor != "" {
		flags = append(flags, "--resume "+reached.String())
	}
	if o.existing.mode() == transfer.Refuse {
		flags = append(flags, "--skip")
	}
	if len(flags) == 0 {
		return ""
	}
	return " with " + strings.Join(flags, " ")
}

// total is how many keys a source has, -1 when some are left out.
func total(ctx context.Context, c *connection, read transfer.ReadOptions) int64 {
	if read.Match != "" || read.Type != "" || read.From.Cursor != "" {
		return -1
	}
	n, err := transfer.CountKeys(ctx, c, read.Databases)
	if err != nil {
		return -1
	}
	return n
}

// count is --dry-run.
func (o *copyOptions) count(ctx context.Context, s *streams, src, dst *connection, read transfer.ReadOptions, change transfer.Change) error {
	r := &report{s: s, bar: newProgress(s, "counting", "keys", total(ctx, src, read))}
	read.List = src.list(read)
	there, err := transfer.TakeSurvey(ctx, src, read, dst, change, r.bar.add)
	r.bar.end()
	if wasStopped(ctx, err) {
		return stopped(ctx, "nothing was copied")
	}
	if err == nil {
		tellSurvey(s, there, "copied", true)
	}
	return err
}
