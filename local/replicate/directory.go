package replicate

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/internal/atomicfile"
)

// directory stores a stream on a disk. The files of a level are in ltx/LEVEL.
type directory string

func openDirectory(path string) (*Place, error) {
	if path == "" {
		return nil, errors.New("the path of a directory is missing")
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return newPlace(directory(root), root), nil
}

// IsDirectory reports whether the directory contains a stream.
func IsDirectory(path string) bool {
	info, err := os.Stat(filepath.Join(path, "ltx"))
	return err == nil && info.IsDir()
}

func (d directory) level(n int) string { return filepath.Join(string(d), "ltx", strconv.Itoa(n)) }

func (d directory) path(f *ltx.FileInfo) string {
	return filepath.Join(d.level(f.Level), ltx.FormatFilename(f.MinTXID, f.MaxTXID))
}

func (d directory) list(_ context.Context, level int) (found []*ltx.FileInfo, err error) {
	entries, err := os.ReadDir(d.level(level))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		first, last, bad := ltx.ParseFilename(e.Name())
		info, gone := e.Info()
		if bad == nil && gone == nil {
			found = append(found, &ltx.FileInfo{Level: level, MinTXID: first, MaxTXID: last, Size: info.Size(), CreatedAt: info.ModTime()})
		}
	}
	return found, err
}

func (d directory) open(_ context.Context, f *ltx.FileInfo, offset, size int64) (io.ReadCloser, error) {
	file, err := os.Open(d.path(f))
	if err != nil || size == 0 && offset == 0 {
		return file, err
	}
	return section{io.NewSectionReader(file, offset, size), file}, nil
}

type section struct {
	io.Reader
	io.Closer
}

func (d directory) write(_ context.Context, f *ltx.FileInfo, b body) (err error) {
	if err := os.MkdirAll(d.level(f.Level), 0o700); err != nil {
		return err
	}
	path := d.path(f)
	if _, err := os.Lstat(path); err == nil {
		return errExists
	}
	partial, err := os.CreateTemp(d.level(f.Level), partialFile)
	if err != nil {
		return err
	}
	defer os.Remove(partial.Name())
	_, err = io.Copy(partial, b)
	if err = errors.Join(err, partial.Sync(), partial.Close()); err != nil {
		return err
	}
	// The modification time is used to restore the state at a moment.
	if err := os.Chtimes(partial.Name(), f.CreatedAt, f.CreatedAt); err != nil {
		return err
	}
	if err := atomicfile.Name(partial.Name(), path, false); errors.Is(err, atomicfile.ErrExists) {
		return errExists
	} else if err != nil {
		return err
	}
	syncDirectory(filepath.Dir(path))
	return nil
}

func (d directory) remove(_ context.Context, fs []*ltx.FileInfo) (err error) {
	d.tidy()
	for _, f := range fs {
		if bad := os.Remove(d.path(f)); !errors.Is(bad, os.ErrNotExist) {
			err = errors.Join(err, bad)
		}
	}
	return err
}

// partialFile matches the names of files that are being written.
const partialFile = ".partial-*"

// tidy removes the partial files that a killed server has left.
func (d directory) tidy() {
	folders := []string{d.leases()}
	for level := range snapshotLevel + 1 {
		folders = append(folders, d.level(level))
	}
	for _, folder := range folders {
		left, _ := filepath.Glob(filepath.Join(folder, partialFile))
		for _, path := range left {
			if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > partialMaxAge {
				os.RemoveAll(path)
			}
		}
	}
}

// A partial file older than partialMaxAge is abandoned.
const partialMaxAge = 24 * time.Hour
