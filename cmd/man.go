package cmd

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/meowdis/meowdis/local"
)

func newMan(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		GroupID: groupSetUp,
		Short:   "Write the man pages into a directory",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("making the directory %s: %w", args[0], local.Pathless(err))
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			keepLines(root)
			root.Long += "\n\nMore is told in " + topicPages(root) + "."
			// The same pages from the same source, whenever they are made.
			date := time.Unix(0, 0).UTC()
			if err := doc.GenManTree(root, manHeader("1", date), args[0]); err != nil {
				return err
			}
			for _, topic := range root.Commands() {
				if topic.IsAdditionalHelpTopicCommand() {
					if err := doc.GenManTree(topic, manHeader("7", date), args[0]); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// topicPages are the names of the pages that are about no verb, which cobra does not
// refer to.
func topicPages(root *cobra.Command) string {
	var pages []string
	for _, topic := range root.Commands() {
		if topic.IsAdditionalHelpTopicCommand() {
			pages = append(pages, "meowdis-"+topic.Name()+"(7)")
		}
	}
	return strings.Join(pages, ", ")
}

// keepLines makes the indented lines of the texts what a man page shows as they
// are: blocks of code in Markdown.
func keepLines(cmd *cobra.Command) {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(cmd.Long) {
		if strings.HasPrefix(line, "  ") {
			if !inside {
				b.WriteString("\n")
			}
			inside = true
			line = "  " + line
		} else if inside {
			inside = false
			b.WriteString("\n")
		}
		b.WriteString(line)
	}
	cmd.Long = b.String()
	for _, c := range cmd.Commands() {
		keepLines(c)
	}
}

func manHeader(section string, date time.Time) *doc.GenManHeader {
	return &doc.GenManHeader{Section: section, Source: "meowdis", Manual: "meowdis", Date: &date}
}
