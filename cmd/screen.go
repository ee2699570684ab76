package cmd

import (
	"io"
	"unicode/utf8"

	"github.com/meowdis/meowdis/resp"
)

// plainText is a terminal as all that is said reaches it: with nothing that acts
// on it, whoever the words are from. What draws, and so writes escapes of its own,
// has the terminal itself, streams.screen, and answers for what it shows there.
type plainText struct {
	io.Writer
	rest []byte // a letter whose end has not come yet
}

func (w *plainText) Write(p []byte) (int, error) {
	text := append(w.rest, p...)
	whole := len(text) - unfinished(text)
	w.rest = append([]byte(nil), text[whole:]...)
	if _, err := w.Writer.Write(resp.AppendVisible(nil, text[:whole])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what is left.
func (w *plainText) Close() error {
	_, err := w.Writer.Write(resp.AppendVisible(nil, w.rest))
	w.rest = nil
	return err
}

// unfinished is how many bytes at the end of text are the beginning of a letter, or
// of an end of a line.
func unfinished(text []byte) int {
	for n := 1; n <= min(len(text), utf8.UTFMax-1); n++ {
		if c := text[len(text)-n]; c == '\r' && n == 1 {
			return 1
		} else if utf8.RuneStart(c) {
			if c < utf8.RuneSelf || utf8.FullRune(text[len(text)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// showTo is the terminal w as text reaches it, or w itself where there is none.
func showTo(w io.Writer, isTerminal bool) io.Writer {
	if isTerminal {
		return &plainText{Writer: w}
	}
	return w
}

// finish writes what the terminals have not got yet.
func (s *streams) finish() {
	for _, w := range []io.Writer{s.out, s.err} {
		if w, ok := w.(*plainText); ok {
			w.Close() // a terminal that is gone takes nothing
		}
	}
}
