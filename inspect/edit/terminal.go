package edit

import (
	"io"
	"os/exec"
	"sync/atomic"
)

// terminalCmd runs a command that takes over the terminal. While it runs, signals sent by
// keys of the terminal, such as Ctrl-C, are meant for it.
type terminalCmd struct {
	*exec.Cmd
	inUse *atomic.Bool
}

func (b terminalCmd) Run() error {
	b.inUse.Store(true)
	defer b.inUse.Store(false)
	return b.Cmd.Run()
}

func (b terminalCmd) SetStdin(r io.Reader) {
	if b.Stdin == nil {
		b.Stdin = r
	}
}

func (b terminalCmd) SetStdout(w io.Writer) {
	if b.Stdout == nil {
		b.Stdout = w
	}
}

func (b terminalCmd) SetStderr(w io.Writer) { b.Stderr = w }
