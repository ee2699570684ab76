package cmd

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
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
			return writeManPages(cmd.Root(), args[0])
		},
	}
}

// writeManPages writes the page of cmd and of each verb and topic under it.
func writeManPages(cmd *cobra.Command, dir string) error {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			if err := writeManPages(c, dir); err != nil {
				return err
			}
		}
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + "." + manSection(cmd)
	return os.WriteFile(filepath.Join(dir, name), manPage(cmd), 0o644)
}
