package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/resp"
)

// pipe loads many commands: the Redis protocol, or a command a line. They are read
// ahead while the target works, go to it many at a time, and are independent; what
// is printed is how many were answered, and with how many errors.
type pipe struct {
	in       *bufio.Reader
	out, err io.Writer
	session  session
	atOnce   int // commands that go together

	replies, errors int
}

const (
	// What goes to a file together is one transaction: large ones write each page
	// once instead of over and over. A server sooner has something to do.
	atOnceToFile   = 50_000
	atOnceToServer = 2_000
	atOnceBytes    = 16 << 20
	pipeBuffer     = 256 << 10

	shownErrors = 10
)

// load is a run of commands, and why it ended.
type load struct {
	calls [][][]byte
	err   error // io.EOF at the end of the input
}

func (p *pipe) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	loads := make(chan load, 1)
	go p.read(ctx, loads)
	broken := false
	for l := range loads {
		if moved, err := p.send(ctx, l.calls); err != nil || moved {
			return errors.Join(err, p.summary(true))
		}
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			fmt.Fprintf(p.err, "meowdis: behind command %d: %v\n", p.replies, l.err)
			broken = true
		}
	}
	if p.session.InMulti() {
		fmt.Fprintf(p.err, "meowdis: the input ended inside MULTI: the queued commands did not run\n")
		broken = true
	}
	return p.summary(broken)
}

// send runs calls and counts. moved says that the last was to change where the
// rest goes, and failed.
func (p *pipe) send(ctx context.Context, calls [][][]byte) (moved bool, err error) {
	if len(calls) == 0 {
		return false, nil
	}
	replies, err := p.session.Pipeline(ctx, calls)
	for i := range replies {
		p.replies++
		if !replies[i].HasError() {
			continue
		}
		if p.errors++; p.errors <= shownErrors {
			fmt.Fprintf(p.err, "meowdis: command %d failed: %s: %s\n", p.replies, clipped(commandLine(calls[i])), firstError(replies[i]))
		} else if p.errors == shownErrors+1 {
			fmt.Fprintln(p.err, "meowdis: more errors are counted, and not shown")
		}
		moved = moved || movesAway(calls[i])
	}
	if err != nil {
		err = fmt.Errorf("behind command %d: %w", p.replies, err)
	}
	return moved, err
}

// summary prints what redis-cli --pipe ends with.
func (p *pipe) summary(broken bool) error {
	if _, err := fmt.Fprintf(p.out, "errors: %d, replies: %d\n", p.errors, p.replies); err != nil {
		return err
	}
	if broken || p.errors > 0 {
		return errAnswered
	}
	return nil
}

// firstError is the text of the first error in v.
func firstError(v resp.Value) []byte {
	if v.IsError() {
		return v.Str
	}
	for _, e := range v.Elems {
		if text := firstError(e); text != nil {
			return text
		}
	}
	return nil
}

// commandLine is a command as it is typed.
func commandLine(args [][]byte) string {
	var line []byte
	for i, arg := range args {
		if i > 0 {
			line = append(line, ' ')
		}
		quoted := resp.AppendQuoted(nil, arg, true)
		if bare := quoted[1 : len(quoted)-1]; len(bare) > 0 && string(bare) == string(arg) && !hasSpace(arg) {
			quoted = bare
		}
		line = append(line, quoted...)
	}
	return string(line)
}

func hasSpace(s []byte) bool {
	for _, c := range s {
		if c == ' ' || c == '\'' {
			return true
		}
	}
	return false
}

// read sends what it reads until the end of the input, an error, or the end of ctx.
func (p *pipe) read(ctx context.Context, loads chan<- load) {
	defer close(loads)
	next := p.commands()
	for {
		l := load{calls: make([][][]byte, 0, p.atOnce)}
		for size := 0; len(l.calls) < p.atOnce && size < atOnceBytes; {
			var args [][]byte
			if args, l.err = next(); l.err != nil {
				break
			}
			if len(args) == 0 {
				continue
			}
			l.calls = append(l.calls, args)
			for _, arg := range args {
				size += len(arg)
			}
			if movesAway(args) {
				break
			}
		}
		select {
		case loads <- l:
		case <-ctx.Done():
			return
		}
		if l.err != nil {
			return
		}
	}
}

// commands returns what reads the next command: the protocol's when the input
// begins as an array does, else lines.
func (p *pipe) commands() func() ([][]byte, error) {
	if first, err := p.in.Peek(1); err == nil && first[0] == '*' {
		return resp.NewReader(p.in).ReadCommand
	}
	lines := lineReader{in: p.in}
	return func() ([][]byte, error) {
		args, err := lines.command()
		if errors.Is(err, resp.ErrUnbalanced) {
			err = fmt.Errorf("line %d: %w: %s", lines.number, err, clipped(string(lines.text)))
		}
		return args, err
	}
}
