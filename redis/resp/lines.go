package resp

import (
	"bufio"
	"errors"
	"io"

	"github.com/meowdis/meowdis/internal/readfull"
)

var (
	// ErrNUL reports a line with a NUL byte. SplitLine reads only the part before it.
	ErrNUL = errors.New("a NUL byte")
	// ErrLongLine reports a line over the limit.
	ErrLongLine = errors.New("line too long")
)

// LongLine splits a line like SplitLine. beginning was already read; the rest, up to the
// newline or the end of the input, is read from in. Only the words are kept in memory. The
// error is ErrUnbalanced, ErrNUL or ErrLongLine, after the whole line was read, or an error of
// in.
func LongLine(beginning []byte, in *bufio.Reader, most int) (words [][]byte, err error) {
	l := lineReader{head: beginning, in: in, left: most}
	for l.toWord() {
		words = append(words, l.word())
	}
	wrong := l.wrong
	for !l.end && l.err == nil {
		l.wrong = nil
		l.next()
	}
	switch {
	case l.err != nil:
		return nil, l.err
	case wrong != nil:
		return nil, wrong
	}
	return words, nil
}

// lineReader reads a line until an error.
type lineReader struct {
	head  []byte // bytes of the line before in
	in    *bufio.Reader
	left  int // remaining length limit
	text  readfull.Pieces
	end   bool
	err   error
	wrong error
}

// peek returns the next n bytes, or fewer at the end of the input.
func (l *lineReader) peek(n int) []byte {
	if len(l.head) >= n {
		return l.head[:n]
	}
	more, _ := l.in.Peek(n - len(l.head))
	return append(l.head[:len(l.head):len(l.head)], more...)
}

// next returns the next byte of the line, or 0 and false at its end.
func (l *lineReader) next() (byte, bool) {
	if l.end || l.err != nil || l.wrong != nil {
		return 0, false
	}
	var c byte
	if len(l.head) > 0 {
		c, l.head = l.head[0], l.head[1:]
	} else if c, l.err = l.in.ReadByte(); l.err != nil {
		if l.end = errors.Is(l.err, io.EOF); l.end {
			l.err = nil
		}
		return 0, false
	}
	switch l.left--; {
	case c == '\n':
		l.end = true
		return 0, false
	case c == 0:
		l.wrong = ErrNUL
	case l.left < 0:
		l.wrong = ErrLongLine
	}
	return c, l.wrong == nil
}

// space reports whether white space or the end of the line follows.
func (l *lineReader) space() bool {
	next := l.peek(1)
	return len(next) == 0 || isSpace(next[0])
}

// toWord skips spaces, and reports whether a word follows.
func (l *lineReader) toWord() bool {
	for l.space() {
		if _, ok := l.next(); !ok {
			return false
		}
	}
	return l.wrong == nil && !l.end
}

func (l *lineReader) word() []byte {
	for {
		switch c, ok := l.next(); {
		case !ok || endsWord(c):
			return l.text.Join()
		case c == '"' || c == '\'':
			if l.quoted(c); l.wrong == nil && !l.space() {
				l.wrong = ErrUnbalanced
			}
		default:
			l.text.Byte(c)
		}
	}
}

// quoted reads the rest of a quoted string.
func (l *lineReader) quoted(quote byte) {
	for {
		c, ok := l.next()
		switch {
		case !ok:
			if l.wrong == nil {
				l.wrong = ErrUnbalanced
			}
			return
		case c == quote:
			return
		case c != '\\':
		case quote == '\'':
			if next := l.peek(1); len(next) > 0 && next[0] == '\'' {
				c, _ = l.next()
			}
		default:
			c = l.escaped()
		}
		l.text.Byte(c)
	}
}

// escaped reads an escape after its backslash, and returns its byte.
func (l *lineReader) escaped() byte {
	rest := l.peek(3)
	if len(rest) == 0 || rest[0] == '\n' {
		return '\\'
	}
	c, used := unescape("\\"+string(rest), 0)
	for range used {
		l.next()
	}
	return c
}
