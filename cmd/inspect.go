package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/inspect"
	"github.com/meowdis/meowdis/local"
)

func newInspect(s *streams) *cobra.Command {
	o := &targetOptions{}
	cmd := &cobra.Command{
		Use:     "inspect [FLAGS] [TARGET]",
		GroupID: groupLook,
		Short:   "Browse keys and values on the whole screen",
		Long: `Shows the keys of a target with their types, sizes and times to live, and their
values. It writes nothing. Press ? for its keys.

` + targetHelp,
		Example: `  meowdis inspect cats.sqlite
  meowdis inspect --url redis://localhost:6379`,
		DisableFlagsInUseLine: true,
		Args:                  usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction:     completeTargets(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.spec = args[0]
			}
			return runInspect(cmd.Context(), s, o)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().Lookup("full").Hidden = true // nothing is written
	cmd.Flags().Lookup("read-only").Hidden = true
	return cmd
}

func runInspect(ctx context.Context, s *streams, o *targetOptions) (err error) {
	if !s.outTerminal {
		return usagef("inspect draws on a terminal, and the output is none")
	}
	c, err := o.connect(ctx, s, local.Options{ReadOnly: true}, false)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	return inspect.Run(ctx, inspect.Options{Client: c, Target: c.target.String(), DB: c.DB(), Out: s.out})
}
