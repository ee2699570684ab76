package cmd

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
)

// execOptions are the flags and arguments of exec.
type execOptions struct {
	target    targetOptions
	format    formatOptions
	confirm   confirmOptions
	keepGoing bool
	lastArg   bool
	args      []string
}

func newExec(s *streams) *cobra.Command {
	o := &execOptions{}
	cmd := &cobra.Command{
		Use:     "exec [FLAGS] [COMMAND [ARG...]]",
		GroupID: groupUse,
		Short:   "Run one command, or a script of commands from stdin",
		Long: `Runs one Redis command and prints its reply. Flags stand before the command:
everything behind its first word belongs to it.

Without a command, runs the lines of stdin, each a command in redis-cli's
quoting. The script stops at its first error, and nothing behind the failed
line takes effect; with --keep-going it runs on. Either way the number of a
failed line goes to stderr and the exit code is 1. A failed SELECT, AUTH or
HELLO always stops: what follows was meant for another place.

Over REST and the Redis protocol a script waits for each write's reply before
it sends the next line, unless the endpoint can stop by itself; --keep-going
sends many lines at once.

` + exitCodesHelp + "\n\n" + targetHelp,
		Example: `  meowdis exec SET greeting "hello there" EX 60
  meowdis exec --json HGETALL cat:1
  meowdis exec -x SET picture < cat.png
  printf 'SET a 1\nINCR a\n' | meowdis exec
  meowdis exec --url https://example.com --token T GET greeting`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.format.check(cmd); err != nil {
				return err
			}
			o.args = args
			return o.run(cmd.Context(), s)
		},
	}
	cmd.Flags().SetInterspersed(false)
	o.format.addFlags(cmd)
	cmd.Flags().BoolVar(&o.keepGoing, "keep-going", false, "run a script on behind an error")
	cmd.Flags().BoolVarP(&o.lastArg, "stdin", "x", false, "take the last argument from stdin, as it is")
	o.confirm.addFlags(cmd)
	o.target.addFlags(cmd)
	return cmd
}

func (o *execOptions) run(ctx context.Context, s *streams) (err error) {
	switch {
	case o.lastArg && len(o.args) == 0:
		return usagef("-x needs a command")
	case len(o.args) == 0 && s.inTerminal:
		return usagef("give a command, or a script on stdin; meowdis repl is for typing")
	}
	c, err := o.target.connect(ctx, s, local.Options{SweepEvery: noSweep}, o.format.wantsRESP3())
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	c.session = o.confirm.confirmed(c, s)
	if len(o.args) == 0 {
		script := script{
			in: bufio.NewReaderSize(s.in, scriptBuffer), out: s.out, err: s.err,
			session: c, printer: o.format.printer(s), keepGoing: o.keepGoing,
		}
		return script.run(ctx)
	}
	return o.one(ctx, s, c)
}

// noSweep turns off the sweeps of expired keys for a moment's work.
const noSweep = -1

// closing ends a connection; a failure to do so is the run's, unless it had one.
func closing(err error, c *connection) error {
	closed := c.close()
	if err == nil || errors.Is(err, errAnswered) && closed != nil {
		return closed
	}
	return err
}

func (o *execOptions) one(ctx context.Context, s *streams, c *connection) error {
	args := make([][]byte, len(o.args))
	for i, a := range o.args {
		args[i] = []byte(a)
	}
	if o.lastArg {
		last, err := io.ReadAll(s.in)
		if err != nil {
			return err
		}
		args = append(args, last)
	}
	v, err := c.Do(ctx, args...)
	if err != nil {
		return err
	}
	if _, err := s.out.Write(o.format.printer(s).append(nil, args, v)); err != nil {
		return err
	}
	if v.HasError() {
		return errAnswered
	}
	return nil
}
