package resp

import (
	"bufio"
	"errors"
	"io"

	"github.com/meowdis/meowdis/internal/readfull"
)

var (
	// ErrNUL is the error of a line with a NUL byte, of which SplitLine reads the beginning.
	ErrNUL = errors.New("a NUL byte")
	// ErrLongLine is the error of a line that is longer than it may be.
	ErrLongLine = errors.New("too long a line")
)

// LongLine splits a line as SplitLine does whose beginning has been read; the rest, up to the
// newline, is read from in. The line is nowhere in memory beside its words. The error is
// ErrUnbalanced, ErrNUL or ErrLongLine, after the whole line, or what reading gave; the end of
// the input ends the line.
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

// lineReader reads a line, until something is wrong with it or it cannot be read.
type lineReader struct {
	head  []byte // of the line, before what in has
	in    *bufio.Reader
	left  int // how much longer the line may be
	text  readfull.Pieces
	end   bool
	err   error
	wrong error
}

// peek is the next n bytes, or fewer before the end of the input.
func (l *lineReader) peek(n int) []byte {
	if len(l.head) >= n {
		return l.head[:n]
	}
	more, _ := l.in.Peek(n - len(l.head))
	return append(l.head[:len(l.head):len(l.head)], more...)
}

// next is the next byte of the line, 0 and false where there is none.
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

// space reports whether space follows, or the end of the line.
func (l *lineReader) space() bool {
	next := l.peek(1)
	return len(next) == 0 || isSpace(next[0])
}

// toWord passes over space, and reports whether a word follows.
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

// quoted gathers what is left of a string in quotes.
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

// escaped is the byte that an escape means, whose backslash was read.
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
