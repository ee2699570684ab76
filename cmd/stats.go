package cmd

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/keyspace/stats"
)

// statsOptions holds the flags of stats.
type statsOptions struct {
	summaryOptions
	separator string
	depth     int
	prefixes  int
	live      bool
	interval  flags.Interval
	count     int64
}

func newStats(s *streams) *cobra.Command {
	o := &statsOptions{interval: flags.Interval(time.Second)}
	cmd := &cobra.Command{
		Use:     "stats [FLAGS] [PATTERN]",
		GroupID: groupInspect,
		Short:   "Count the keys by type, prefix and TTL",
		Long: `Counts keys, elements and bytes by type and by prefix, and keys by their TTL,
and lists the largest keys. PATTERN selects keys.

With --live it shows the activity of the target, each second until Ctrl-C: keys,
memory, clients, commands, hits, bytes and removed keys, with rates. On a
terminal it uses the whole screen; elsewhere it prints lines, or objects with
--json. It runs INFO and reads no keys.

` + bytesHelp,
		Example: `  meowdis stats --db cats.sqlite
  meowdis stats --url redis://localhost --limit 100000
  meowdis stats --depth 2 'user:*'
  meowdis stats --live --url redis://localhost
  meowdis stats --live --json --interval 10s > stats.ndjson`,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.depth < 1 {
				return exit.Usagef("--depth %d: give at least 1", o.depth)
			}
			if o.prefixes < 0 {
				return exit.Usagef("--prefixes %d: give 0 or more", o.prefixes)
			}
			if err := o.check(args); err != nil {
				return err
			}
			if o.live {
				if err := o.checkLive(cmd.Flags().Changed); err != nil {
					return err
				}
				return o.runLive(cmd.Context(), s)
			}
			for _, flag := range []string{"interval", "count"} {
				if cmd.Flags().Changed(flag) {
					return exit.Usagef("--%s needs --live", flag)
				}
			}
			summary := &stats.Summary{Separator: []byte(o.separator), Depth: o.depth, Top: o.top}
			return o.run(cmd.Context(), s, summary, o.prefixes, func(r stats.Report) string { return r.Stats(summary, o.prefixes) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.separator, "separator", ":", "`TEXT` that ends a prefix; empty for no prefixes")
	f.IntVar(&o.depth, "depth", 1, "`NUMBER` of parts in a prefix")
	f.IntVar(&o.prefixes, "prefixes", 10, "show the `NUMBER` largest prefixes")
	f.BoolVar(&o.live, "live", false, "show the activity of the target, until Ctrl-C")
	f.VarP(&o.interval, "interval", "i", "with --live, wait `SECONDS` between samples")
	f.Int64Var(&o.count, "count", 0, "with --live, take `NUMBER` samples")
	o.addFlags(cmd, 10, "keys")
	return cmd
}
