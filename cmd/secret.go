package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/meowdis/meowdis/local"
)

// secretOptions are the flags of a secret: itself, which others can see in a list of
// processes, and a file that has it.
type secretOptions struct {
	name        string
	value, file string
}

func (o *secretOptions) addFlags(f *pflag.FlagSet, name, usage string) {
	o.name = name
	f.StringVar(&o.value, name, "", usage)
	f.StringVar(&o.file, name+"-file", "", "`FILE` whose first line is that of --"+name)
}

// read is the secret that the flags give, or else the other one.
func (o *secretOptions) read(other string) (string, error) {
	switch {
	case o.value != "" && o.file != "":
		return "", usagef("give --%s or --%[1]s-file, not both", o.name)
	case o.file == "":
		return firstOf(o.value, other), nil
	}
	text, err := os.ReadFile(o.file)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", o.file, local.Pathless(err))
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("reading %s: its first line is empty", o.file)
	}
	return line, nil
}

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
