package cmd

import (
	"io"
	"os"
	"sync/atomic"

	"github.com/meowdis/meowdis/cmd/internal/progress"
	"github.com/meowdis/meowdis/cmd/internal/script"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// countingReader counts the bytes read from a reader.
type countingReader struct {
	io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// fileBytes returns the unread bytes of in, or -1 if in is not a regular file.
func fileBytes(in io.Reader) int64 {
	f, ok := in.(*os.File)
	if !ok {
		return -1
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil || at > info.Size() {
		return -1
	}
	return info.Size() - at
}

// execProgress adds a progress bar to run: in bytes if stdin is a file, in commands with --pipe. It returns nil if
// there is nothing to measure or no terminal.
func execProgress(s *streams, run *script.Run, pipe bool) *progress.Bar {
	total := fileBytes(s.in)
	var bar *progress.Bar
	switch {
	case total > 0:
		in := &countingReader{Reader: s.in}
		bar = newProgress(s, "running", "bytes", total)
		run.In, run.Seen = cmdfile.NewReader(in), func(int64) { bar.Set(min(in.n.Load(), total), total) }
	case pipe:
		bar = newProgress(s, "loading", "commands", -1)
		run.Seen = bar.Add
	default:
		return nil
	}
	run.Wait = func() func() { return bar.Wait("running the transaction") }
	run.Out, run.Notes = bar.Above(run.Out), bar.Above(run.Notes)
	return bar
}
