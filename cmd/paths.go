package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/internal/target"
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
				return printJSON(s.out, paths{target.DefaultFile(), target.HistoryFile(), target.UndoDirectory(), target.RecallDirectory(), target.ConfigFile()})
			}
			_, err := fmt.Fprintf(s.out, "data     %s\nhistory  %s\nundo     %s\nkeys     %s\nconfig   %s\n", target.DefaultFile(), target.HistoryFile(), target.UndoDirectory(), target.RecallDirectory(), target.ConfigFile())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// paths is what paths prints as JSON.
type paths struct {
	Data    string `json:"data"`
	History string `json:"history"`
	Undo    string `json:"undo"`
	Keys    string `json:"keys"`
	Config  string `json:"config"`
}
