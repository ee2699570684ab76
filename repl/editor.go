package repl

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/chzyer/readline"
)

// errInterrupted says that Ctrl-C cleared the line.
var errInterrupted = readline.ErrInterrupt

// editor reads lines from the terminal.
type editor struct {
	*readline.Instance
	hinter *hinter
}

func newEditor(ctx context.Context, o Options) (*editor, error) {
	if err := prepareHistory(o.History); err != nil {
		return nil, err
	}
	e := &editor{hinter: &hinter{colour: o.Colour, width: readline.GetScreenWidth}}
	rl, err := readline.NewEx(&readline.Config{
		HistoryFile:            o.History,
		HistoryLimit:           historyLines,
		HistorySearchFold:      true,
		DisableAutoSaveHistory: true,
		AutoComplete:           &completer{ctx: ctx, session: o.Session},
		Painter:                e.hinter,
		Stdout:                 o.Out,
		Stderr:                 o.Err,
		EOFPrompt:              "\n", // readline's word for none
	})
	e.Instance = rl
	return e, err
}

// read reads a line. Ctrl-C gives errInterrupted, Ctrl-D on an empty line
// io.EOF.
func (e *editor) read(prompt string) (string, error) {
	e.SetPrompt(prompt)
	e.hinter.prompt = prompt
	return e.Readline()
}

// remember puts a line into the history, unless it holds a secret.
func (e *editor) remember(line string) {
	if line != "" && !holdsSecret(line) {
		e.SaveHistory(line) // a history that cannot be written is no reason to stop
	}
}

const historyLines = 2000

// prepareHistory makes the file of the history, for its owner's eyes only, and
// cuts an old one to historyLines, which readline would do with less care for who
// may read it.
func prepareHistory(path string) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if err != nil || len(lines) > historyLines {
		kept := bytes.Join(lines[max(0, len(lines)-historyLines):], nil)
		if err := os.WriteFile(path, kept, 0o600); err != nil {
			return err
		}
	}
	return os.Chmod(path, 0o600)
}
