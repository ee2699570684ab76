// Package atomicfile writes output files completely or not at all. It alone decides whether a
// file may be replaced: only if the user asked for it, and never if it is a SQLite database.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

var (
	// ErrExists reports a file that exists and must not be replaced.
	ErrExists = errors.New("the file already exists")
	// ErrDatabase reports a SQLite database, which is never replaced.
	ErrDatabase = errors.New("SQLite databases are never replaced")
)

// Check returns an error if no file may be written at path: ErrExists unless replace is set,
// ErrDatabase, or a problem with the directory. Other than regular files, such as /dev/null or
// a pipe, are written to, not replaced, so they pass.
func Check(path string, replace bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return CheckDirectory(path)
	case err != nil:
		return Pathless(err)
	case info.IsDir():
		return errors.New("it is a directory: name the file in it")
	case !info.Mode().IsRegular():
		return nil
	}
	switch is, err := isDatabase(path); {
	case err != nil && replace:
		return Pathless(err)
	case is:
		return ErrDatabase
	case !replace:
		return ErrExists
	}
	return nil
}

// CheckDirectory returns an error if the directory of path is missing or not a directory.
func CheckDirectory(path string) error {
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case err != nil:
		return errors.New("directory " + dir + " does not exist: create it, or check the path")
	case !info.IsDir():
		return errors.New(dir + " is not a directory: check the path")
	}
	return nil
}

const sqliteMagic = "SQLite format 3\x00"

// isDatabase reports whether the file at path is a SQLite database, by its header or by the
// files beside it. It does not open a file that has a log: closing it would drop this
// process's locks on it.
func isDatabase(path string) (bool, error) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(path + suffix); err == nil {
			return true, nil
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	beginning := make([]byte, len(sqliteMagic))
	n, err := io.ReadFull(f, beginning)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(beginning[:n]) == sqliteMagic, err
}

// Write creates the file for its owner only if write succeeds; otherwise an existing file is
// unchanged. It calls Check before and after. A crash in between may leave a hidden file
// beside it.
func Write(path string, replace bool, write func(*os.File) error) (err error) {
	if err := Check(path, replace); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return Pathless(err)
		}
		return Pathless(errors.Join(write(f), f.Close()))
	}
	if replace { // replace the target of a link, not the link
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("cannot create a file in %s: %w", filepath.Dir(path), Pathless(err))
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = Check(path, replace)
	}
	if err == nil {
		err = Name(f.Name(), path, replace)
	}
	return Pathless(err)
}

// Name renames a finished file to path, which may exist only if replace is true. It does not
// call Check.
func Name(made, path string, replace bool) error {
	if replace {
		return os.Rename(made, path)
	}
	switch err := os.Link(made, path); {
	case err == nil:
		return os.Remove(made)
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	}
	// The file system has no hard links.
	if _, err := os.Lstat(path); err == nil {
		return ErrExists
	}
	return os.Rename(made, path)
}

// Pathless returns err without the operation and the path that package os prepends.
func Pathless(err error) error {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	var moved *os.LinkError
	if errors.As(err, &moved) {
		return moved.Err
	}
	return err
}
