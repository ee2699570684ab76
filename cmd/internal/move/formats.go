package move

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/transfer"
)

// Format is a file format that holds keys.
type Format struct {
	name    string
	endings []string                    // of the names of such files
	Binary  bool                        // not for a terminal
	is      func(beginning []byte) bool // nil if it cannot be read
	Read    func(in io.Reader, o transfer.ArchiveOptions) transfer.Source
	Write   func(out io.Writer, notify transfer.Notify) transfer.Sink // nil if it cannot be written
}

// formats lists the formats. Recognise tries them in this order.
var formats = []Format{
	{
		name: "archive", Binary: true, endings: []string{".archive"}, is: transfer.IsArchive,
		Read:  func(in io.Reader, o transfer.ArchiveOptions) transfer.Source { return transfer.FromArchive(in, o) },
		Write: func(out io.Writer, _ transfer.Notify) transfer.Sink { return transfer.NewArchiveWriter(out) },
	},
	{
		name: "jsonl", endings: []string{".jsonl", ".ndjson"},
		is:    func(beginning []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(beginning), []byte("{")) },
		Read:  func(in io.Reader, _ transfer.ArchiveOptions) transfer.Source { return transfer.FromJSONLines(in) },
		Write: func(out io.Writer, _ transfer.Notify) transfer.Sink { return transfer.NewJSONWriter(out) },
	},
	{
		name: "json", endings: []string{".json"},
		Write: func(out io.Writer, _ transfer.Notify) transfer.Sink { return transfer.NewJSONArrayWriter(out) },
	},
	{
		name: "csv", endings: []string{".csv"},
		Write: func(out io.Writer, notify transfer.Notify) transfer.Sink { return transfer.NewCSVWriter(out, notify) },
	},
	{
		name: "commands", endings: []string{".txt", ".redis"},
		Write: func(out io.Writer, notify transfer.Notify) transfer.Sink {
			return transfer.NewScriptWriter(out, notify)
		},
	},
	{
		name: "resp", Binary: true, endings: []string{".resp"},
		Write: func(out io.Writer, notify transfer.Notify) transfer.Sink {
			return transfer.NewProtocolWriter(out, notify)
		},
	},
}

// FormatToWrite returns the named format. Without a name the ending of path decides; the default is an archive.
func FormatToWrite(name, path string) (Format, error) {
	if name == "" {
		if f, ok := FormatOf(path); ok {
			return f, nil
		}
		return formats[0], nil
	}
	for _, f := range formats {
		if f.Write != nil && name == f.name {
			return f, nil
		}
	}
	return Format{}, exit.Usagef("--format %s: give one of %s", name, strings.Join(FormatsToWrite(), ", "))
}

// FormatOf returns the format for the ending of path, among the formats that can be written.
func FormatOf(path string) (f Format, ok bool) {
	for _, f := range formats {
		if f.Write != nil && slices.Contains(f.endings, strings.ToLower(filepath.Ext(path))) {
			return f, true
		}
	}
	return f, false
}

// Endings returns the endings of files whose formats can be written.
func Endings() (all []string) {
	for _, f := range formats {
		if f.Write != nil {
			all = append(all, f.endings...)
		}
	}
	return all
}

// FormatsToWrite returns the names of the formats that can be written.
func FormatsToWrite() (names []string) {
	for _, f := range formats {
		if f.Write != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// Recognise returns the format of a file by its first bytes.
func Recognise(beginning []byte) (f Format, ok bool) {
	for _, f := range formats {
		if f.is != nil && f.is(beginning) {
			return f, true
		}
	}
	return f, false
}
