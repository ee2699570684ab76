package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
)

// The exit codes of meowdis. Scripts rely on them: they are documented in
// exitCodesHelp and in the man pages.
const (
	exitOK     = 0
	exitError  = 1   // a command was answered with an error
	exitUsage  = 2   // the command line was wrong
	exitTarget = 3   // the target could not be opened or reached, or failed
	exitSignal = 128 // and the number of the signal that ended it
)

const exitCodesHelp = `Exit codes:
    0  every command was answered
    1  a command was answered with an error
    2  the command line was wrong
    3  the target could not be opened or reached, or it failed
  130  Ctrl-C ended it, where the verb does not say otherwise; 143 SIGTERM`

// errAnswered ends a run in which a command was answered with an error. The
// answer has been printed, so that nothing more is said.
var errAnswered = errors.New("a command was answered with an error")

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode tells about err, the end of the verb ran, and gives its exit code.
func (s *streams) exitCode(ran *cobra.Command, err error) int {
	if out, ok := s.out.(*output); ok && out.failed != nil && (err == nil || errors.Is(err, errAnswered)) {
		err = out.failed
	}
	var usage usageError
	var stopped stoppedBy
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errAnswered):
		return exitError
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "meowdis: %v\nSee %s --help.\n", err, ran.CommandPath())
		return exitUsage
	}
	// A signal is all that ends a context here, and what people know of it.
	text := strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted")
	if local.IsCorrupt(err) && !strings.Contains(text, "meowdis doctor") {
		text += "; meowdis doctor says more"
	}
	fmt.Fprintf(s.err, "meowdis: %s\n", text)
	switch {
	case errors.As(err, &stopped):
		return exitSignal + int(stopped)
	case errors.Is(err, context.Canceled):
		return exitSignal + int(syscall.SIGINT)
	}
	return exitTarget
}
