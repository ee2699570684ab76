package cmd

import (
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/stats"
)

func newBigKeys(s *streams) *cobra.Command {
	o := &summaryOptions{}
	cmd := &cobra.Command{
		Use:     "bigkeys [FLAGS] [TARGET] [PATTERN]",
		GroupID: groupInspect,
		Short:   "Find the largest keys of each type",
		Long: `Lists the largest keys of each type, by bytes and by elements. PATTERN selects
keys. On a file, bytes are exact; a server estimates them with MEMORY USAGE.
After Ctrl-C it prints a summary of the keys so far.`,
		Example:           `  meowdis bigkeys redis://localhost --samples 0 'session:*'`,
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			if o.top == 0 {
				return exit.Usagef("--top 0: give at least 1")
			}
			summary := &stats.Summary{Top: o.top, ByType: true}
			return o.run(cmd.Context(), s, summary, 0, func(r stats.Report) string { return r.BigKeys(summary) })
		},
	}
	o.addFlags(cmd, 5, "keys of each type")
	return cmd
}
