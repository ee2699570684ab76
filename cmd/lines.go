package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/meowdis/meowdis/resp"
)

// lineReader reads the lines of a script, each a command in redis-cli's quoting.
// The words of many lines share their memory.
type lineReader struct {
	in     *bufio.Reader
	number int    // of the last line read
	text   []byte // of it, without the space around it

	bytes []byte   // room for the text of lines
	words [][]byte // room for words, all of it behind its end
}

const (
	lineSlab = 64 << 10
	wordSlab = 1024
)

// command reads a line. It has no words when it is blank or a comment, which
// begins with #. The error is io.EOF at the end, resp.ErrUnbalanced for a line that
// is no command, or what reading gave.
func (r *lineReader) command() ([][]byte, error) {
	line, err := r.line()
	if err != nil {
		return nil, err
	}
	r.number++
	r.text = bytes.TrimSpace(line)
	switch {
	case len(r.text) == 0 || r.text[0] == '#':
		return nil, nil
	case bytes.ContainsAny(line, "\"'\x00\v\f"):
		return resp.SplitLine(string(line))
	}
	return r.split(line), nil
}

// line reads up to the next newline, or the end of the input.
func (r *lineReader) line() ([]byte, error) {
	part, err := r.in.ReadSlice('\n')
	if err == nil || errors.Is(err, io.EOF) && len(part) > 0 {
		return r.keep(part), nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	long := bytes.Clone(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = r.in.ReadSlice('\n')
		long = append(long, part...)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return long, nil
}

// keep copies a line out of the reader's buffer.
func (r *lineReader) keep(line []byte) []byte {
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

// split splits a line that quotes nothing.
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
	if n := len(words); n <= cap(r.words) { // else append has found room elsewhere
		r.words = r.words[n:n]
	}
	return words[:len(words):len(words)]
}
