package local

import (
	"context"
	"errors"
	"os"

	"github.com/meowdis/meowdis/store"
)

// DataVersion returns a number that changes when any connection commits a change to the file, including
// connections of this store. The number has no other meaning.
func (s *Store) DataVersion(ctx context.Context) (version int64, err error) {
	release, err := s.use()
	if err != nil {
		return 0, err
	}
	defer release()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if s.path == Memory {
		// No other process has the database open, and the pragma ignores changes of its own connection.
		err := s.withReader(ctx, func(c *conn) error {
			version = c.changes
			return nil
		})
		return version, err
	}
	s.watching.Lock()
	defer s.watching.Unlock()
	if s.watcher == nil {
		if s.watcher, err = s.connect(true); err != nil {
			return 0, err
		}
	}
	rows, _, err := s.watcher.run(store.Stmt{SQL: "PRAGMA data_version"})
	if err != nil {
		return 0, err
	}
	return rows[0][0].Int(), nil
}

// ErrMoved is returned by writes to a file that is no longer under its name. Such a write would be lost with
// the last process that has the file open.
var ErrMoved = errors.New("the file was deleted, moved or replaced while it was open; writes are refused: " +
	"put it back, or start again with the current file")

// Moved returns ErrMoved if the file was deleted, moved or replaced while it is open, and ErrWALGone if its WAL
// was. Writes fail with this error unless the WAL can be repaired. Reads continue on the open connections.
func (s *Store) Moved() error {
	if s.opened == nil {
		return nil
	}
	if s.opened.fate() != fileSame {
		return ErrMoved
	}
	return s.walGone()
}

// lateError reports that a write was committed before another file, WAL or shared memory was found
// under its name. A process that opened the file in between may overwrite it.
type lateError struct{ err error }

func (e *lateError) Error() string { return "the write may be lost: " + e.err.Error() }
func (e *lateError) Unwrap() error { return e.err }

// isLate reports whether the write that failed with err was committed.
func isLate(err error) bool {
	var late *lateError
	return errors.As(err, &late)
}

// isGone reports whether err means that the file or its WAL is missing or replaced.
func isGone(err error) bool { return errors.Is(err, ErrMoved) || errors.Is(err, ErrWALGone) }

// WALSize returns the size of the file's WAL in bytes, or 0 if it has none.
func (s *Store) WALSize() (int64, error) {
	if s.path == Memory {
		return 0, nil
	}
	info, err := os.Stat(s.path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Foreign reports whether the file belongs to another program. A foreign file is read-only and has none of our
// indexes.
func (s *Store) Foreign() bool { return s.foreign != nil }
