package cmd

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		GroupID: groupSetUp,
		Short:   "Write the man pages into a directory",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			// The same pages from the same source, whenever they are made.
			date := time.Unix(0, 0).UTC()
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "meowdis", Manual: "meowdis", Date: &date}, args[0])
		},
	}
}
