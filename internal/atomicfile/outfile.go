// Package atomicfile makes the files that people name, whole or not at all. It is the one
// place that knows when a file may take the place of another: when they said so, and
// never when that is a SQLite database.
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
	// ErrExists is the error about a file that is there and is not to be replaced.
	ErrExists = errors.New("it exists already")
	// ErrDatabase is the error about a SQLite database, which is never replaced.
	ErrDatabase = errors.New("it is a SQLite database, which is never replaced")
)

// Check reports why no file may be made at path: ErrExists unless replace, ErrDatabase,
// or what is wrong with its directory. What is no regular file, such as /dev/null or a
// pipe, is written to and not replaced, so that nothing is wrong with it.
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

// CheckDirectory reports why nothing can be made at path: the directory is missing, or is none.
func CheckDirectory(path string) error {
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case err != nil:
		return errors.New("there is no directory " + dir + ": check the path, or make it")
	case !info.IsDir():
		return errors.New(dir + " is a file, and no directory: check the path")
	}
	return nil
}

const sqliteMagic = "SQLite format 3\x00"

// isDatabase reports whether the file at path is a SQLite database, by its beginning or
// by what is beside it: one that has a log is not opened, since the locks that this
// process may have on it would go when it is closed.
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

// Write makes the file of that name, for its owner only, when write succeeds, and leaves
// what was there before otherwise. Check is asked before and after. A crash in between may
// leave a hidden file beside it.
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
	if replace { // what a link points to is replaced, not the link
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("nothing can be made in %s: %w", filepath.Dir(path), Pathless(err))
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

// Name gives a finished file its name, which may be in use only when replace is
// true. It does not ask Check.
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
	// A file system without links.
	if _, err := os.Lstat(path); err == nil {
		return ErrExists
	}
	return os.Rename(made, path)
}

// Pathless returns err without the operation and the path that package os puts before it.
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
