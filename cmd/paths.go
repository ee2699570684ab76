package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/internal/target"
)

func newPaths(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "paths",
		GroupID: groupSetUp,
		Short:   "Print where meowdis keeps its files",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.out, "data     %s\nhistory  %s\nundo     %s\nconfig   %s\n", target.DefaultFile(), target.HistoryFile(), target.UndoDirectory(), target.ConfigFile())
			return err
		},
	}
}
