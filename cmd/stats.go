package cmd

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/survey"
)

// summaryOptions are the flags of the verbs that look at every key.
type summaryOptions struct {
	target  targetOptions
	json    bool
	limit   int64
	samples int64
	match   string
	top     int
}

const bytesHelp = `On a file, bytes are exactly those of names and values, read from its tables: not
what the file takes, nor what MEMORY USAGE says. On a server every key is asked for
with MEMORY USAGE, which estimates from --samples of its elements; --limit looks at
some keys only, which on a large server is often enough. Ctrl-C ends it early with
what was seen.`

func (o *summaryOptions) addFlags(cmd *cobra.Command, top int, what string) {
	f := cmd.Flags()
	f.IntVar(&o.top, "top", top, "show the `NUMBER` largest "+what)
	f.Int64Var(&o.limit, "limit", 0, "look at no more than `NUMBER` keys, which are any")
	f.Int64Var(&o.samples, "samples", 5, "`NUMBER` of elements that a server measures of each key, 0 for all")
	f.BoolVar(&o.json, "json", false, "print JSON")
	o.target.addLookFlags(cmd)
}

func (o *summaryOptions) check(args []string) error {
	switch {
	case o.limit < 0:
		return usagef("--limit %d: there cannot be fewer than none", o.limit)
	case o.samples < 0:
		return usagef("--samples %d: there cannot be fewer than none", o.samples)
	case o.top < 0:
		return usagef("--top %d: there cannot be fewer than none", o.top)
	}
	if len(args) == 1 {
		o.match = args[0]
	}
	return nil
}

// statsOptions are the flags of stats.
type statsOptions struct {
	summaryOptions
	separator string
	depth     int
	prefixes  int
}

func newStats(s *streams) *cobra.Command {
	o := &statsOptions{}
	cmd := &cobra.Command{
		Use:     "stats [FLAGS] [PATTERN]",
		GroupID: groupLook,
		Short:   "Add up the keys by type, prefix and time to live",
		Long: `Counts keys, elements and bytes by type and by prefix, and keys by their time to
live, and lists the largest keys. A pattern picks keys. The memory that it takes
does not grow with the database.

` + bytesHelp + "\n\n" + targetHelp,
		Example: `  meowdis stats --db cats.sqlite
  meowdis stats --url redis://localhost --limit 100000
  meowdis stats --depth 2 'user:*'`,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.depth < 1 {
				return usagef("--depth %d: a prefix has at least one part", o.depth)
			}
			if o.prefixes < 0 {
				return usagef("--prefixes %d: there cannot be fewer than none", o.prefixes)
			}
			if err := o.check(args); err != nil {
				return err
			}
			summary := &survey.Summary{Separator: []byte(o.separator), Depth: o.depth, Top: o.top}
			return o.run(cmd.Context(), s, summary, o.prefixes, func(r survey.Report) string { return r.Stats(summary, o.prefixes) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.separator, "separator", ":", "`TEXT` that ends a prefix; empty for no prefixes")
	f.IntVar(&o.depth, "depth", 1, "`NUMBER` of parts that a prefix has")
	f.IntVar(&o.prefixes, "prefixes", 10, "show the `NUMBER` largest prefixes")
	o.addFlags(cmd, 10, "keys")
	return cmd
}

// run takes all keys into summary and prints what write makes of it.
func (o *summaryOptions) run(ctx context.Context, s *streams, summary *survey.Summary, prefixes int, write func(survey.Report) string) error {
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	return o.target.look(ctx, s, lookOnly, func(c *connection) error {
		report := survey.Report{Colour: s.colour(), Keys: -1}
		report.Width, _ = s.room()
		if v, err := c.Do(ctx, []byte("DBSIZE")); err != nil {
			return err
		} else if v.Kind == resp.Int && o.match == "" {
			report.Keys = v.Int
		}
		pages := o.pages(c, &report)
		bar := newProgress(s, "looking at keys", "keys", report.Keys)
		err := pages(ctx, func(keys []survey.Key) error {
			if room := o.limit - summary.Total.Keys; o.limit > 0 && int64(len(keys)) > room {
				keys = keys[:room]
			}
			summary.Add(keys)
			bar.add(int64(len(keys)))
			if o.limit > 0 && summary.Total.Keys == o.limit {
				return errEnough
			}
			return nil
		})
		bar.end()
		if err = ended(ctx, err); err != nil {
			return err
		}
		if o.json {
			_, err = s.out.Write(append(resp.AppendJSON(nil, report.JSON(summary, prefixes)), '\n'))
			return err
		}
		_, err = io.WriteString(s.screen, write(report))
		return err
	})
}

// pages is where the keys come from. A file's tables are read in the order in
// which the keys were made, so that some of them would not be any: those are had
// by SCAN, and so are keys that match a pattern.
func (o *summaryOptions) pages(c *connection, report *survey.Report) survey.Pages {
	report.Measure, report.Samples = c.measure(), o.samples
	if c.file != nil && o.match == "" && o.limit == 0 {
		if info, err := os.Stat(c.target.path); err == nil { // not :memory:
			report.File = info.Size() + logBytes(c.target.path)
		}
		tables := c.tables()
		tables.Facts = survey.Measured
		return tables.Keys
	}
	walk := c.walk(survey.Measured)
	walk.Match, walk.Samples = o.match, o.samples
	return walk.Keys
}
