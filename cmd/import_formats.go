package cmd

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

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/rdb"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// importFormats are the formats that import reads.
var importFormats = []string{"rdb", "aof", "commands", "sqlite", "jsonl", "archive"}

// importFile is a file that is imported.
type importFile struct {
	format  string
	text    *bufio.Reader
	file    *os.File // what text reads, nil for stdin
	logs    []string // the files of an append-only directory
	closers []func() error
}

const importBuffer = 64 << 10

// openImport opens the file at path, or stdin for -, and finds out what it is
// unless the format is given.
func openImport(path, format string, stdin io.Reader) (*importFile, error) {
	if format != "" && !slices.Contains(importFormats, format) {
		return nil, usagef("--format %s: give one of %s", format, strings.Join(importFormats, ", "))
	}
	if path == "-" {
		f := &importFile{format: format, text: bufio.NewReaderSize(stdin, importBuffer)}
		return f, f.recognise("stdin")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if format != "" && format != "aof" {
			return nil, usagef("%s is a directory, which only an append-only file can be", path)
		}
		return openLogs(path)
	}
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	f := &importFile{format: format, file: in, text: bufio.NewReaderSize(in, importBuffer), closers: []func() error{in.Close}}
	if err := f.recognise(path); err != nil {
		return nil, errors.Join(err, f.close())
	}
	if f.format == formatManifest {
		return openManifest(path, in)
	}
	return f, nil
}

// verify reads a dump file to its end and goes back to its beginning. What cannot be read twice,
// such as a pipe, it leaves alone.
func (f *importFile) verify(ctx context.Context, s *streams, path string) error {
	info, err := os.Stat(path)
	if f.file == nil || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	bar := newProgress(s, "verifying", "bytes", info.Size())
	defer bar.end()
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return reading(path, err)
	}
	summed, err := rdb.Verify(seen{ctx, f.file, bar})
	switch {
	case wasStopped(ctx, err):
		return stopped(ctx, "nothing was imported")
	case errors.Is(err, rdb.ErrChecksum):
		return fmt.Errorf("%w; nothing was imported; --salvage imports what can be read, --no-verify what comes before the damage", reading(path, f.damage(err)))
	case err != nil:
		return reading(path, err)
	case !summed:
		bar.clear()
		fmt.Fprintf(s.err, "meowdis: %s has no checksum: damage may go unnoticed\n", path)
	}
	_, err = f.file.Seek(0, io.SeekStart)
	f.text.Reset(f.file)
	return err
}

// damage is the error of a dump file whose checksum is wrong: the first place in it that makes
// no sense, where there is one.
func (f *importFile) damage(wrong error) error {
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
	bar *progress
}

func (s seen) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	n, err := s.in.Read(b)
	s.bar.add(int64(n))
	return n, err
}

// formatManifest is the list of the files of an append-only directory, in place of
// the directory.
const formatManifest = "manifest"

// recognise finds out the format by how the file begins.
func (f *importFile) recognise(path string) error {
	beginning, err := f.text.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		return reading(path, err)
	}
	if f.format == "" {
		f.format = importFormatOf(filepath.Ext(path), beginning)
	}
	switch {
	case len(beginning) == 0:
		return fmt.Errorf("%s is empty", path)
	case f.format == "":
		return fmt.Errorf("%s is in no format that meowdis recognises: give --format, one of %s", path, strings.Join(importFormats, ", "))
	case f.format == "sqlite" && path == "stdin":
		return usagef("a SQLite file cannot be read from stdin: give its name")
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
	if known, ok := formatOf(beginning); ok {
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

// formatNamed is the format of that name, which is one of fileFormats.
func formatNamed(name string) (fileFormat, error) {
	for _, f := range fileFormats {
		if f.name == name {
			return f, nil
		}
	}
	return fileFormat{}, fmt.Errorf("there is no format %s", name)
}

// openLogs opens an append-only directory.
func openLogs(dir string) (*importFile, error) {
	manifests, err := filepath.Glob(filepath.Join(dir, "*.manifest"))
	if err != nil {
		return nil, err
	}
	if len(manifests) != 1 {
		return nil, fmt.Errorf("%s holds %d manifests (*.manifest), and the directory of an append-only file has one", dir, len(manifests))
	}
	in, err := openInput(manifests[0])
	if err != nil {
		return nil, err
	}
	return openManifest(manifests[0], in)
}

// openManifest opens the files that a manifest names.
func openManifest(path string, in *os.File) (*importFile, error) {
	_, err := in.Seek(0, io.SeekStart)
	var names []string
	if err == nil {
		names, err = transfer.LogFiles(in)
	}
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &importFile{format: "aof", logs: []string{}}
	for _, name := range names {
		f.logs = append(f.logs, filepath.Join(filepath.Dir(path), name))
	}
	return f, nil
}
