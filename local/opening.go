package local

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/internal/atomicfile"
)

// explainedError holds a message for users and the error that caused it.
type explainedError struct {
	message string
	err     error
}

func (r *explainedError) Error() string { return r.message }
func (r *explainedError) Unwrap() error { return r.err }

// errUnwritable marks the errors of a file that can be read but not written.
var errUnwritable = errors.New("you have no permission to write the file or its directory")

// checkPath reports errors that SQLite would not explain: a missing file that must exist, or a path that cannot
// be a database.
func checkPath(path string, mustExist bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &explainedError{"you have no permission to access its directory", err}
	case err != nil:
		return missing(path, mustExist, err)
	case info.IsDir():
		return errors.New("it is a directory: name the file in it")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	return nil
}

func missing(path string, mustExist bool, err error) error {
	if no := atomicfile.CheckDirectory(path); no != nil {
		return &explainedError{no.Error(), err}
	}
	if mustExist {
		return &explainedError{"there is no such file: check the path; the first command that writes creates it", err}
	}
	return nil
}

// explain returns err with an explanation and a hint, for an existing file that could not be opened.
func explain(path string, readOnly bool, err error) error {
	switch {
	case err == nil:
		return nil
	case isOneOf(err, sqlite3.SQLITE_NOTADB):
		return &explainedError{"it is not a SQLite database: use meowdis import for archives, dump files and commands, or meowdis doctor FILE --recover NEW for a damaged database", err}
	case IsCorrupt(err):
		return &explainedError{err.Error() + "; run meowdis doctor", err}
	case isFull(err):
		var full *sqliteError
		errors.As(err, &full)
		return &explainedError{full.msg, err}
	case IsBusy(err):
		return &explainedError{"it is in use by another process: try again later", err}
	case !isCantOpen(err):
		return err
	}
	// Only SQLite may open a file that it locks: closing any other descriptor of it drops all locks of the
	// process. The WAL has no locks.
	c, unreadable := openConn(path, toRead)
	if unreadable != nil {
		return &explainedError{"you have no permission to read it: ask its owner", err}
	}
	c.close()
	switch log, unreadable := os.Open(path + "-wal"); {
	case unreadable == nil:
		log.Close()
	case errors.Is(unreadable, fs.ErrPermission):
		return &explainedError{fmt.Sprintf("you have no permission to read %s-wal, which has its latest changes: ask its owner", path), err}
	}
	if !readOnly {
		return &explainedError{fmt.Sprintf("you have no permission to write it or its directory %s: use --read-only", filepath.Dir(path)), errors.Join(errUnwritable, err)}
	}
	return &explainedError{fmt.Sprintf("reading its latest changes in %s-wal needs write permission in %s: copy both files to a directory that you can write", path, filepath.Dir(path)), err}
}

// immutableFile describes a file that is read without locks, because SQLite cannot create files beside it. It
// records the file's state when it was opened.
type immutableFile struct {
	path  string
	size  int64
	wrote time.Time
}

// statImmutable returns the file at path for reading without locks. The caller ensures that no process has it open;
// then it has no WAL.
func statImmutable(path string) (*immutableFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, atomicfile.Pathless(err)
	}
	return &immutableFile{path, info.Size(), info.ModTime()}, nil
}

// openMaybeImmutable is openConn for a file that may be immutable; f is nil for any other file.
func openMaybeImmutable(path string, f *immutableFile, how int32) (*conn, error) {
	if f == nil {
		return openConn(path, how)
	}
	return openImmutableConn(path, how)
}

// openImmutableConn is openConn for a file that no process changes: SQLite then uses neither locks nor a WAL.
func openImmutableConn(path string, how int32) (*conn, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	release, err := claim(path, false) // it is read without a WAL
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: "immutable=1"}
	return openClaimed(u.String(), how|sqlite3.SQLITE_OPEN_URI, release)
}

// check fails if the file has changed, so that the rows read may be inconsistent. f is nil for a file that is
// read with locks.
func (f *immutableFile) check() error {
	if f == nil {
		return nil
	}
	now, err := statImmutable(f.path)
	if err == nil && (*now != *f || hasLog(f.path)) {
		err = errors.New("it was changed while it was read without locks")
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w: start again", f.path, err)
	}
	return nil
}

// hasLog reports whether a file in WAL mode has changes in its WAL, or is open in some process.
func hasLog(path string) bool {
	if _, err := os.Stat(path + "-shm"); err == nil {
		return true
	}
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}
