package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/meowdis/meowdis/internal/quiet"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/profile"
)

// streams are the world outside, as far as a verb may touch it.
type streams struct {
	in     io.Reader
	out    io.Writer // text: on a terminal nothing written here acts on it
	err    io.Writer
	getenv func(string) string

	// screen and errScreen are where out and err lead, for what draws or colours.
	screen, errScreen io.Writer

	// askSecret asks for a line that is typed, without showing it.
	askSecret func(question string) (string, error)
	// size is that of the terminal that the output goes to.
	size func() (width, height int, err error)

	inTerminal  bool // somebody types
	outTerminal bool // somebody reads
	errTerminal bool // somebody sees what is said
}

// Main runs the command line of this process and returns its exit code.
func Main() int {
	quiet.Restore()
	s := &streams{
		in: os.Stdin, screen: os.Stdout, errScreen: os.Stderr, getenv: os.Getenv,
		askSecret:   askSecret,
		size:        func() (int, int, error) { return term.GetSize(int(os.Stdout.Fd())) },
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if !s.outTerminal {
		s.screen = &output{Writer: os.Stdout}
	}
	s.out, s.err = showTo(s.screen, s.outTerminal), showTo(s.errScreen, s.errTerminal)
	defer s.finish()
	root := newRoot(s)
	root.SetArgs(os.Args[1:])
	ran, err := root.ExecuteContextC(context.Background())
	return s.exitCode(ran, err)
}

// output is stdout where no terminal is. It keeps the first failure to write, which
// not every writer looks for: a reply that is lost must not end in success.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		err = fmt.Errorf("writing to stdout: %w", local.Pathless(err))
		if o.failed == nil {
			o.failed = err
		}
	}
	return n, err
}

// edits reports whether somebody types at a terminal that can show what is edited.
func (s *streams) edits() bool {
	return s.inTerminal && s.outTerminal && s.getenv("TERM") != "dumb"
}

// colour reports whether the output may be coloured: see https://no-color.org and
// https://bixense.com/clicolors.
func (s *streams) colour() bool {
	force := s.getenv("CLICOLOR_FORCE")
	switch {
	case s.getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return s.outTerminal && s.getenv("CLICOLOR") != "0" && s.getenv("TERM") != "dumb"
}

// painted is text in the colour of that name, where the output may be coloured.
func (s *streams) painted(color, text string) string {
	i := slices.Index(profile.Colors, color)
	if i < 0 || !s.colour() {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", 31+i, text)
}
