package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// diffOptions are the flags and arguments of diff.
type diffOptions struct {
	keys      selection
	tokens    tokenOptions
	database  int
	tolerance interval
	json      bool
	reach     reachOptions
	a, b      string

	flags *pflag.FlagSet
}

func newDiff(s *streams) *cobra.Command {
	o := &diffOptions{tolerance: interval(time.Second)}
	cmd := &cobra.Command{
		Use:     "diff [FLAGS] A B",
		GroupID: groupMove,
		Short:   "Compare the keys of two places",
		Long: `Compares the keys of two targets, of all databases or of one: which are there,
their types, values and expiries. Prints a line for each difference, A's side
before B's, and for each value the first thing that differs.

The order of sets and hashes is none of their value, nor is the way in which a
JSON document is written, nor are the times of a stream's consumers.

` + twoTargetsHelp + `

Exit codes:
    0  everything is the same
    1  something differs, or could not be compared
    2  the command line was wrong
    3  a target could not be opened or reached, or it failed
  130  Ctrl-C ended it (143: SIGTERM): what it printed is not all`,
		Example: `  meowdis diff cats.sqlite backup.sqlite
  meowdis diff --json redis://localhost:6379 cats.sqlite --match 'cat:*'`,
		Args:              usageArgs(cobra.ExactArgs(2)),
		ValidArgsFunction: completeTargets(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkDatabase(cmd.Flags(), "database", o.database); err != nil {
				return err
			}
			o.a, o.b = args[0], args[1]
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	o.flags = f
	o.keys.addFlags(cmd)
	f.IntVarP(&o.database, "database", "n", -1, "compare only database `NUMBER` (default: all)")
	f.Lookup("database").DefValue = "0" // -1 is nothing to show
	f.Var(&o.tolerance, "ttl-tolerance", "by how many `SECONDS` expiries may differ")
	cmd.RegisterFlagCompletionFunc("ttl-tolerance", cobra.NoFileCompletions)
	f.BoolVar(&o.json, "json", false, "print a line of JSON for each difference")
	o.tokens.addFlags(cmd, "a-token", "b-token")
	o.reach.addFlags(cmd)
	return cmd
}

func (o *diffOptions) run(ctx context.Context, s *streams) (err error) {
	read, err := o.keys.readOptions()
	if err != nil {
		return err
	}
	if o.database >= 0 {
		read.Databases = []int{o.database}
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	var sides [2]*connection
	for i, side := range []struct{ spec, token string }{{o.a, o.tokens.src}, {o.b, o.tokens.dst}} {
		t, err := o.tokens.named(s, side.spec, side.token)
		if err != nil {
			return err
		}
		if err := t.hasDatabase(o.flags, "database", o.database); err != nil {
			return err
		}
		if sides[i], err = (&targetOptions{reach: o.reach}).connectExisting(ctx, t); err != nil {
			return err
		}
		defer func() { err = closing(err, sides[i]) }()
	}
	if read.Databases == nil && sides[0].chosen() {
		read.Databases = []int{sides[0].DB()}
	}
	return o.compare(ctx, s, sides[0], sides[1], read)
}

func (o *diffOptions) compare(ctx context.Context, s *streams, a, b *connection, read transfer.ReadOptions) error {
	r := &report{s: s, bar: newProgress(s, "comparing", "keys", total(ctx, a, read))}
	differences := 0
	keys, err := transfer.Diff(ctx, a, b, transfer.DiffOptions{
		Read: read, A: a.list(read), B: b.list(read), Tolerance: time.Duration(o.tolerance), Notify: r.notify, Seen: r.seen,
		Found: func(d transfer.Difference) {
			differences++
			r.bar.clear()
			fmt.Fprintf(s.out, "%s\n", o.line(d))
		},
	})
	if err == nil && differences > 0 {
		r.say("%s in %s compared", count(int64(differences), "difference"), count(keys, "key"))
		err = errAnswered
	}
	if wasStopped(ctx, err) {
		err = stopped(ctx, "what was printed is not all: "+count(keys, "key")+" compared")
	}
	return r.end(err)
}

// line is a difference as it is printed.
func (o *diffOptions) line(d transfer.Difference) []byte {
	if o.json {
		pairs := []resp.Value{
			resp.MakeString("key"), resp.MakeBulk(d.Key.Name), resp.MakeString("db"), resp.MakeInt(int64(d.Key.DB)),
			resp.MakeString("difference"), resp.MakeString(d.What),
		}
		if d.A != d.B {
			pairs = append(pairs, resp.MakeString("a"), resp.MakeString(d.A), resp.MakeString("b"), resp.MakeString(d.B))
		}
		return resp.AppendJSON(nil, resp.MakeMap(pairs...))
	}
	line := fmt.Appendf(nil, "%s: %s", d.Key, d.What)
	if d.A != d.B {
		line = fmt.Appendf(line, ": %s | %s", d.A, d.B)
	}
	return line
}
