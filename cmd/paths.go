package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newPaths(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "paths",
		GroupID: groupSetUp,
		Short:   "Print where meowdis keeps its files",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.out, "data     %s\nhistory  %s\nundo     %s\nconfig   %s\n", defaultFile(), historyFile(), undoDirectory(), configFile())
			return err
		},
	}
}
