package script

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/resp"
)

// readerBuffer is how much is read at a time.
const readerBuffer = 256 << 10

// Reader reads commands: from the Redis protocol when the input begins with *, as its
// arrays do and no command does, and from lines otherwise.
type Reader struct {
	in       *bufio.Reader
	lines    lineReader
	protocol *resp.Reader // nil for lines
	begun    bool
	number   int // of the last line, or command of the protocol
}

// NewReader makes a Reader of in.
func NewReader(in io.Reader) *Reader {
	b := bufio.NewReaderSize(in, readerBuffer)
	return &Reader{in: b, lines: lineReader{in: b}}
}

// Command is a command of a script.
type Command struct {
	Args [][]byte
	// Number is that of its line. In the protocol, which has no lines, it counts the
	// commands; both begin with 1.
	Number int
	text   []byte // the line without the space around it; nil in the protocol
}

// String is the command as it is typed, of a long one the beginning.
func (c Command) String() string {
	if c.text != nil {
		return display.Clipped(string(c.text))
	}
	return display.Clipped(Line(c.Args))
}

func (c Command) size() (n int) {
	for _, arg := range c.Args {
		n += len(arg)
	}
	return n
}

// Wrong is the error of input that is no command.
type Wrong struct {
	Where string // "line 3"
	Text  string // of the line; "" in the protocol
	Err   error
	Line  bool // what follows the line can be read
}

func (w *Wrong) Error() string {
	if w.Text == "" {
		return fmt.Sprintf("%s: %v", w.Where, w.Err)
	}
	return fmt.Sprintf("%s: %v: %s", w.Where, w.Err, w.Text)
}

func (w *Wrong) Unwrap() error { return w.Err }

// Read reads the next command; blank lines and comments, which begin with #, are passed
// over. The error is io.EOF at the end, which may come without a newline, a *Wrong, or
// what reading gave.
func (r *Reader) Read() (Command, error) {
	for {
		if c, err := r.next(); err != nil || len(c.Args) > 0 {
			return c, err
		}
	}
}

// next is Read, and has no args where there is nothing to run.
func (r *Reader) next() (Command, error) {
	if !r.begun {
		r.begun = true
		if first, err := r.in.Peek(1); err == nil && first[0] == '*' {
			r.protocol = resp.NewReader(r.in) // which shares the buffer
		}
	}
	if r.protocol != nil {
		return r.nextInProtocol()
	}
	args, err := r.lines.command()
	r.number = r.lines.number
	if aboutLine(err) {
		err = &Wrong{Where: r.where(r.number), Text: display.Clipped(string(r.lines.text)), Err: err, Line: true}
	}
	return Command{Args: args, Number: r.number, text: r.lines.text}, err
}

func (r *Reader) nextInProtocol() (Command, error) {
	args, err := r.protocol.ReadCommand()
	var malformed resp.ProtocolError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &malformed):
		err = &Wrong{Where: r.where(r.number + 1), Err: err}
	case err == nil:
		r.number++
	}
	return Command{Args: args, Number: r.number}, err
}

// Where names the place of a command that was read, as messages do: "line 3".
func (r *Reader) Where(c Command) string { return r.where(c.Number) }

func (r *Reader) where(number int) string { return fmt.Sprintf("%s %d", r.unit(), number) }

// unit is what the commands are counted by.
func (r *Reader) unit() string {
	if r.protocol != nil {
		return "command"
	}
	return "line"
}

// waits reports whether a command can be read without waiting for more input. Of the
// protocol it is enough that one has begun, since clients send commands whole.
func (r *Reader) waits() bool {
	n := r.in.Buffered()
	if r.protocol != nil {
		return n > 0
	}
	buffered, err := r.in.Peek(n)
	return err == nil && bytes.IndexByte(buffered, '\n') >= 0
}

// Line is a command as it is typed, with quotes where they are needed.
func Line(args [][]byte) string {
	var line []byte
	for i, arg := range args {
		if i > 0 {
			line = append(line, ' ')
		}
		quoted := resp.AppendQuoted(nil, arg, true)
		if bare := quoted[1 : len(quoted)-1]; len(bare) > 0 && string(bare) == string(arg) && !bytes.ContainsAny(arg, " '") {
			quoted = bare
		}
		line = append(line, quoted...)
	}
	return string(line)
}
