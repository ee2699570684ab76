package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/meowdis/meowdis/resp"
)

// script runs the lines of a reader. Lines that have already arrived go to the
// target together; it never waits for more of them, so that a slow writer sees
// each reply at once.
type script struct {
	lines     lineReader
	out, err  io.Writer
	session   session
	printer   printer
	keepGoing bool

	failed bool
}

func newScript(in io.Reader) *script {
	return &script{lines: lineReader{in: bufio.NewReaderSize(in, scriptBuffer)}}
}

const (
	scriptBuffer = 256 << 10
	maxChunk     = 4096    // lines that go together
	maxText      = 1 << 20 // bytes of them
)

// scriptLine is one command of a script.
type scriptLine struct {
	number int
	text   []byte
	args   [][]byte
}

// chunk is a run of lines, and why it ended.
type chunk struct {
	lines []scriptLine
	wrong *scriptLine // the line behind them, which is no command
	err   error       // io.EOF at the end of the script
}

func (s *script) run(ctx context.Context) error {
	for {
		c := s.read()
		goOn, err := s.runLines(ctx, c.lines)
		if err != nil {
			return err
		}
		if goOn && c.wrong != nil {
			fmt.Fprintf(s.err, "meowdis: line %d: %v: %s\n", c.wrong.number, resp.ErrUnbalanced, clipped(string(c.wrong.text)))
			s.failed, goOn = true, s.keepGoing
		}
		switch {
		case !goOn:
			return errAnswered
		case errors.Is(c.err, io.EOF):
			return s.end()
		case c.err != nil:
			return fmt.Errorf("reading the script: %w", c.err)
		}
	}
}

// end is the verdict on a script that ran to its last line.
func (s *script) end() error {
	if s.session.InMulti() {
		fmt.Fprintf(s.err, "meowdis: the script ended inside MULTI: the queued commands did not run\n")
		s.failed = true
	}
	if s.failed {
		return errAnswered
	}
	return nil
}

// read waits for one line and takes those that came with it.
func (s *script) read() (c chunk) {
	size := 0
	for len(c.lines) < maxChunk && size < maxText && (len(c.lines) == 0 || s.lineWaits()) {
		args, err := s.lines.command()
		line := scriptLine{number: s.lines.number, text: s.lines.text, args: args}
		switch {
		case errors.Is(err, resp.ErrUnbalanced):
			c.wrong = &line
			return c
		case err != nil:
			c.err = err
			return c
		}
		size += len(line.text)
		if len(args) > 0 {
			c.lines = append(c.lines, line)
			if s.keepGoing && movesAway(args) {
				return c
			}
		}
	}
	return c
}

// lineWaits tells whether a whole line can be read without waiting.
func (s *script) lineWaits() bool {
	waiting, _ := s.lines.in.Peek(s.lines.in.Buffered())
	return bytes.IndexByte(waiting, '\n') >= 0
}

// movesAway tells whether the commands behind args depend on it as a whole: when
// it fails, they would run in another place than the one they were meant for.
func movesAway(args [][]byte) bool {
	for _, name := range []string{"SELECT", "AUTH", "HELLO"} {
		if len(args[0]) == len(name) && strings.EqualFold(string(args[0]), name) {
			return true
		}
	}
	return false
}

// runLines runs lines and prints their replies. goOn is false behind an error that
// stops the script.
func (s *script) runLines(ctx context.Context, lines []scriptLine) (goOn bool, err error) {
	if len(lines) == 0 {
		return true, nil
	}
	calls := make([][][]byte, len(lines))
	for i := range lines {
		calls[i] = lines[i].args
	}
	run := s.session.PipelineUntilError
	if s.keepGoing {
		run = s.session.Pipeline
	}
	replies, err := run(ctx, calls)
	goOn = true
	var out []byte
	for i, v := range replies {
		out = s.printer.append(out, calls[i], v)
		if !v.HasError() {
			continue
		}
		if _, err := s.out.Write(out); err != nil {
			return false, err
		}
		out = out[:0]
		s.failed = true
		fmt.Fprintf(s.err, "meowdis: line %d failed: %s\n", lines[i].number, clipped(string(lines[i].text)))
		suggest(s.err, calls[i], v)
		goOn = goOn && s.keepGoing && !movesAway(calls[i])
	}
	if _, err := s.out.Write(out); err != nil {
		return false, err
	}
	if err != nil {
		err = fmt.Errorf("line %d: %w", lines[min(len(replies), len(lines)-1)].number, err)
	}
	return goOn, err
}

// clipped is the beginning of a long line.
func clipped(text string) string {
	const most = 80
	text = strings.ToValidUTF8(text, "?")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
