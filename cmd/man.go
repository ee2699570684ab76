package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/internal/atomicfile"
)

func newMan(s *streams) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:     "man DIR",
		GroupID: groupSetUp,
		Short:   "Write the man pages into a directory",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("creating the directory %s: %w", args[0], atomicfile.Pathless(err))
			}
			root := cmd.Root()
			root.Long += "\n\nMore: " + topicPages(root) + "."
			if err := writePages(root, "1", args[0], force, s.getenv); err != nil {
				return err
			}
			for _, topic := range root.Commands() {
				if topic.IsAdditionalHelpTopicCommand() {
					if err := writePages(topic, "7", args[0], force, s.getenv); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "replace existing pages")
	return cmd
}

// topicPages returns the names of the topics' man pages, which are not listed as verbs.
func topicPages(root *cobra.Command) string {
	var pages []string
	for _, topic := range root.Commands() {
		if topic.IsAdditionalHelpTopicCommand() {
			pages = append(pages, "meowdis-"+topic.Name()+"(7)")
		}
	}
	return strings.Join(pages, ", ")
}

// writePages writes the pages of cmd and its subcommands. The output is reproducible: the date is SOURCE_DATE_EPOCH,
// or missing.
func writePages(cmd *cobra.Command, section, dir string, force bool, getenv func(string) string) error {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			if err := writePages(c, section, dir, force, getenv); err != nil {
				return err
			}
		}
	}
	date := ""
	if seconds, err := strconv.ParseInt(getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		date = time.Unix(seconds, 0).UTC().Format("Jan 2006")
	}
	name := manName(cmd) + "." + section
	err := atomicfile.Write(filepath.Join(dir, name), force, func(f *os.File) error {
		_, err := f.Write(manPage(cmd, section, date))
		return errors.Join(err, f.Chmod(0o644))
	})
	switch {
	case errors.Is(err, atomicfile.ErrExists):
		return exit.Usagef("%s: %w: name another directory, or give --force to replace it", name, err)
	case err != nil:
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
