package cmdfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/meowdis/meowdis/redis/resp"
)

// lineReader reads lines of commands in redis-cli's quoting. The arguments of many lines share
// memory.
type lineReader struct {
	in     *bufio.Reader
	number int    // number of the last line
	text   []byte // its text without surrounding space

	bytes []byte   // free memory for the text of lines
	words [][]byte // free memory for arguments, in its capacity
}

const (
	lineSlab = 64 << 10
	wordSlab = 1024
)

// maxLine limits the length of a line in bytes: a value has at most 512 MB.
const maxLine = 512<<20 + 64<<10

// Errors of a line, besides resp.ErrUnbalanced.
var (
	errNUL      = errors.New(`a NUL byte, which is written "\x00" in double quotes`)
	errLongLine = errors.New("longer than 512 MB: meowdis exec -x takes a value as it is")
)

// isLineError reports whether err concerns one line, so that later lines can be read.
func isLineError(err error) bool {
	return errors.Is(err, resp.ErrUnbalanced) || errors.Is(err, errNUL) || errors.Is(err, errLongLine)
}

// byteOrderMark begins the text files of some editors.
const byteOrderMark = "\ufeff"

// command reads a line. It returns no arguments for a blank line or a comment, which begins
// with #. The error is io.EOF at the end, an error of the line (see aboutLine), or the error of
// the input.
func (r *lineReader) command() ([][]byte, error) {
	line, err := r.in.ReadSlice('\n')
	long := errors.Is(err, bufio.ErrBufferFull)
	if err != nil && !long && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, err
	}
	line = r.copyLine(line)
	if r.number++; r.number == 1 {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	r.text = bytes.TrimSpace(line)
	switch {
	case long:
		return r.long(line)
	case len(r.text) == 0 || r.text[0] == '#':
		return nil, nil
	case bytes.IndexByte(line, 0) >= 0:
		return nil, errNUL
	case bytes.ContainsAny(line, "\"'\v\f"):
		return resp.SplitLine(string(line))
	}
	return r.split(line), nil
}

// long reads the rest of a line that exceeds the buffer. r.text is its beginning.
func (r *lineReader) long(beginning []byte) ([][]byte, error) {
	if len(r.text) > 0 && r.text[0] == '#' {
		return nil, r.skip()
	}
	words, err := resp.LongLine(beginning, r.in, maxLine)
	switch {
	case errors.Is(err, resp.ErrNUL):
		err = errNUL
	case errors.Is(err, resp.ErrLongLine):
		err = errLongLine
	}
	return words, err
}

// skip reads to the end of the line or the input.
func (r *lineReader) skip() error {
	for {
		switch _, err := r.in.ReadSlice('\n'); {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// copyLine copies a line out of the reader's buffer.
func (r *lineReader) copyLine(line []byte) []byte {
	if len(line) > lineSlab/8 {
		return bytes.Clone(line)
	}
	if len(r.bytes) < len(line) {
		r.bytes = make([]byte, lineSlab)
	}
	n := copy(r.bytes, line)
	line, r.bytes = r.bytes[:n:n], r.bytes[n:]
	return line
}

// split splits a line without quotes.
func (r *lineReader) split(line []byte) [][]byte {
	const few = 16
	if cap(r.words) < few {
		r.words = make([][]byte, 0, wordSlab)
	}
	words := r.words[:0]
	for len(line) > 0 {
		n := bytes.IndexAny(line, " \t\r\n")
		if n < 0 {
			n = len(line)
		}
		if n > 0 {
			words = append(words, line[:n:n])
		}
		line = line[min(n+1, len(line)):]
	}
	if n := len(words); n <= cap(r.words) { // otherwise append has reallocated
		r.words = r.words[n:n]
	}
	return words[:len(words):len(words)]
}
