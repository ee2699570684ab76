package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/local"
)

const exitCodesHelp = `Exit codes:
    0  every command succeeded
    1  a command returned an error
    2  invalid command line
    3  the target could not be opened or reached, or it failed,
       or a move left out keys, which it named
  130  interrupted by Ctrl-C (143: by SIGTERM)`

// exitCode prints the error of the verb ran, if any, and returns the exit code of the process.
func (s *streams) exitCode(ran *cobra.Command, err error) int {
	if out, ok := s.out.(*output); ok && out.failed != nil && (err == nil || exit.Printed(err)) {
		err = out.failed
	}
	var usage exit.UsageError
	switch {
	case err == nil || exit.Printed(err): // the verb has printed it
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "meowdis: %v\nSee %s --help.\n", err, ran.CommandPath())
	default:
		text := strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted")
		if local.IsCorrupt(err) && !strings.Contains(text, "meowdis doctor") {
			text += "; run meowdis doctor"
		}
		fmt.Fprintf(s.err, "meowdis: %s\n", text)
	}
	return exit.Code(err)
}
