package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"
)

// PublicMessage returns err without SQL, paths or SQLite's own wording. It returns "" for an error that the
// client cannot do anything about.
func PublicMessage(err error) string {
	var e *sqliteError
	switch {
	case errors.Is(err, ErrMoved):
		return "its file was deleted, moved or replaced; writes are refused until it is back"
	case errors.Is(err, ErrWALGone):
		return "its WAL was deleted, moved or replaced; writes are refused"
	case errors.Is(err, errUnconfirmed) && errors.Is(err, errNotWriter):
		return "another server may have taken over; the write is in this server's file, and perhaps nowhere else"
	case errors.Is(err, errNotWriter):
		return "another server may have taken over; writes are refused"
	case errors.Is(err, errUnconfirmed):
		return "the write is in this server's file, and perhaps not in its place"
	case errors.Is(err, errAbandoned):
		return "it is closing; this was not finished and changed nothing"
	case errors.Is(err, errClosed):
		return "it is closed"
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	case errors.Is(err, context.Canceled):
		return "it was interrupted"
	case errors.As(err, &e):
		return publicCodes[e.code&0xff]
	}
	return ""
}

var publicCodes = map[int32]string{
	sqlite3.SQLITE_BUSY:      "another process keeps it locked, try again",
	sqlite3.SQLITE_LOCKED:    "another process keeps it locked, try again",
	sqlite3.SQLITE_FULL:      "the disk is full",
	sqlite3.SQLITE_IOERR:     "the disk failed",
	sqlite3.SQLITE_CORRUPT:   "it is damaged",
	sqlite3.SQLITE_NOTADB:    "it is damaged",
	sqlite3.SQLITE_READONLY:  "it is read-only",
	sqlite3.SQLITE_CANTOPEN:  "its file cannot be opened",
	sqlite3.SQLITE_TOOBIG:    "a value is too large",
	sqlite3.SQLITE_NOMEM:     "out of memory",
	sqlite3.SQLITE_INTERRUPT: "it was interrupted",
}

// fullMessages maps system errors of a file that cannot grow to messages with a remedy.
var fullMessages = map[syscall.Errno]string{
	syscall.ENOSPC: "the disk is full: free some space",
	syscall.EDQUOT: "the disk quota is used up: free some space",
	syscall.EFBIG:  "a file has reached the limit on the size of files: raise the limit (ulimit -f)",
}

// fullMessage returns the message for an SQLite call that failed because a file cannot grow, or "".
func fullMessage(code int32, system syscall.Errno) string {
	switch code {
	case sqlite3.SQLITE_FULL:
		return cmp.Or(fullMessages[system], fullMessages[syscall.ENOSPC])
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC,
		sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP:
		return fullMessages[system]
	}
	return ""
}

// isFull reports whether err means that a file cannot grow.
func isFull(err error) bool { return isOneOf(err, sqlite3.SQLITE_FULL) }

// withSQL adds the failed statement to err. A full disk is reported without it.
func withSQL(doing, sql string, err error) error {
	if isFull(err) {
		return err
	}
	return fmt.Errorf("%s %q: %w", doing, sql, err)
}
