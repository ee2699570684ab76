package cmd

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/transfer"
)

// fileFormat is a format of files that hold keys.
type fileFormat struct {
	name    string
	endings []string                    // of the names of such files
	binary  bool                        // nothing for a terminal
	is      func(beginning []byte) bool // nil when it cannot be read
	read    func(in io.Reader, damaged func(*transfer.Damage)) transfer.Source
	write   func(out io.Writer) transfer.Sink // nil when it cannot be written
}

// fileFormats are the formats in the order in which they are recognised. A file
// that is none of the others is the last one.
var fileFormats = []fileFormat{
	{
		name: "archive", binary: true, is: transfer.IsArchive,
		read: func(in io.Reader, damaged func(*transfer.Damage)) transfer.Source {
			return transfer.FromArchive(in, transfer.ArchiveOptions{Damaged: damaged})
		},
		write: func(out io.Writer) transfer.Sink { return transfer.NewArchiveWriter(out) },
	},
	{
		name: "jsonl", endings: []string{".jsonl", ".ndjson"},
		is:    func(beginning []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(beginning), []byte("{")) },
		read:  func(in io.Reader, _ func(*transfer.Damage)) transfer.Source { return transfer.FromJSONLines(in) },
		write: func(out io.Writer) transfer.Sink { return transfer.NewJSONWriter(out) },
	},
	{
		name: "commands", endings: []string{".txt", ".redis"},
		write: func(out io.Writer) transfer.Sink { return transfer.NewScriptWriter(out) },
	},
	{
		name: "resp", binary: true, endings: []string{".resp"},
		write: func(out io.Writer) transfer.Sink { return transfer.NewProtocolWriter(out) },
	},
}

// formatToWrite is the format of that name, or without a name the one that the
// file's name ends like, an archive otherwise.
func formatToWrite(name, path string) (fileFormat, error) {
	for _, f := range fileFormats {
		if f.write != nil && (name == f.name || name == "" && slices.Contains(f.endings, filepath.Ext(path))) {
			return f, nil
		}
	}
	if name == "" {
		return fileFormats[0], nil
	}
	return fileFormat{}, usagef("--format %s: give one of %s", name, strings.Join(formatsToWrite(), ", "))
}

// formatsToWrite are the names of the formats that can be written.
func formatsToWrite() (names []string) {
	for _, f := range fileFormats {
		if f.write != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// formatOf recognises a file by its beginning.
func formatOf(beginning []byte) (f fileFormat, ok bool) {
	for _, f := range fileFormats {
		if f.is != nil && f.is(beginning) {
			return f, true
		}
	}
	return f, false
}
