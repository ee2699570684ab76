package cmd

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/indexes"
	"github.com/meowdis/meowdis/keyspace/stats"
	"github.com/meowdis/meowdis/redis/resp"
)

// summaryOptions holds the flags of the verbs that read every key.
type summaryOptions struct {
	target  targets.Options
	json    bool
	limit   int64
	samples int64
	match   string
	top     int
}

func (o *summaryOptions) addFlags(cmd *cobra.Command, top int, what string) {
	f := cmd.Flags()
	f.IntVar(&o.top, "top", top, "show the `NUMBER` largest "+what)
	f.Int64Var(&o.limit, "limit", 0, "read at most `NUMBER` keys, in no particular order")
	f.Int64Var(&o.samples, "samples", 5, "a server measures `NUMBER` elements of each key, 0 for all")
	f.BoolVar(&o.json, "json", false, "print JSON")
	o.target.AddReadFlags(cmd)
}

func (o *summaryOptions) check(cmd *cobra.Command, args []string) error {
	switch {
	case o.limit < 0:
		return exit.Usagef("--limit %d: give 0 or more", o.limit)
	case o.samples < 0:
		return exit.Usagef("--samples %d: give 0 or more", o.samples)
	case o.top < 0:
		return exit.Usagef("--top %d: give 0 or more", o.top)
	}
	own, err := ownArgs(cmd, &o.target, args, targets.Own{What: "PATTERN", Most: 1})
	o.match = first(own)
	return err
}

// run adds all keys to summary and prints the text that write returns.
func (o *summaryOptions) run(ctx context.Context, s *streams, summary *stats.Summary, prefixes int, write func(stats.Report) string) error {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	return withTarget(ctx, s, &o.target, readOnly, func(c *targets.Conn) error {
		report, err := o.report(ctx, s, c)
		if err != nil {
			return err
		}
		if !summary.ByType && o.match == "" && o.target.DatabaseOf(c.Target) == 0 {
			report.Indexes = indexesOf(ctx, c)
		}
		pages := o.pages(c, &report)
		r := newKeysReport(s, "reading keys", report.Keys, c)
		err = pages(ctx, func(keys []keyspace.Key) error {
			if room := o.limit - summary.Total.Keys; o.limit > 0 && int64(len(keys)) > room {
				keys = keys[:room]
			}
			summary.Add(keys)
			countRead(r, keys)
			if o.limit > 0 && summary.Total.Keys == o.limit {
				return errEnough
			}
			return nil
		})
		r.Bar.End()
		if err = ignoreStop(ctx, err); err != nil {
			return err
		}
		r.SayNodes()
		if o.json {
			return writeJSON(s, r.WithNodes(report.JSON(summary, prefixes)))
		}
		_, err = io.WriteString(s.screen, write(report))
		return err
	})
}

// countRead counts keys that were read.
func countRead(r *move.Report, keys []keyspace.Key) {
	for _, k := range keys {
		r.Read(k.Name)
	}
}

// report returns an empty report about a target.
func (o *summaryOptions) report(ctx context.Context, s *streams, c *targets.Conn) (stats.Report, error) {
	report := stats.Report{Colour: s.colour(), Keys: -1}
	report.Width, _ = s.room()
	v, err := c.Do(ctx, []byte("DBSIZE"))
	if v.Kind == resp.Int && o.match == "" {
		report.Keys = v.Int
	}
	return report, err
}

// indexesOf returns the search indexes of a target. It returns none if they cannot be read, as in a file of an older version.
func indexesOf(ctx context.Context, c *targets.Conn) []indexes.Index {
	all, err := indexes.All(ctx, func(ctx context.Context, call [][]byte) (resp.Value, error) { return c.Do(ctx, call...) })
	if err != nil {
		return nil
	}
	return all
}

func writeJSON(s *streams, v resp.Value) error {
	_, err := s.out.Write(append(resp.AppendJSON(nil, v), '\n'))
	return err
}

// pages returns the source of the keys. A file's tables are in the order of creation, which is not a sample: --limit
// and a pattern use SCAN.
func (o *summaryOptions) pages(c *targets.Conn, report *stats.Report) keyspace.Pages {
	report.Measure, report.Samples = measureOf(c), o.samples
	if c.File != nil && o.match == "" && o.limit == 0 {
		if info, err := os.Stat(c.Target.Path); err == nil { // missing for :memory:
			report.File = info.Size() + logBytes(c.Target.Path)
		}
		tables := tables(c)
		tables.Detail = keyspace.Measured
		return tables.Keys
	}
	walk := walk(c, keyspace.Measured)
	walk.Match, walk.Samples = o.match, o.samples
	if o.samples == 0 {
		walk.Samples = keyspace.AllSamples
	}
	return walk.Keys
}
