package cmd

import (
	"bytes"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"
)

// askSecret asks on the terminal for a line that it does not show. The terminal
// shows nothing from before the question on, so that a fast answer is as safe, and
// is as it was behind it, also behind Ctrl-C, which is a stoppedBy.
func askSecret(question string) (string, error) {
	fd := int(os.Stdin.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer term.Restore(fd, before)
	t := term.NewTerminal(secretTerminal{}, "")
	if width, height, err := term.GetSize(fd); err == nil {
		t.SetSize(width, height)
	}
	return t.ReadPassword(question)
}

// secretTerminal is the terminal where a secret is typed: stdin, and stderr for the
// question.
type secretTerminal struct{}

const ctrlC = 3

// Read takes no more than a byte: what is behind the line is another reader's.
func (secretTerminal) Read(p []byte) (int, error) {
	n, err := os.Stdin.Read(p[:min(len(p), 1)])
	if bytes.IndexByte(p[:n], ctrlC) >= 0 {
		io.WriteString(os.Stderr, "\r\n")
		return 0, stoppedBy(syscall.SIGINT)
	}
	return n, err
}

func (secretTerminal) Write(p []byte) (int, error) { return os.Stderr.Write(p) }
