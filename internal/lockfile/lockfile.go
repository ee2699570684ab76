// Package lockfile opens files that only one process may have open at a time.
package lockfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// ErrInUse is the error while another process, or another part of this one, has the file open.
var ErrInUse = errors.New("the file is in use")

// Wait opens the file at path as soon as no other handle is open, and creates it if missing.
// If ctx ends first, it returns ctx's error.
func Wait(ctx context.Context, path string) (*os.File, error) {
	create := false
	for {
		f, err := Open(path, create)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !create, errors.Is(err, fs.ErrExist):
			create = !create
			continue
		case !errors.Is(err, ErrInUse):
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
