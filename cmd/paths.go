package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/targets"
)

func newPaths(s *streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "paths [FLAGS]",
		GroupID: groupSetUp,
		Short:   "Print where meowdis keeps its files",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(s.out, paths{targets.DefaultFile(), targets.HistoryFile(), targets.UndoDirectory(), targets.RecentsDirectory(), targets.ConfigFile()})
			}
			_, err := fmt.Fprintf(s.out, "data     %s\nhistory  %s\nundo     %s\nkeys     %s\nconfig   %s\n", targets.DefaultFile(), targets.HistoryFile(), targets.UndoDirectory(), targets.RecentsDirectory(), targets.ConfigFile())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// paths defines the JSON output of paths.
type paths struct {
	Data    string `json:"data"`
	History string `json:"history"`
	Undo    string `json:"undo"`
	Keys    string `json:"keys"`
	Config  string `json:"config"`
}
