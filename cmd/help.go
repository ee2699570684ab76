package cmd

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/complete"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/repl"
)

// newHelp returns the verb help, which explains verbs, topics and Redis commands.
func newHelp(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB | TOPIC | COMMAND]",
		Short:   "Explain a verb, a topic or a Redis command",
		GroupID: groupSetUp,
		Example: `  meowdis help exec
  meowdis help formats
  meowdis help ZADD
  meowdis help verbs`,
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			switch {
			case len(args) == 1 && args[0] == "verbs":
				return showVerbs(s.out, cmd.Root())
			case err != nil || len(rest) == 0:
			case about.HasParent() && about.HasSubCommands():
				return unknownVerb(about, rest)
			case !about.HasParent() && commands.Lookup(rest[0]) != nil:
				columns, _ := s.room()
				_, err := io.WriteString(s.out, repl.Help(commands.Ours, rest, columns))
				return err
			default:
				return unknownVerb(cmd.Root(), rest)
			}
			return about.Help()
		},
	}
}

// completeHelp completes the names of verbs, topics and Redis commands.
func completeHelp(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, c := range about.Commands() {
		if (c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(c.Name(), typed) {
			found = append(found, c.Name()+"\t"+c.Short)
		}
	}
	if !about.HasParent() && typed == strings.ToUpper(typed) {
		commands, _ := complete.Commands(cmd, args, typed)
		found = append(found, commands...)
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
