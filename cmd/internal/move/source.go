package move

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/transfer/filelist"
)

// ReadError is an error of the source. Repeating the command does not help.
type ReadError struct{ Err error }

func (e ReadError) Error() string { return e.Err.Error() }

func (e ReadError) Unwrap() error { return e.Err }

// InFile returns a source whose errors name the file.
func InFile(path string, source transfer.Source) transfer.Source {
	return func(yield func(transfer.Part, error) bool) {
		for p, err := range source {
			if err != nil {
				err = ReadError{Err: Reading(path, err)}
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// OpenFile opens a file that is read from its beginning.
func OpenFile(path string) (*os.File, error) {
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
		err = errors.New("no such file: check the path")
	case errors.Is(err, fs.ErrPermission):
		err = errors.New("no permission to read it: ask its owner")
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, atomicfile.Pathless(err))
	}
	return f, nil
}

// Reading wraps an error of reading path.
func Reading(path string, err error) error {
	return fmt.Errorf("reading %s: %w", path, atomicfile.Pathless(err))
}

// NotWritten returns the error of a verb that creates a file whole or not at all. Stdout may be incomplete.
func NotWritten(ctx context.Context, path string, err error) error {
	kept := path + " was not written"
	if path == "-" {
		kept = "the output on stdout is incomplete"
	}
	if exit.WasStopped(ctx, err) {
		return exit.Stopped(ctx, kept)
	}
	if _, other := errors.AsType[ReadError](err); other || path == "-" {
		return fmt.Errorf("%w; %s", err, kept)
	}
	return fmt.Errorf("writing %s: %w; %s", path, atomicfile.Pathless(err), kept)
}

// Keys returns the keys of a connection that the options choose.
func Keys(ctx context.Context, c *targets.Conn, read transfer.ReadOptions) transfer.Source {
	read.List = List(c, read)
	return transfer.FromSession(ctx, c, read)
}

// List returns a function that lists keys by page, with the values of small keys, rather than with several commands
// for each key. It returns nil for anything but a meowdis file.
func List(c *targets.Conn, read transfer.ReadOptions) transfer.List {
	if c.File == nil || c.File.Foreign() {
		return nil
	}
	return filelist.New(catalog.New(c.File, func() int64 { return time.Now().UnixMilli() }), read)
}

// Unseen returns List for the keys that have not been found by Find.
func Unseen(c *targets.Conn, read transfer.ReadOptions) transfer.ListUnseen {
	if c.File == nil || c.File.Foreign() {
		return nil
	}
	keys, wanted := catalog.New(c.File, func() int64 { return time.Now().UnixMilli() }), filelist.Wanted(read)
	return func(ctx context.Context, db int, after, n int64, seen func(int64) bool) ([]transfer.Listed, int64, error) {
		page, next, err := keys.ScanUnseen(ctx, db, after, n, wanted, seen)
		return filelist.Listed(db, page), next, err
	}
}

// Find returns a function that finds keys by name, as List lists them.
func Find(c *targets.Conn) transfer.Find {
	if c.File == nil || c.File.Foreign() {
		return nil
	}
	keys := catalog.New(c.File, func() int64 { return time.Now().UnixMilli() })
	return func(ctx context.Context, db int, names [][]byte) ([]transfer.Listed, error) {
		found, err := keys.Find(ctx, db, names)
		return filelist.Listed(db, found), err
	}
}
