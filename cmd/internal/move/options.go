package move

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/transfer"
)

// topic names the help topic with the flags of all verbs that move keys.
const topic = "moving"

// Selection holds the flags that choose keys.
type Selection struct {
	match string
	typ   string
}

// AddFlags adds --match and --type.
func (o *Selection) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.match, "match", "", "only keys that match `PATTERN`, as in SCAN: cat:*")
	flags.AddType(cmd, &o.typ, "only keys of `TYPE`, such as string or hash")
	flags.InTopic(f, topic, "match", "type")
	cmd.RegisterFlagCompletionFunc("match", cobra.NoFileCompletions)
}

// ReadOptions returns the options of a source.
func (o *Selection) ReadOptions() (transfer.ReadOptions, error) {
	read := transfer.ReadOptions{Match: o.match}
	var err error
	if o.typ != "" {
		var typ string
		typ, err = flags.Type(o.typ)
		read.Type = transfer.Type(typ)
	}
	return read, err
}

// All reports whether the flags choose all keys.
func (o *Selection) All() bool { return o.match == "" && o.typ == "" }

// Existing holds the flags for keys that already exist at the destination.
type Existing struct {
	replace, skip bool
}

// AddFlags adds --replace and --skip.
func (o *Existing) AddFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.replace, "replace", false, "replace existing keys")
	cmd.Flags().BoolVar(&o.skip, "skip", false, "keep existing keys")
}

// Mode returns the chosen treatment; the default stops at an existing key.
func (o *Existing) Mode() transfer.Existing {
	switch {
	case o.replace:
		return transfer.Replace
	case o.skip:
		return transfer.Skip
	}
	return transfer.Refuse
}

// Options holds the flags of every verb that moves keys: which keys to move, and how to change them.
type Options struct {
	Selection
	From, To int // databases; -1 for all, each into its own
	prefix   string
	ttl      string
	DryRun   bool
	JSON     bool
}

// AddFlags adds the flags. short is the shorthand of --from-database, or "".
func (o *Options) AddFlags(cmd *cobra.Command, short string) {
	o.Selection.AddFlags(cmd)
	f := cmd.Flags()
	f.IntVarP(&o.From, "from-database", short, -1, "only keys of database `NUMBER` (default: all)")
	f.IntVar(&o.To, "to-database", -1, "into database `NUMBER` (default: the same)")
	f.Lookup("from-database").DefValue, f.Lookup("to-database").DefValue = "0", "0" // help shows no default
	f.StringVar(&o.prefix, "prefix", "", "replace a prefix of names: `OLD=NEW`, as in cat:=dog:")
	f.StringVar(&o.ttl, "ttl", "keep", "new expiry: `WHEN` is keep (default), never, or 12h")
	flags.InTopic(f, topic, "from-database", "to-database", "prefix", "ttl")
	flags.Alias(f, "db-from", "from-database")
	flags.Alias(f, "db-to", "to-database")
	f.BoolVar(&o.DryRun, "dry-run", false, "write nothing, and count the keys")
	f.BoolVar(&o.JSON, "json", false, "print the result as JSON on stdout, at the end")
	for _, name := range []string{"from-database", "to-database", "prefix"} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	cmd.RegisterFlagCompletionFunc("ttl", cobra.FixedCompletions([]string{"keep", "never", "1h"}, cobra.ShellCompDirectiveNoFileComp))
}

// Check refuses an invalid database number.
func (o *Options) Check(cmd *cobra.Command) error {
	return errors.Join(targets.CheckDatabase(cmd.Flags(), "from-database", o.From), targets.CheckDatabase(cmd.Flags(), "to-database", o.To))
}

// Change returns the changes to names, databases and expiries. It does not include the selection.
func (o *Options) Change(now time.Time) (c transfer.Change, err error) {
	if o.prefix != "" {
		old, becomes, ok := strings.Cut(o.prefix, "=")
		if !ok || old+becomes == "" {
			return c, exit.Usagef("--prefix %s: give OLD=NEW, as in --prefix cat:=dog:", o.prefix)
		}
		c.From, c.To = []byte(old), []byte(becomes)
	}
	if o.To >= 0 {
		c.DB = IntoDatabase(o.To)
	}
	switch o.ttl {
	case "keep", "":
	case "never":
		c.Expiry = func(int64) int64 { return 0 }
	default:
		var left flags.Interval
		if err := left.Set(o.ttl); err != nil || left <= 0 {
			return c, exit.Usagef("--ttl %s: give keep, never, or a time from now, such as 90s or 12h", o.ttl)
		}
		at := now.Add(time.Duration(left)).UnixMilli()
		c.Expiry = func(int64) int64 { return at }
	}
	return c, nil
}

// FromFile returns Change with the selection, for a file, which is read to its end.
func (o *Options) FromFile(now time.Time) (transfer.Change, error) {
	c, err := o.Change(now)
	if err != nil {
		return c, err
	}
	read, err := o.ReadOptions()
	if err != nil {
		return c, err
	}
	c.Wanted = func(k *transfer.Key) bool {
		return (o.From < 0 || k.DB == o.From) && (read.Type == "" || k.Type == read.Type) &&
			(read.Match == "" || glob.MatchKey([]byte(read.Match), k.Name))
	}
	return c, nil
}

// IntoDatabase sends all keys to database db; -1 keeps the databases.
func IntoDatabase(db int) func(int) int {
	if db < 0 {
		return nil
	}
	return func(int) int { return db }
}
