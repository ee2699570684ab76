package local

import (
	"context"
	"errors"

	sqlite3 "modernc.org/sqlite/lib"
)

// Told says what failed in words that strangers may read: an error has SQL, paths and
// SQLite's own words. "" when it is nothing that they could do something about.
func Told(err error) string {
	var e *sqliteError
	switch {
	case errors.Is(err, ErrMoved):
		return "its file was deleted, moved or replaced, and nothing is written until it is back"
	case errors.Is(err, ErrLogGone):
		return "the log beside its file was deleted, moved or replaced, and nothing is written"
	case errors.Is(err, errAbandoned):
		return "it is closing, and this was not finished and left no trace"
	case errors.Is(err, errClosed):
		return "it is closed"
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	case errors.Is(err, context.Canceled):
		return "it was interrupted"
	case errors.As(err, &e):
		return toldCodes[e.code&0xff]
	}
	return ""
}

var toldCodes = map[int32]string{
	sqlite3.SQLITE_BUSY:      "another process keeps it locked, try again",
	sqlite3.SQLITE_LOCKED:    "another process keeps it locked, try again",
	sqlite3.SQLITE_FULL:      "there is no room on the disk",
	sqlite3.SQLITE_IOERR:     "the disk failed or has no room",
	sqlite3.SQLITE_CORRUPT:   "it is damaged",
	sqlite3.SQLITE_NOTADB:    "it is damaged",
	sqlite3.SQLITE_READONLY:  "it may not be written",
	sqlite3.SQLITE_CANTOPEN:  "its file cannot be opened",
	sqlite3.SQLITE_TOOBIG:    "a value would be too big for it",
	sqlite3.SQLITE_NOMEM:     "there is no memory for that",
	sqlite3.SQLITE_INTERRUPT: "it was interrupted",
}
