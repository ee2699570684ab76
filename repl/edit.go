package repl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// editCommand runs :edit: it opens the text after it, or the last history entry, in the
// editor, and returns the result as the next line.
func (l *loop) editCommand(c command) (next string, err error) {
	text := quoteCall(c.args()[1:])
	if text == "" && l.editor != nil {
		entries := l.editor.history.entries
		for i := len(entries) - 1; i >= 0 && text == ""; i-- {
			if !strings.HasPrefix(entries[i], ":edit") {
				text = entries[i]
			}
		}
	}
	next, err = l.runEditor(text)
	if err != nil {
		l.printError(err.Error())
	}
	return next, nil
}

// runEditor opens a text in the person's editor, through a temporary file with mode 0600.
func (l *loop) runEditor(text string) (string, error) {
	if l.editor == nil {
		return "", errors.New("editing needs a terminal")
	}
	if l.Editor == "" {
		return "", errors.New("no editor is known: set EDITOR, as in EDITOR=vi")
	}
	f, err := os.CreateTemp("", "meowdis-*.redis")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	run := exec.Command("sh", "-c", l.Editor+` "$1"`, "sh", f.Name())
	run.Stdin, run.Stdout, run.Stderr = l.In, l.Out, l.Err
	if err := run.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", l.Editor, err)
	}
	edited, err := os.ReadFile(f.Name())
	return strings.TrimSpace(string(edited)), err
}
