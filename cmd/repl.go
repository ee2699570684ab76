package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/repl"
	"github.com/meowdis/meowdis/resp"
)

// replOptions are the flags of repl.
type replOptions struct {
	target  targetOptions
	format  formatOptions
	confirm confirmOptions
	pager   bool
}

func newREPL(s *streams) *cobra.Command {
	o := &replOptions{}
	cmd := &cobra.Command{
		Use:     "repl",
		GroupID: groupUse,
		Short:   "Type commands, with completion, hints and history",
		Long: `Reads commands from the terminal and prints their replies. The prompt shows where
they go, the database when it is not 0, and (TX) inside MULTI.

TAB completes commands, options and keys; HELP tells about commands. The history
leaves out lines with passwords. From a pipe it reads one command a line.

` + targetHelp,
		Example: `  meowdis repl
  meowdis repl --db cats.sqlite -n 2
  meowdis repl --profile prod
  meowdis repl --url rediss://example.com:6380 --read-only`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.format.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.target.addFlags(cmd)
	o.confirm.addFlags(cmd)
	o.format.addFlags(cmd)
	cmd.Flags().BoolVar(&o.pager, "pager", false, "show replies longer than the screen in $PAGER, or less")
	return cmd
}

func (o *replOptions) run(ctx context.Context, s *streams) (err error) {
	c, err := o.target.connect(ctx, s, local.Options{}, o.format.wantsRESP3())
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	printer := o.format.printer(s)
	terminal := s.inTerminal && s.outTerminal
	if !terminal {
		c.session = o.confirm.confirmed(c, s)
	}
	var page func([]byte) bool
	if o.pager && terminal {
		page = s.page
	}
	failed, err := repl.Run(ctx, repl.Options{
		Page:    page,
		Session: c,
		Target:  s.painted(c.target.settings.Color, c.target.label()),
		Format: func(out []byte, args [][]byte, v resp.Value) []byte {
			suggest(s.err, args, v)
			return printer.append(out, args, v)
		},
		In: s.in, Out: s.out, Err: s.err,
		Terminal: terminal,
		Confirm: func(args [][]byte) (question string, accepts func(string) bool) {
			return o.confirm.question(c.target, args)
		},
		History: historyFile(),
		Colour:  o.format.colour(s),
	})
	if err == nil && failed {
		return errAnswered
	}
	return err
}
