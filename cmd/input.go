package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/meowdis/meowdis/local"
)

// openInput opens a file that is read from its beginning, and is no target.
func openInput(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && info.IsDir() {
			err = errors.New("it is a directory: name the file in it")
		}
		if err != nil {
			f.Close()
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("there is no such file: check the path")
	case errors.Is(err, fs.ErrPermission):
		err = errors.New("you have no permission to read it: ask its owner")
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, local.Pathless(err))
	}
	return f, nil
}

// reading is the error of a file that could be opened.
func reading(path string, err error) error {
	return fmt.Errorf("reading %s: %w", path, local.Pathless(err))
}

// notWritten is the error of a verb that was to make a file, which makes it whole or
// not at all; stdout cannot be so.
func notWritten(ctx context.Context, path string, err error) error {
	kept := path + " was not written"
	if path == "-" {
		kept = "what is on stdout is not complete"
	}
	if wasStopped(ctx, err) {
		return stopped(ctx, kept)
	}
	if _, other := errors.AsType[sourceError](err); other || path == "-" {
		return fmt.Errorf("%w; %s", err, kept)
	}
	return fmt.Errorf("writing %s: %w; %s", path, local.Pathless(err), kept)
}

// input is stdin, whose reads end with the context: whoever feeds it may be slow.
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
