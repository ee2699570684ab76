package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/resp"
)

// Session does commands.
type Session interface {
	Do(ctx context.Context, args ...[]byte) (resp.Value, error)
	DB() int       // the selected database
	InMulti() bool // commands are being queued
}

// Options is what a loop works with.
type Options struct {
	Session Session
	Target  string // where commands go, as the prompt shows it
	// Format appends the reply to args, with the end of its line.
	Format func(out []byte, args [][]byte, v resp.Value) []byte
	// Confirm returns the question that a command raises on a terminal, and what
	// tells whether an answer lets it run; no question for most.
	Confirm func(args [][]byte) (question string, accepts func(answer string) bool)
	// Page shows a reply that is too long for the screen, and returns false when
	// it is yet to be shown; nil shows every reply at once.
	Page     func(reply []byte) bool
	In       io.Reader
	Out, Err io.Writer
	// Terminal edits lines on the process's terminal; otherwise lines are
	// read from In, without a prompt.
	Terminal bool
	History  string // file of the lines typed; empty for none
	Colour   bool
}

type loop struct {
	Options
	failed bool
	ask    func(question string) (answer string, err error) // nil without a terminal
}

// Run reads and runs lines until the end of the input or "quit". failed tells
// whether a line that did not come from a terminal failed.
func Run(ctx context.Context, o Options) (failed bool, err error) {
	l := &loop{Options: o}
	if !o.Terminal {
		return l.piped(ctx)
	}
	e, err := newEditor(ctx, o)
	if err != nil {
		return false, err
	}
	defer e.Close()
	l.ask = e.read
	for {
		line, err := e.read(l.prompt())
		switch {
		case errors.Is(err, errInterrupted):
			continue
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		}
		e.remember(line)
		if !l.line(ctx, line) {
			return false, nil
		}
	}
}

func (l *loop) piped(ctx context.Context) (failed bool, err error) {
	in := bufio.NewReader(l.In)
	for {
		line, err := in.ReadString('\n')
		if line == "" && errors.Is(err, io.EOF) {
			return l.failed, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return true, fmt.Errorf("reading commands: %w", err)
		}
		if !l.line(ctx, line) {
			return l.failed, nil
		}
	}
}

func (l *loop) prompt() string {
	p := l.Target
	if db := l.Session.DB(); db != 0 {
		p += "[" + strconv.Itoa(db) + "]"
	}
	if l.Session.InMulti() {
		p += l.coloured("33", "(TX)")
	}
	return p + "> "
}

func (l *loop) coloured(code, s string) string {
	if !l.Colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// line runs one line. It returns false when the line ends the loop.
func (l *loop) line(ctx context.Context, line string) bool {
	words, err := resp.SplitLine(line)
	if err != nil {
		l.complain("Invalid argument(s): " + err.Error())
		return true
	}
	if len(words) == 0 {
		return true
	}
	times := 1
	if n, err := strconv.Atoi(string(words[0])); err == nil && n > 0 && len(words) > 1 {
		times, words = n, words[1:]
	}
	switch strings.ToLower(string(words[0])) {
	case "quit", "exit":
		return false
	case "clear":
		io.WriteString(l.Out, "\x1b[H\x1b[2J")
		return true
	case "help", "?":
		io.WriteString(l.Out, help(words[1:]))
		return true
	}
	if !l.confirmed(words) {
		l.complain("not run")
		return true
	}
	for range times {
		if !l.command(ctx, words) {
			break
		}
	}
	return true
}

// confirmed asks about a command where that is wanted.
func (l *loop) confirmed(args [][]byte) bool {
	if l.ask == nil || l.Confirm == nil {
		return true
	}
	question, accepts := l.Confirm(args)
	if question == "" {
		return true
	}
	answer, err := l.ask(question)
	return err == nil && accepts(answer)
}

// Replies that took this long say so.
const slow = 500 * time.Millisecond

// command runs one command, which Ctrl-C interrupts. It returns false when
// repeating it makes no sense.
func (l *loop) command(ctx context.Context, args [][]byte) bool {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	began := time.Now()
	v, err := l.Session.Do(ctx, args...)
	took := time.Since(began)
	if ctx.Err() != nil {
		l.complain("interrupted: whether the command took effect is not known")
		return false
	}
	if err != nil {
		l.complain("Error: " + err.Error())
		return false
	}
	l.failed = l.failed || v.HasError()
	out := l.Format(nil, args, v)
	if l.Terminal && took >= slow {
		out = fmt.Appendf(out, "(%.2fs)\n", took.Seconds())
	}
	if l.Page == nil || !l.Page(out) {
		l.Out.Write(out)
	}
	return true
}

func (l *loop) complain(text string) {
	l.failed = true
	fmt.Fprintln(l.Err, text)
}
