package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/glob"
	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/transfer"
)

// moveOptions are the flags that every verb has that moves keys: which ones, and how they
// arrive.
type moveOptions struct {
	selection
	from, to int // databases; -1 for all, each into its own
	prefix   string
	ttl      string
	dryRun   bool
}

func (o *moveOptions) addFlags(cmd *cobra.Command, short string) {
	o.selection.addFlags(cmd)
	f := cmd.Flags()
	f.IntVarP(&o.from, "db-from", short, -1, "only keys of database `NUMBER` (default: all)")
	f.IntVar(&o.to, "db-to", -1, "into database `NUMBER` (default: the same)")
	f.Lookup("db-from").DefValue, f.Lookup("db-to").DefValue = "0", "0" // -1 is nothing to show
	f.StringVar(&o.prefix, "prefix", "", "names that begin with OLD begin with NEW instead: `OLD=NEW`, as in cat:=dog:")
	f.StringVar(&o.ttl, "ttl", "keep", "when keys expire: `WHEN` is keep (as they did), never, or a time from now, such as 12h")
	f.BoolVar(&o.dryRun, "dry-run", false, "write nothing, and count what would be moved")
	for _, name := range []string{"db-from", "db-to", "prefix"} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	cmd.RegisterFlagCompletionFunc("ttl", cobra.FixedCompletions([]string{"keep", "never", "1h"}, cobra.ShellCompDirectiveNoFileComp))
}

// check refuses numbers that name no database.
func (o *moveOptions) check(cmd *cobra.Command) error {
	return errors.Join(checkDatabase(cmd.Flags(), "db-from", o.from), checkDatabase(cmd.Flags(), "db-to", o.to))
}

// change is what the flags make of keys, all but which are wanted.
func (o *moveOptions) change(now time.Time) (c transfer.Change, err error) {
	if o.prefix != "" {
		old, becomes, ok := strings.Cut(o.prefix, "=")
		if !ok || old+becomes == "" {
			return c, usagef("--prefix %s: give OLD=NEW, as in --prefix cat:=dog:", o.prefix)
		}
		c.From, c.To = []byte(old), []byte(becomes)
	}
	if o.to >= 0 {
		c.DB = into(o.to)
	}
	switch o.ttl {
	case "keep", "":
	case "never":
		c.Expiry = func(int64) int64 { return 0 }
	default:
		var left interval
		if err := left.Set(o.ttl); err != nil || left <= 0 {
			return c, usagef("--ttl %s: give keep, never, or a time from now, such as 90s or 12h", o.ttl)
		}
		at := now.Add(time.Duration(left)).UnixMilli()
		c.Expiry = func(int64) int64 { return at }
	}
	return c, nil
}

// fromFile is change for the keys of a file, all of which are looked at.
func (o *moveOptions) fromFile(now time.Time) (transfer.Change, error) {
	c, err := o.change(now)
	if err != nil {
		return c, err
	}
	read, err := o.readOptions()
	if err != nil {
		return c, err
	}
	c.Wanted = func(k *transfer.Key) bool {
		return (o.from < 0 || k.DB == o.from) && (read.Type == "" || k.Type == read.Type) &&
			(read.Match == "" || glob.MatchKey([]byte(read.Match), k.Name))
	}
	return c, nil
}

// tellSurvey prints what --dry-run found, where there is a destination.
func tellSurvey(s *streams, there transfer.Survey, did string, destination bool) {
	fmt.Fprintf(s.out, "%s would be %s", count(there.Keys, "key"), did)
	if destination {
		fmt.Fprintf(s.out, ", %d of them there already", there.Existing)
	}
	fmt.Fprintln(s.out)
	for _, name := range keytype.Labels() {
		if typ, err := typeNamed(name); err == nil && there.Types[typ] > 0 {
			fmt.Fprintf(s.out, "%-7s %d\n", name, there.Types[typ])
		}
	}
}

// countOnly is --dry-run of the verbs that write a file.
func (o *moveOptions) countOnly(ctx context.Context, s *streams, from *targetOptions, chosen bool, read transfer.ReadOptions, did string) (err error) {
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	c, err := from.connectToRead(ctx, s, chosen, &read)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	read.List = c.list(read)
	bar := newProgress(s, "counting", "keys", total(ctx, c, read))
	there, err := transfer.TakeSurvey(ctx, c, read, nil, transfer.Change{}, bar.add)
	bar.end()
	if wasStopped(ctx, err) {
		return stopped(ctx, "nothing was "+did)
	}
	if err == nil {
		tellSurvey(s, there, did, false)
	}
	return err
}
