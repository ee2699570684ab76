package cmd

import (
	"bytes"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/complete"
	"github.com/meowdis/meowdis/cmd/internal/flags"
)

const (
	groupUse      = "use"
	groupMove     = "move"
	groupInspect  = "look"
	groupMaintain = "mend"
	groupSetUp    = "setup"
)

// rootFor returns the tree of verbs for the arguments of the program. For exec it has no other verb: building all of
// them takes longer than a GET.
func rootFor(s *streams, args []string) *cobra.Command {
	if len(args) == 0 || args[0] != "exec" {
		return newRoot(s)
	}
	root := bareRoot(s)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newExec(s))
	unifyHelp(root)
	return root
}

// newRoot returns the tree of all verbs.
func newRoot(s *streams) *cobra.Command {
	root := bareRoot(s)
	root.AddCommand(
		newExec(s), newREPL(s), newServe(s), newLambda(s), newMCP(s),

		newDump(s), newRestore(s), newImport(s), newExport(s), newCopy(s), newDiff(s),

		newInspect(s), newExplain(s), newStatus(s), newHealth(s),
		newKeys(s), newScan(s), newPeek(s), newStats(s), newBigKeys(s), newLatency(s), newWatch(s), newMonitor(s), newSubscribe(s), newPSubscribe(s),
		newDoctor(s), newBackup(s), newVacuum(s), newMigrate(s),
		newProfile(s), newTenants(s), newWorker(s), newVersion(s), newPaths(s), newMan(s), newDemo(s),
	)
	root.AddCommand(topics()...)
	complete.AddShells(root, s.out, s.getenv, s.completions)
	unifyHelp(root)
	return root
}

// bareRoot returns the program without its verbs.
func bareRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "meowdis",
		Short: "Redis commands on a SQLite file, or on a server",
		Long: `Runs Redis commands on a SQLite file, on an Upstash REST endpoint or on a Redis
server: one command or a script (exec), at a prompt (repl), in full screen
(inspect), and from other programs (serve).

Commands go to a target: a file, a URL or @PROFILE. It comes first, or after -t.
Without one it is MEOWDIS_DB or MEOWDIS_URL, or else the default file.`,
		Example: `  meowdis exec SET greeting hello          # on the default file
  meowdis exec -t cats.sqlite GET greeting
  meowdis repl redis://localhost:6379
  meowdis exec < commands.txt              # a script
  meowdis inspect cats.sqlite
  meowdis serve cats.sqlite`,
		Version:          versionName(),
		Args:             cobra.ArbitraryArgs,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) { flags.NoteOld(s.err, cmd.Flags()) },
		SilenceErrors:    true,
		SilenceUsage:     true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownVerb(cmd, args)
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(badFlag)
	root.AddGroup(
		&cobra.Group{ID: groupUse, Title: "Run commands:"},
		&cobra.Group{ID: groupMove, Title: "Move keys:"},
		&cobra.Group{ID: groupInspect, Title: "Look inside:"},
		&cobra.Group{ID: groupMaintain, Title: "Maintain files:"},
		&cobra.Group{ID: groupSetUp, Title: "Set up:"},
	)
	root.SetHelpFunc(showHelp)
	root.SetHelpCommand(newHelp(s))
	root.SetCompletionCommandGroupID(groupSetUp)
	return root
}

// unifyHelp makes the help of all verbs uniform: flags in the order of their declaration, without --help, which all
// have, and no [flags] added to the usage line.
func unifyHelp(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Hidden = true
	cmd.DisableFlagsInUseLine = true
	for _, verb := range cmd.Commands() {
		unifyHelp(verb)
	}
}

// completions returns the output of cobra's completion command for args.
func (s *streams) completions(ctx context.Context, args []string) (string, error) {
	var out bytes.Buffer
	asked := *s
	asked.out, asked.err = &out, io.Discard
	root := newRoot(&asked)
	root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, args...))
	err := root.ExecuteContext(ctx)
	return out.String(), err
}
