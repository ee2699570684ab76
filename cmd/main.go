package cmd

import (
	"context"
	"os"

	"golang.org/x/term"

	"github.com/meowdis/meowdis/cmd/internal/termprobe"
)

// Main runs the command line of this process and returns its exit code.
func Main() int {
	termprobe.Restore()
	growStack(0)
	s := &streams{
		in: os.Stdin, screen: os.Stdout, errScreen: os.Stderr, getenv: os.Getenv,
		askSecret:   askSecret,
		size:        terminalSize,
		waits:       defaultWaits,
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if !s.outTerminal {
		s.screen = &output{Writer: os.Stdout}
	}
	s.out, s.err = escapingFor(s.screen, s.outTerminal), escapingFor(s.errScreen, s.errTerminal)
	defer s.finish()
	args := lambdaArgs(os.Args, os.Getenv)
	root := rootFor(s, args)
	root.SetArgs(args)
	ran, err := root.ExecuteContextC(context.Background())
	return s.exitCode(ran, err)
}

// terminalSize returns the size of the terminal of stdout, or of stderr if stdout is a file or a pipe.
func terminalSize() (width, height int, err error) {
	if width, height, err = term.GetSize(int(os.Stdout.Fd())); err != nil {
		return term.GetSize(int(os.Stderr.Fd()))
	}
	return width, height, nil
}

// growStack makes the stack of the goroutine large while it is nearly empty. Otherwise SQLite makes Go double and copy
// it several times, and look up the layout of each frame: a twentieth of the time of a GET.
//
//go:noinline
func growStack(n int) byte {
	if n == 0 {
		return 0 // room is part of this frame, too
	}
	var room [100 << 10]byte
	return room[n]
}
