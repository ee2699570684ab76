package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/cmd/internal/progress"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/redis/resp"
)

// streams holds stdin, stdout, stderr, the environment and the terminal, as a verb uses them.
type streams struct {
	in     io.Reader
	out    io.Writer // text; control characters are escaped on a terminal
	err    io.Writer
	getenv func(string) string

	// screen and errScreen are out and err without escaping, for drawings and colours.
	screen, errScreen io.Writer

	// askSecret asks for a line without echo.
	askSecret func(question string) (string, error)
	// size returns the size of the terminal of stdout or stderr.
	size func() (width, height int, err error)

	waits waits

	inTerminal  bool // stdin is a terminal
	outTerminal bool // stdout is one
	errTerminal bool // stderr is one
}

// waits limits how long a user waits for help at typing.
type waits struct {
	target time.Duration // for a target to answer the shell's completion, or to list its commands
	lookup time.Duration // for a completion at the prompt; 0 for the prompt's own limit
}

// Tests on a slow machine change defaultWaits.
var defaultWaits = waits{target: 2 * time.Second}

// output is stdout without a terminal. It keeps the first write error, because a lost reply must not end in success
// and some writers ignore the error.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		err = fmt.Errorf("writing to stdout: %w", atomicfile.Pathless(err))
		if o.failed == nil {
			o.failed = err
		}
	}
	return n, err
}

// edits reports whether input and output are a terminal that supports line editing.
func (s *streams) edits() bool {
	return s.inTerminal && s.outTerminal && s.getenv("TERM") != "dumb"
}

// colour reports whether the output may be coloured: see https://no-color.org and
// https://bixense.com/clicolors.
func (s *streams) colour() bool {
	force := s.getenv("CLICOLOR_FORCE")
	switch {
	case s.getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return s.outTerminal && s.getenv("CLICOLOR") != "0" && s.getenv("TERM") != "dumb"
}

// painted returns text in the named colour, if the output may be coloured.
func (s *streams) painted(color, text string) string {
	i := slices.Index(profile.Colors, color)
	if i < 0 || !s.colour() {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", 31+i, text)
}

// newProgress returns a progress bar on stderr, or nil if stderr is not a terminal.
func newProgress(s *streams, what, unit string, total int64) *progress.Bar {
	if !s.errTerminal {
		return nil
	}
	return progress.New(s.errScreen, s.size, what, unit, total)
}

// plainText writes text to a terminal with control characters escaped, whatever its source. Code that draws uses
// streams.screen instead, and must escape the text that it shows.
type plainText struct {
	io.Writer
	rest []byte // an incomplete UTF-8 character
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

// Close writes the incomplete character.
func (w *plainText) Close() error {
	_, err := w.Writer.Write(resp.AppendVisible(nil, w.rest))
	w.rest = nil
	return err
}

// unfinished returns the number of bytes at the end of text that begin a UTF-8 character or a CRLF.
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

// escapingFor returns a writer that escapes text for the terminal w, or w itself if it is not a terminal.
func escapingFor(w io.Writer, isTerminal bool) io.Writer {
	if isTerminal {
		return &plainText{Writer: w}
	}
	return w
}

// finish writes the bytes that the terminal writers still hold.
func (s *streams) finish() {
	for _, w := range []io.Writer{s.out, s.err} {
		if w, ok := w.(*plainText); ok {
			w.Close() // the terminal may be closed
		}
	}
}

// room returns the columns and lines of the terminal. Elsewhere it returns $COLUMNS or 80, and 0 lines for no limit.
func (s *streams) room() (columns, lines int) {
	if s.outTerminal {
		if columns, lines, err := s.size(); err == nil && columns > 0 {
			return columns, lines
		}
	}
	if n, err := strconv.Atoi(s.getenv("COLUMNS")); err == nil && n > 0 {
		return n, 0
	}
	return 80, 0
}

// input returns stdin as a reader whose reads end with the context.
func (s *streams) input(ctx context.Context) io.Reader {
	return &contextReader{ctx: ctx, in: s.in}
}

type contextReader struct {
	ctx context.Context
	in  io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text := make([]byte, len(p)) // if ctx ends first, the caller reuses p
		n, err := r.in.Read(text)
		read <- result{text[:n], err}
	}()
	select {
	case got := <-read:
		return copy(p, got.text), got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// printJSON writes v as indented JSON.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
