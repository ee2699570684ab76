package move

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/progress"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// InputFormats are the formats that import reads.
var InputFormats = []string{"rdb", "aof", "commands", "sqlite", "jsonl", "archive"}

// Input is a file that is imported.
type Input struct {
	Format  string        // one of InputFormats
	Text    *bufio.Reader // nil for an append-only directory
	file    *os.File      // what Text reads, nil for stdin
	logs    []string      // the files of an append-only directory
	closers []func() error
}

const importBuffer = 64 << 10

// OpenInput opens the file at path, or stdin for -, and finds out what it is
// unless the format is given.
func OpenInput(path, format string, stdin io.Reader) (*Input, error) {
	if format != "" && !slices.Contains(InputFormats, format) {
		return nil, exit.Usagef("--format %s: give one of %s", format, strings.Join(InputFormats, ", "))
	}
	if path == "-" {
		f := &Input{Format: format, Text: bufio.NewReaderSize(stdin, importBuffer)}
		return f, f.recognise("stdin")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if format != "" && format != "aof" {
			return nil, exit.Usagef("%s is a directory, which only an append-only file can be", path)
		}
		return openLogs(path)
	}
	in, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	f := &Input{Format: format, file: in, Text: bufio.NewReaderSize(in, importBuffer), closers: []func() error{in.Close}}
	if err := f.recognise(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if f.Format == formatManifest {
		return openManifest(path, in)
	}
	return f, nil
}

// Verify reads a dump file to its end and goes back to its beginning. What cannot be read twice,
// such as a pipe, it leaves alone. newBar makes a bar of so many bytes.
func (f *Input) Verify(ctx context.Context, path string, notes io.Writer, newBar func(total int64) *progress.Bar) error {
	info, err := os.Stat(path)
	if f.file == nil || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	bar := newBar(info.Size())
	defer bar.End()
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return Reading(path, err)
	}
	summed, err := rdb.Verify(seen{ctx, f.file, bar})
	switch {
	case exit.WasStopped(ctx, err):
		return exit.Stopped(ctx, "nothing was imported")
	case errors.Is(err, rdb.ErrChecksum):
		return fmt.Errorf("%w; nothing was imported; --salvage imports what can be read, --no-verify what comes before the damage", Reading(path, f.damage(err)))
	case err != nil:
		return Reading(path, err)
	case !summed:
		fmt.Fprintf(bar.Above(notes), "meowdis: %s has no checksum: damage may go unnoticed\n", path)
	}
	_, err = f.file.Seek(0, io.SeekStart)
	f.Text.Reset(f.file)
	return err
}

// damage is the error of a dump file whose checksum is wrong: the first place in it that makes
// no sense, where there is one.
func (f *Input) damage(wrong error) error {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return wrong
	}
	dump := rdb.NewFile(bufio.NewReaderSize(f.file, importBuffer), nil)
	for {
		if _, err := dump.Next(); errors.Is(err, io.EOF) {
			return wrong
		} else if err != nil {
			return err
		}
	}
}

// seen shows on a bar what is read, until ctx ends.
type seen struct {
	ctx context.Context
	in  io.Reader
	bar *progress.Bar
}

func (s seen) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	n, err := s.in.Read(b)
	s.bar.Add(int64(n))
	return n, err
}

// formatManifest is the list of the files of an append-only directory, in place of
// the directory.
const formatManifest = "manifest"

// recognise finds out the format by how the file begins.
func (f *Input) recognise(path string) error {
	beginning, err := f.Text.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		return Reading(path, err)
	}
	if f.Format == "" {
		f.Format = importFormatOf(filepath.Ext(path), beginning)
	}
	switch {
	case len(beginning) == 0:
		return fmt.Errorf("%s is empty", path)
	case f.Format == "":
		return fmt.Errorf("%s is in no format that meowdis recognises: give --format, one of %s", path, strings.Join(InputFormats, ", "))
	case f.Format == "sqlite" && path == "stdin":
		return exit.Usagef("a SQLite file cannot be read from stdin: give its name")
	}
	return nil
}

// importFormatOf is the format of a file whose name has the extension, "" when it
// is none.
func importFormatOf(extension string, beginning []byte) string {
	switch {
	case bytes.HasPrefix(beginning, []byte("SQLite format 3\x00")):
		return "sqlite"
	case rdb.IsFile(beginning) && extension != ".aof":
		return "rdb"
	case rdb.IsFile(beginning), bytes.HasPrefix(beginning, []byte("*")), bytes.HasPrefix(beginning, []byte("#TS:")):
		return "aof"
	case extension == ".manifest":
		return formatManifest
	}
	if known, ok := Recognise(beginning); ok {
		return known.name
	}
	if isScript(beginning) {
		return "commands"
	}
	return ""
}

// isScript reports whether the first line that says something is a command.
func isScript(beginning []byte) bool {
	for line := range bytes.Lines(beginning) {
		words, err := resp.SplitLine(string(line))
		if err != nil {
			return false
		}
		if len(words) > 0 && !bytes.HasPrefix(words[0], []byte("#")) {
			return commands.Lookup(string(words[0])) != nil
		}
	}
	return false
}

// FormatNamed is the format of that name, which is one of fileFormats.
func FormatNamed(name string) (Format, error) {
	for _, f := range formats {
		if f.name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("there is no format %s", name)
}

// openLogs opens an append-only directory.
func openLogs(dir string) (*Input, error) {
	manifests, err := filepath.Glob(filepath.Join(dir, "*.manifest"))
	if err != nil {
		return nil, err
	}
	if len(manifests) != 1 {
		return nil, fmt.Errorf("%s holds %d manifests (*.manifest), and the directory of an append-only file has one", dir, len(manifests))
	}
	in, err := OpenFile(manifests[0])
	if err != nil {
		return nil, err
	}
	return openManifest(manifests[0], in)
}

// openManifest opens the files that a manifest names.
func openManifest(path string, in *os.File) (*Input, error) {
	_, err := in.Seek(0, io.SeekStart)
	var names []string
	if err == nil {
		names, err = transfer.LogFiles(in)
	}
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &Input{Format: "aof", logs: []string{}}
	for _, name := range names {
		f.logs = append(f.logs, filepath.Join(filepath.Dir(path), name))
	}
	return f, nil
}

// Later has close called when the import is over, before what was opened earlier
// is closed.
func (f *Input) Later(close func() error) { f.closers = append(f.closers, close) }

// Close closes all that was opened, the last first.
func (f *Input) Close() error {
	var errs []error
	for i := len(f.closers) - 1; i >= 0; i-- {
		errs = append(errs, f.closers[i]())
	}
	return errors.Join(errs...)
}

// EachLog reads the files of an append-only directory, or the one file.
func (f *Input) EachLog(read func(*bufio.Reader) error) error {
	if f.logs == nil {
		return read(f.Text)
	}
	for _, name := range f.logs {
		if err := eachFile(name, read); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
	}
	return nil
}

func eachFile(name string, read func(*bufio.Reader) error) error {
	in, err := OpenFile(name)
	if err != nil {
		return err
	}
	defer in.Close()
	return read(bufio.NewReaderSize(io.Reader(in), importBuffer))
}
