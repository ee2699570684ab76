package local

import (
	"context"
	"errors"
	"os"

	"github.com/meowdis/meowdis/store"
)

// DataVersion is a number that changes when any connection, one of this store included, commits
// a change to the file. It says nothing else.
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
		// No other process has it, and its one connection does not see itself in
		// the pragma.
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

// ErrMoved is the error of a write to a file that is no longer under its name: what
// would be written is lost with the last process that has it open.
var ErrMoved = errors.New("the file was deleted, moved or replaced while it was open, and nothing more is written to it: " +
	"put it back, or start again with what is there now")

// Moved returns ErrMoved when the file was deleted, moved or replaced while it is
// open, and ErrLogGone when its log was. Writes fail with it then, unless the log can be
// mended; reads go on over the connections that are there.
func (s *Store) Moved() error {
	if s.opened == nil {
		return nil
	}
	if s.opened.fate() != fileSame {
		return ErrMoved
	}
	return s.logGone()
}

// lateError is the error of a write that was committed before another file, log or shared memory was found under
// its name. A process that opened the file in between may overwrite it.
type lateError struct{ err error }

func (e *lateError) Error() string { return "the write may be lost: " + e.err.Error() }
func (e *lateError) Unwrap() error { return e.err }

// isLate reports whether the write that err is about was committed.
func isLate(err error) bool {
	var late *lateError
	return errors.As(err, &late)
}

// isGone reports whether err is about the file or its log no longer being there.
func isGone(err error) bool { return errors.Is(err, ErrMoved) || errors.Is(err, ErrLogGone) }

// WALSize is the bytes of the file's write-ahead log, 0 when there is none.
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

// Foreign reports whether the file is another program's: it is only read, and has no
// index of ours.
func (s *Store) Foreign() bool { return s.foreign != nil }
