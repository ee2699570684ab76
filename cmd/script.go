package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
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
	exact     bool // the replies tell all that has taken effect

	db     int // the database that the script began in
	failed bool
	next   int // the line that has not been sent yet
	multi  int // the line of the MULTI that is open, 0 for none
}

func newScript(in io.Reader) *script {
	return &script{lines: lineReader{in: bufio.NewReaderSize(in, scriptBuffer)}, next: 1}
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
	lines  []scriptLine
	behind int         // the number of the line behind them
	wrong  *scriptLine // the line behind them, which is no command
	why    error       // why it is none
	err    error       // io.EOF at the end of the script
}

func (s *script) run(ctx context.Context) error {
	chunks := s.chunks(ctx)
	for {
		c, err := s.await(ctx, chunks)
		if err != nil {
			return s.at(false, s.next).brokeOff(err)
		}
		goOn, err := s.runLines(ctx, c.lines)
		if err != nil {
			return err
		}
		s.next = c.behind
		if goOn && c.wrong != nil {
			s.tellWrong(c)
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

// at is the place that the script has come to.
func (s *script) at(unknown bool, to int) place {
	return place{from: s.next, to: to, unknown: unknown, multi: s.multi, again: againIn("meowdis exec", s.session, s.db)}
}

// tellWrong tells of the line of c that is no command.
func (s *script) tellWrong(c chunk) {
	fmt.Fprintf(s.err, "meowdis: line %d: %v: %s\n", c.wrong.number, c.why, clipped(string(c.wrong.text)))
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

// chunks reads the script in the background, so that a signal is heard while
// nothing comes, until its end or a chunk that has an error.
func (s *script) chunks(ctx context.Context) <-chan chunk {
	chunks := make(chan chunk)
	go func() {
		for {
			c := s.read()
			select {
			case chunks <- c:
			case <-ctx.Done():
				return
			}
			if c.err != nil {
				return
			}
		}
	}()
	return chunks
}

// await is the next chunk, or the cause of the end of ctx.
func (s *script) await(ctx context.Context, chunks <-chan chunk) (c chunk, err error) {
	select {
	case c = <-chunks:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return c, err
}

// read waits for one line and takes those that came with it.
func (s *script) read() (c chunk) {
	defer func() { c.behind = s.lines.number + 1 }()
	size := 0
	for len(c.lines) < maxChunk && size < maxText && (len(c.lines) == 0 || s.lineWaits()) {
		args, err := s.lines.command()
		line := scriptLine{number: s.lines.number, text: s.lines.text, args: args}
		switch {
		case isNoCommand(err):
			c.wrong, c.why = &line, err
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

// lineWaits reports whether a whole line can be read without waiting.
func (s *script) lineWaits() bool {
	waiting, _ := s.lines.in.Peek(s.lines.in.Buffered())
	return bytes.IndexByte(waiting, '\n') >= 0
}

// movesAway reports whether the commands behind args depend on it as a whole: when
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
	sending := ctx
	if s.exact && s.keepGoing {
		sending = context.WithoutCancel(ctx)
	}
	replies, err := run(sending, calls)
	goOn = true
	out := bufio.NewWriterSize(s.out, scriptBuffer)
	for i, v := range replies {
		if err := s.printer.write(out, calls[i], v); err != nil {
			return false, err
		}
		s.next = lines[i].number + 1
		s.multi = openMulti(s.multi, calls[i], v, lines[i].number)
		if !v.HasError() {
			continue
		}
		if err := out.Flush(); err != nil {
			return false, err
		}
		s.failed = true
		fmt.Fprintf(s.err, "meowdis: line %d failed: %s\n", lines[i].number, clipped(string(lines[i].text)))
		suggest(s.err, calls[i], v)
		goOn = goOn && s.keepGoing && !movesAway(calls[i])
	}
	if err := out.Flush(); err != nil {
		return false, err
	}
	if err != nil {
		s.next = lines[min(len(replies), len(lines)-1)].number
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		err = s.at(!s.exact, lines[len(lines)-1].number).brokeOff(err)
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
