package cmdfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// BufferSize is the size of a Reader's buffer in bytes.
const BufferSize = 256 << 10

// Reader reads commands: in the Redis protocol if the input begins with *, as its arrays do and
// no command does, otherwise as lines.
type Reader struct {
	in       *bufio.Reader
	lines    lineReader
	protocol *resp.Reader // nil for lines
	begun    bool
	number   int // number of the last line, or of the last command in the protocol
}

// NewReader returns a Reader of in.
func NewReader(in io.Reader) *Reader {
	b := bufio.NewReaderSize(in, BufferSize)
	return &Reader{in: b, lines: lineReader{in: b}}
}

// Command is a command of a script.
type Command struct {
	Args [][]byte
	// Number is the line number. In the protocol it is the number of the command. Both begin
	// with 1.
	Number int
	text   []byte // the line without surrounding space; nil in the protocol
}

// String returns the command as typed, truncated if long.
func (c Command) String() string {
	if c.text != nil {
		return display.Clipped(string(c.text))
	}
	return display.Clipped(Line(c.Args))
}

// Size returns the bytes of the arguments.
func (c Command) Size() (n int) {
	for _, arg := range c.Args {
		n += len(arg)
	}
	return n
}

// SyntaxError reports input that is not a valid command.
type SyntaxError struct {
	Where string // "line 3"
	Text  string // text of the line; "" in the protocol
	Err   error
	Line  bool // the lines after it can be read
}

func (w *SyntaxError) Error() string {
	if w.Text == "" {
		return fmt.Sprintf("%s: %v", w.Where, w.Err)
	}
	return fmt.Sprintf("%s: %v: %s", w.Where, w.Err, w.Text)
}

func (w *SyntaxError) Unwrap() error { return w.Err }

// Read reads the next command and skips blank lines and comments, which begin with #. The error
// is io.EOF at the end, with or without a final newline, a *SyntaxError, or the error of the input.
func (r *Reader) Read() (Command, error) {
	for {
		if c, err := r.Next(); err != nil || len(c.Args) > 0 {
			return c, err
		}
	}
}

// Next reads the next command like Read, but returns a Command without Args for a blank line or a comment.
func (r *Reader) Next() (Command, error) {
	if !r.begun {
		r.begun = true
		if first, err := r.in.Peek(1); err == nil && first[0] == '*' {
			r.protocol = resp.NewReader(r.in) // shares the buffer
		}
	}
	if r.protocol != nil {
		return r.nextInProtocol()
	}
	args, err := r.lines.command()
	r.number = r.lines.number
	if isLineError(err) {
		err = &SyntaxError{Where: r.where(r.number), Text: display.Clipped(string(r.lines.text)), Err: err, Line: true}
	}
	return Command{Args: args, Number: r.number, text: r.lines.text}, err
}

func (r *Reader) nextInProtocol() (Command, error) {
	args, err := r.protocol.ReadCommand()
	var malformed resp.ProtocolError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &malformed):
		err = &SyntaxError{Where: r.where(r.number + 1), Err: err}
	case err == nil:
		r.number++
	}
	return Command{Args: args, Number: r.number}, err
}

// Where formats the position of a command for messages: "line 3".
func (r *Reader) Where(c Command) string { return r.where(c.Number) }

func (r *Reader) where(number int) string { return fmt.Sprintf("%s %d", r.Unit(), number) }

// Unit returns the word that Number counts: "line", or "command" in the protocol.
func (r *Reader) Unit() string {
	if r.protocol != nil {
		return "command"
	}
	return "line"
}

// Number returns the number of the last line or command that was read, 0 before the first.
func (r *Reader) Number() int { return r.number }

// Ready reports whether a command can be read without waiting for more input. In the protocol
// one byte suffices, since clients send whole commands.
func (r *Reader) Ready() bool {
	n := r.in.Buffered()
	if r.protocol != nil {
		return n > 0
	}
	buffered, err := r.in.Peek(n)
	return err == nil && bytes.IndexByte(buffered, '\n') >= 0
}

// Line returns the command as a user types it, quoted where necessary.
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
