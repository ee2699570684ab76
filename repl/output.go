package repl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/redis/resp"
)

// output holds the destination and format of a command's replies.
type output struct {
	io.Writer
	format      Format
	page        func([]byte) bool
	errs        io.Writer // receives error replies if the output is redirected; nil for none
	finish      func() error
	writeFailed bool // the last write failed
}

// reply writes the reply to args.
func (o *output) reply(args [][]byte, v resp.Value) error {
	if o.errs != nil && v.IsError() {
		fmt.Fprintf(o.errs, "(error) %s\n", visible(string(v.Str)))
		return nil
	}
	return o.text(string(o.format(nil, args, v)))
}

// text writes a text, through a pager if it is long.
func (o *output) text(text string) error {
	if o.page != nil && o.page([]byte(text)) {
		return nil
	}
	_, err := io.WriteString(o, text)
	o.writeFailed = err != nil
	return err
}

// Close closes the output and waits for its reader.
func (o *output) Close() error {
	if o.finish == nil {
		return nil
	}
	return o.finish()
}

// output opens the output of a command: the terminal, a shell command, or a file.
func (l *loop) output(c command) (*output, error) {
	switch c.op {
	case "|":
		return l.shell(c.target)
	case ">", ">|", ">>":
		return l.file(c.target, c.op)
	}
	out := &output{Writer: l.Out, format: l.Format}
	if l.Paging {
		out.page = l.Page
	}
	return out, nil
}

// shell starts a shell command that reads the output.
func (l *loop) shell(line string) (*output, error) {
	// -R makes less show colours; the user's LESS takes precedence.
	run := exec.Command("sh", "-c", `export LESS="${LESS--R}"`+"\n"+line)
	run.Stdout, run.Stderr = l.Out, l.Err
	in, err := run.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Ctrl-C interrupts the shell command, as in a shell; the prompt waits for it to end.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	if err := run.Start(); err != nil {
		signal.Stop(interrupts)
		return nil, fmt.Errorf("starting the shell: %w", err)
	}
	return &output{Writer: in, format: l.formatFor(line), errs: l.Err, finish: func() error {
		defer signal.Stop(interrupts)
		in.Close()
		err := run.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil // the command prints its own errors
		}
		return err
	}}, nil
}

// formatFor returns the format for a shell command: JSON for JSON tools, the terminal's
// format for pagers, and plain lines for other programs.
func (l *loop) formatFor(line string) Format {
	program, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch filepath.Base(program) {
	case "jq", "jaq", "gojq", "fx", "gron", "jless", "yq":
		return asJSON
	case "less", "more", "most", "bat", "pg":
		return l.Format
	}
	return asLines
}

// file redirects the output to a file, which is created by the first write: a command that
// fails leaves the file unchanged. > creates a new file, >| replaces one, and >> appends.
func (l *loop) file(name, op string) (*output, error) {
	atEnd := op == ">>"
	switch err := atomicfile.Check(name, op != ">"); {
	case errors.Is(err, atomicfile.ErrExists):
		return nil, fmt.Errorf("%s: %w: >| replaces it, >> adds to it", name, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f := &lazyFile{name: name, flags: os.O_CREATE | os.O_WRONLY}
	switch op {
	case ">|":
		f.flags |= os.O_TRUNC
	case ">>":
		f.flags |= os.O_APPEND
	}
	format := asBytes
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".jsonl":
		format = asJSON
	case ".csv":
		format = asCSV
	}
	if atEnd {
		if filepath.Ext(name) == "" || filepath.Ext(name) == ".txt" || filepath.Ext(name) == ".log" {
			format = asLines
		}
	}
	return &output{Writer: f, format: format, errs: l.Err, finish: f.Close}, nil
}

// lazyFile opens its file at the first Write.
type lazyFile struct {
	name  string
	flags int
	file  *os.File
	err   error
}

func (f *lazyFile) Write(b []byte) (int, error) {
	if f.file == nil && f.err == nil {
		f.file, f.err = os.OpenFile(f.name, f.flags, 0o666)
	}
	if f.err != nil {
		return 0, f.err
	}
	return f.file.Write(b)
}

// Close also returns an error of the open.
func (f *lazyFile) Close() error {
	if f.file == nil {
		return f.err
	}
	return f.file.Close()
}

// asJSON formats a reply as JSON; a string that is valid JSON is copied.
func asJSON(out []byte, _ [][]byte, v resp.Value) []byte {
	if v.Kind == resp.Bulk && json.Valid(v.Str) {
		out = append(out, v.Str...)
	} else {
		out = resp.AppendJSON(out, v)
	}
	return append(out, '\n')
}

func asCSV(out []byte, _ [][]byte, v resp.Value) []byte {
	return resp.Printer{Format: resp.CSV}.Append(out, v)
}

// asLines formats a reply as its bytes, with a newline after text.
func asLines(out []byte, args [][]byte, v resp.Value) []byte {
	if v.Kind == resp.Bulk && !utf8.Valid(v.Str) {
		return append(out, v.Str...)
	}
	return resp.Printer{Format: resp.Raw}.Append(out, v)
}

// asBytes formats a reply as its bytes, with one element on each line.
func asBytes(out []byte, args [][]byte, v resp.Value) []byte {
	if v.Kind == resp.Bulk {
		return append(out, v.Str...)
	}
	return resp.Printer{Format: resp.Raw}.Append(out, v)
}
