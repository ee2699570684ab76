package cmd

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/stats"
)

// statsOptions holds the flags of stats.
type statsOptions struct {
	summaryOptions
	separator string
	depth     int
	live      bool
	interval  flags.Interval
}

func newStats(s *streams) *cobra.Command {
	o := &statsOptions{interval: flags.Interval(time.Second)}
	cmd := &cobra.Command{
		Use:     "stats [FLAGS] [TARGET] [PATTERN]",
		GroupID: groupInspect,
		Short:   "Count the keys by type, prefix and TTL",
		Long: `Counts keys, elements and bytes by type and by prefix, and keys by their TTL,
and lists the largest keys. PATTERN selects keys. On a file, bytes are exact; a
server estimates them with MEMORY USAGE. After Ctrl-C it prints a summary of the
keys so far.`,
		Example: `  meowdis stats cats.sqlite
  meowdis stats redis://localhost --limit 100000
  meowdis stats redis://localhost --live`,
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.depth < 1 {
				return exit.Usagef("--depth %d: give at least 1", o.depth)
			}
			if err := o.check(cmd, args); err != nil {
				return err
			}
			if o.live {
				if err := o.checkLive(cmd.Flags().Changed); err != nil {
					return err
				}
				return o.runLive(cmd.Context(), s)
			}
			if cmd.Flags().Changed("interval") {
				return exit.Usagef("--interval needs --live")
			}
			summary := &stats.Summary{Separator: []byte(o.separator), Depth: o.depth, Top: o.top}
			return o.run(cmd.Context(), s, summary, o.top, func(r stats.Report) string { return r.Stats(summary, o.top) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.separator, "separator", ":", "`TEXT` that ends a prefix; empty for none")
	f.IntVar(&o.depth, "depth", 1, "`NUMBER` of parts in a prefix")
	f.BoolVar(&o.live, "live", false, "show its activity: memory, clients, commands, hits")
	f.VarP(&o.interval, "interval", "i", "wait `DURATION` between samples of --live")
	o.addFlags(cmd, 10, "keys and prefixes")
	flags.Alias(f, "count", "limit")
	flags.Alias(f, "prefixes", "top")
	f.Lookup("limit").Usage = "read at most `NUMBER` keys, in no particular order; with --live, take NUMBER samples"
	return cmd
}
