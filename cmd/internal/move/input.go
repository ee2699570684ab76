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

// InputFormats lists the formats that import reads.
var InputFormats = []string{"rdb", "aof", "commands", "sqlite", "jsonl", "archive"}

// Input is an open file to import.
type Input struct {
	Format  string        // one of InputFormats
	Text    *bufio.Reader // nil for an append-only directory
	file    *os.File      // read by Text; nil for stdin
	logs    []string      // paths of the files of an append-only directory
	closers []func() error
}

const importBuffer = 64 << 10

// OpenInput opens the file at path, or stdin for "-". It recognises the format if format is empty.
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
			return nil, exit.Usagef("%s is a directory: only an append-only file can be one", path)
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

// Verify checks the checksum of a dump file and seeks back to its start. It skips an input that cannot be read twice,
// such as a pipe. newBar returns a progress bar of total bytes.
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
		return fmt.Errorf("%w; nothing was imported; --salvage imports the readable keys, --no-verify the keys before the damage", Reading(path, f.damage(err)))
	case err != nil:
		return Reading(path, err)
	case !summed:
		fmt.Fprintf(bar.Above(notes), "meowdis: %s has no checksum: damage may go unnoticed\n", path)
	}
	_, err = f.file.Seek(0, io.SeekStart)
	f.Text.Reset(f.file)
	return err
}

// damage returns the first parse error of a dump file with a wrong checksum, or wrong if it parses.
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

// seen counts the bytes read on a progress bar, and fails once ctx ends.
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

// formatManifest names the format of the file that lists the files of an append-only directory.
const formatManifest = "manifest"

// recognise finds the format by the first bytes.
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
		return fmt.Errorf("%s has an unknown format: give --format, one of %s", path, strings.Join(InputFormats, ", "))
	case f.Format == "sqlite" && path == "stdin":
		return exit.Usagef("a SQLite file cannot be read from stdin: give its name")
	}
	return nil
}

// importFormatOf returns the format of a file with this extension and beginning, "" if it is unknown.
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

// isScript reports whether the first line that is neither blank nor a comment is a command.
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

// FormatNamed returns the format called name.
func FormatNamed(name string) (Format, error) {
	for _, f := range formats {
		if f.name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("unknown format %q", name)
}

// openLogs opens an append-only directory.
func openLogs(dir string) (*Input, error) {
	manifests, err := filepath.Glob(filepath.Join(dir, "*.manifest"))
	if err != nil {
		return nil, err
	}
	if len(manifests) != 1 {
		return nil, fmt.Errorf("%s has %d manifests (*.manifest), but the directory of an append-only file has one", dir, len(manifests))
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

// OnClose adds a function that Close calls, before the functions added earlier.
func (f *Input) OnClose(close func() error) { f.closers = append(f.closers, close) }

// Close closes everything that was opened, the last first.
func (f *Input) Close() error {
	var errs []error
	for i := len(f.closers) - 1; i >= 0; i-- {
		errs = append(errs, f.closers[i]())
	}
	return errors.Join(errs...)
}

// EachLog reads the files of an append-only directory, or the single file.
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
