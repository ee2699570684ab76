package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes of meowdis. Scripts rely on them: they are documented in
// exitCodesHelp and in the man pages.
const (
	exitOK     = 0
	exitError  = 1 // a command was answered with an error
	exitUsage  = 2 // the command line was wrong
	exitTarget = 3 // the target could not be opened or reached, or failed

	exitInterrupted = 130 // as of a program that SIGINT ends
)

const exitCodesHelp = `Exit codes:
  0  every command was answered
  1  a command was answered with an error
  2  the command line was wrong
  3  the target could not be opened or reached, or it failed
130  Ctrl-C ended it, where the verb does not say otherwise`

// errAnswered ends a run in which a command was answered with an error. The
// answer has been printed, so that nothing more is said.
var errAnswered = errors.New("a command was answered with an error")

// errInterrupted is the end by SIGINT or SIGTERM.
var errInterrupted = errors.New("interrupted")

// interrupted says what became of the work and how to go on.
func interrupted(what string) error { return fmt.Errorf("%w; %s", errInterrupted, what) }

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode tells about err, the end of the verb ran, and gives its exit code.
func (s *streams) exitCode(ran *cobra.Command, err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errAnswered):
		return exitError
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "meowdis: %v\nSee %s --help.\n", err, ran.CommandPath())
		return exitUsage
	case errors.Is(err, errInterrupted):
		fmt.Fprintf(s.err, "meowdis: %v\n", err)
		return exitInterrupted
	case errors.Is(err, context.Canceled): // which nothing but a signal does
		fmt.Fprintf(s.err, "meowdis: %v\n", errInterrupted)
		return exitInterrupted
	}
	fmt.Fprintf(s.err, "meowdis: %v\n", err)
	return exitTarget
}

// usageArgs makes a failed check of the arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// exclusive refuses more than one of the flags.
func exclusive(cmd *cobra.Command, flags ...string) error {
	var given []string
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return usagef("give only one of %s", strings.Join(given, " and "))
	}
	return nil
}
