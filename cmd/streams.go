package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/cmd/internal/progress"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/redis/resp"
)

// streams are stdin, stdout, stderr, the environment and the terminal, as a verb uses them.
type streams struct {
	in     io.Reader
	out    io.Writer // text: on a terminal nothing written here acts on it
	err    io.Writer
	getenv func(string) string

	// screen and errScreen are where out and err lead, for what draws or colours.
	screen, errScreen io.Writer

	// askSecret asks for a line that is typed, without showing it.
	askSecret func(question string) (string, error)
	// size is that of the terminal that the output goes to.
	size func() (width, height int, err error)

	inTerminal  bool // stdin is a terminal
	outTerminal bool // stdout is one
	errTerminal bool // stderr is one
}

// output is stdout where no terminal is. It keeps the first failure to write, which
// not every writer looks for: a reply that is lost must not end in success.
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

// edits reports whether stdin is a terminal that can show what is edited.
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

// painted is text in the colour of that name, where the output may be coloured.
func (s *streams) painted(color, text string) string {
	i := slices.Index(profile.Colors, color)
	if i < 0 || !s.colour() {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", 31+i, text)
}

// newProgress is a bar on stderr, nil when that is no terminal.
func newProgress(s *streams, what, unit string, total int64) *progress.Bar {
	if !s.errTerminal {
		return nil
	}
	return progress.New(s.errScreen, s.size, what, unit, total)
}

// plainText writes text to a terminal without the escapes that would act on it,
// wherever the text is from. What draws, and so writes escapes of its own,
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

// room is the number of columns and lines of the terminal; 80 columns and no end
// of lines elsewhere, unless the environment says otherwise.
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

// input is stdin, whose reads end with the context: its writer may be slow.
func (s *streams) input(ctx context.Context) io.Reader {
	return &endingReader{ctx: ctx, in: s.in}
}

type endingReader struct {
	ctx context.Context
	in  io.Reader
}

func (r *endingReader) Read(p []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text := make([]byte, len(p)) // p is the caller's again when ctx ends first
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

// printJSON writes v for people and programs.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
