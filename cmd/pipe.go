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
	bar      *progress
	atOnce   int  // commands that go together
	exact    bool // those take effect as a whole, or not at all
	db       int  // the database that it began in

	replies, errors int
	multi           int // the line of the MULTI that is open, 0 for none
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
	lines []int // the numbers of their lines; none in the protocol
	err   error // io.EOF at the end of the input
}

func (p *pipe) run(ctx context.Context) error {
	loads := make(chan load)
	go p.read(ctx, loads)
	rest := load{lines: []int{1}} // what has not been read yet
	for {
		var l load
		select {
		case l = <-loads:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return errors.Join(p.brokeOff(rest, context.Cause(ctx), true), p.summary())
		}
		moved, err := p.send(ctx, l)
		if err != nil || moved {
			return errors.Join(err, p.summary())
		}
		if n := len(l.calls); n > 0 {
			if rest = (load{}); len(l.lines) > 0 {
				rest.lines = []int{l.lines[n-1] + 1}
			}
		}
		switch {
		case errors.Is(l.err, io.EOF):
			return p.end()
		case l.err != nil:
			p.bar.clear()
			fmt.Fprintf(p.err, "meowdis: behind command %d: %v; what follows was not loaded\n", p.replies, l.err)
			p.errors++
			return p.end()
		}
	}
}

// end is the verdict on input that was read to its end, or as far as it could be.
func (p *pipe) end() error {
	if p.session.InMulti() {
		fmt.Fprintf(p.err, "meowdis: the input ended inside MULTI: the queued commands did not run\n")
		p.errors++
	}
	return p.summary()
}

// send runs a load and counts. moved says that its last command was to change
// where the rest goes, and failed.
func (p *pipe) send(ctx context.Context, l load) (moved bool, err error) {
	if len(l.calls) == 0 {
		return false, nil
	}
	sending := ctx
	if p.exact {
		sending = context.WithoutCancel(ctx) // which is soon done
	}
	replies, err := p.session.Pipeline(sending, l.calls)
	for i := range replies {
		p.replies++
		p.multi = openMulti(p.multi, l.calls[i], replies[i], l.line(i))
		if !replies[i].HasError() {
			continue
		}
		if p.errors++; p.errors <= shownErrors {
			p.bar.clear()
			fmt.Fprintf(p.err, "meowdis: %s failed: %s: %s\n", p.where(l, i), clipped(commandLine(l.calls[i])), firstError(replies[i]))
		} else if p.errors == shownErrors+1 {
			fmt.Fprintln(p.err, "meowdis: more errors are counted, and not shown")
		}
		moved = moved || movesAway(l.calls[i])
	}
	p.bar.add(int64(len(replies)))
	if err != nil {
		err = p.brokeOff(l, err, p.exact)
	}
	return moved, err
}

// line is the number of the line of the i-th call, 0 in the protocol.
func (l load) line(i int) int {
	if i < len(l.lines) {
		return l.lines[i]
	}
	return 0
}

// where names the call that was answered last, the i-th of l.
func (p *pipe) where(l load, i int) string {
	if n := l.line(i); n > 0 {
		return fmt.Sprintf("line %d", n)
	}
	return fmt.Sprintf("command %d", p.replies)
}

// brokeOff is the error of a load that cause kept from being answered; known says
// that nothing of it took effect.
func (p *pipe) brokeOff(l load, cause error, known bool) error {
	if len(l.lines) == 0 {
		where := "those behind it have not run"
		if !known {
			where = fmt.Sprintf("whether the %d behind it took effect is not known", len(l.calls))
		}
		return fmt.Errorf("behind command %d: %w: %s", p.replies, cause, where)
	}
	at := place{from: l.lines[0], to: l.lines[len(l.lines)-1], unknown: !known, multi: p.multi}
	at.again = againIn("meowdis exec --pipe", p.session, p.db)
	return at.brokeOff(cause)
}

// summary prints what redis-cli --pipe ends with.
func (p *pipe) summary() error {
	p.bar.end()
	if _, err := fmt.Fprintf(p.out, "errors: %d, replies: %d\n", p.errors, p.replies); err != nil {
		return err
	}
	if p.errors > 0 {
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
	next, lines := p.commands()
	for {
		l := load{calls: make([][][]byte, 0, p.atOnce)}
		if lines != nil {
			l.lines = make([]int, 0, p.atOnce)
		}
		for size := 0; len(l.calls) < p.atOnce && size < atOnceBytes; {
			var args [][]byte
			if args, l.err = next(); l.err != nil {
				break
			}
			if len(args) == 0 {
				continue
			}
			if l.calls = append(l.calls, args); lines != nil {
				l.lines = append(l.lines, lines.number)
			}
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
func (p *pipe) commands() (next func() ([][]byte, error), lines *lineReader) {
	if first, err := p.in.Peek(1); err == nil && first[0] == '*' {
		return resp.NewReader(p.in).ReadCommand, nil
	}
	lines = &lineReader{in: p.in}
	return func() ([][]byte, error) {
		args, err := lines.command()
		if isNoCommand(err) {
			err = fmt.Errorf("line %d: %w: %s", lines.number, err, clipped(string(lines.text)))
		}
		return args, err
	}, lines
}
