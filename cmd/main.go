package cmd

import (
	"context"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/meowdis/meowdis/internal/quiet"
)

// streams are the world outside, as far as a verb may touch it.
type streams struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	getenv func(string) string

	inTerminal  bool // somebody types
	outTerminal bool // somebody reads
	errTerminal bool // somebody sees what is said
}

// Main runs the command line of this process and returns its exit code.
func Main() int {
	quiet.Restore()
	s := &streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv,
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	root := newRoot(s)
	root.SetArgs(os.Args[1:])
	ran, err := root.ExecuteContextC(context.Background())
	return s.exitCode(ran, err)
}

// colour tells whether the output may be coloured.
func (s *streams) colour() bool {
	return s.outTerminal && s.getenv("NO_COLOR") == "" && s.getenv("TERM") != "dumb"
}
