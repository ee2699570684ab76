package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// diffOptions holds the flags and arguments of diff.
type diffOptions struct {
	keys      move.Selection
	tokens    targets.Tokens
	database  int
	tolerance flags.Interval
	json      bool
	reach     targets.Reach
	a, b      string

	flags *pflag.FlagSet
}

func newDiff(s *streams) *cobra.Command {
	o := &diffOptions{tolerance: flags.Interval(time.Second)}
	cmd := &cobra.Command{
		Use:     "diff [FLAGS] A B",
		GroupID: groupMove,
		Short:   "Compare the keys of two targets",
		Long: `Compares the keys of two targets: which keys exist, their types, values and
expiries. It prints one line per difference, A before B. Unless you select keys,
it also compares libraries of functions and indexes of search. The exit code is
1 if something differs. A and B are a file, a URL or @PROFILE.`,
		Example: `  meowdis diff cats.sqlite backup.sqlite
  meowdis diff --json redis://localhost:6379 cats.sqlite --match 'cat:*'`,
		Args:              usageArgs(cobra.ExactArgs(2)),
		ValidArgsFunction: targets.CompleteNames(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := targets.CheckDatabase(cmd.Flags(), "database", o.database); err != nil {
				return err
			}
			o.a, o.b = args[0], args[1]
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	o.flags = f
	o.keys.AddFlags(cmd)
	f.IntVarP(&o.database, "database", "n", -1, "compare only database `NUMBER` (default: all)")
	f.Lookup("database").DefValue = "0" // help shows no default
	f.Var(&o.tolerance, "ttl-tolerance", "ignore differences in expiry of up to `DURATION`")
	cmd.RegisterFlagCompletionFunc("ttl-tolerance", cobra.NoFileCompletions)
	f.BoolVar(&o.json, "json", false, "print one JSON object per difference")
	o.tokens.AddFlags(cmd, "a-token", "b-token")
	o.reach.AddFlags(cmd)
	return cmd
}

func (o *diffOptions) run(ctx context.Context, s *streams) (err error) {
	read, err := o.keys.ReadOptions()
	if err != nil {
		return err
	}
	if o.database >= 0 {
		read.Databases = []int{o.database}
	}
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	var sides [2]*targets.Conn
	for i, side := range []struct{ spec, token string }{{o.a, o.tokens.First}, {o.b, o.tokens.Second}} {
		t, err := o.tokens.Named(s.getenv, side.spec, side.token)
		if err != nil {
			return err
		}
		if err := t.HasDatabase(o.flags, "database", o.database); err != nil {
			return err
		}
		if sides[i], err = connectExisting(ctx, &targets.Options{Reach: o.reach}, t); err != nil {
			return err
		}
		defer func() { err = closeConn(err, sides[i]) }()
	}
	if read.Databases == nil && sides[0].Chosen() {
		read.Databases = []int{sides[0].DB()}
	}
	return o.compare(ctx, s, sides[0], sides[1], read)
}

func (o *diffOptions) compare(ctx context.Context, s *streams, a, b *targets.Conn, read transfer.ReadOptions) error {
	r := newKeysReport(s, "comparing", total(ctx, a, read), a)
	differences := 0
	found := func(d transfer.Difference) {
		differences++
		r.Bar.Clear()
		fmt.Fprintf(s.out, "%s\n", o.line(d))
	}
	keys, err := transfer.Diff(ctx, a, b, transfer.DiffOptions{
		Read: read, A: move.List(a, read), B: move.List(b, read), Find: move.Find(b), Unseen: move.Unseen(b, read),
		FindInA: move.Find(a), UnseenInA: move.Unseen(a, read), Tolerance: time.Duration(o.tolerance), Notify: r.Notify, Seen: r.Seen,
		Found: found,
	})
	if err == nil && o.keys.All() && read.Databases == nil {
		r.DiffDefinitions(ctx, a, b, false, found)
	}
	if err == nil && differences > 0 {
		r.Say("%s in %s compared", move.Count(int64(differences), "difference"), move.Count(keys, "key"))
		err = exit.ErrReported
	}
	if exit.WasStopped(ctx, err) {
		err = exit.Stopped(ctx, "the output is incomplete: "+move.Count(keys, "key")+" compared")
	}
	return r.End(err)
}

// line formats one difference.
func (o *diffOptions) line(d transfer.Difference) []byte {
	if o.json {
		var pairs []resp.Value
		switch {
		case d.Index != nil:
			pairs = append(pairs, resp.MakeString(d.Index.What), resp.MakeString(d.Index.Name))
		case d.Key == nil:
			pairs = append(pairs, resp.MakeString("library"), resp.MakeString(d.Library))
		default:
			pairs = append(pairs, resp.MakeString("key"), resp.MakeBulk(d.Key.Name), resp.MakeString("db"), resp.MakeInt(int64(d.Key.DB)))
		}
		pairs = append(pairs, resp.MakeString("difference"), resp.MakeString(d.What))
		if d.A != d.B {
			pairs = append(pairs, resp.MakeString("a"), resp.MakeString(d.A), resp.MakeString("b"), resp.MakeString(d.B))
		}
		return resp.AppendJSON(nil, resp.MakeMap(pairs...))
	}
	switch {
	case d.Index != nil:
		return fmt.Appendf(nil, "%s of search %q: %s", d.Index.What, d.Index.Name, d.What)
	case d.Key == nil:
		return fmt.Appendf(nil, "library of functions %q: %s", d.Library, d.What)
	}
	line := fmt.Appendf(nil, "%s: %s", d.Key, d.What)
	if d.A != d.B {
		line = fmt.Appendf(line, ": %s | %s", d.A, d.B)
	}
	return line
}
