package local

import (
	"sync/atomic"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// WaitBriefly shortens the wait for a process that uses another WAL.
func WaitBriefly() { walMismatchTimeout = 0 }

// NoSweepOnClose sets the time limit of the cleanup by Close to 0, until restore is called.
func NoSweepOnClose() (restore func()) {
	limit := closeSweepTime
	closeSweepTime = 0
	return func() { closeSweepTime = limit }
}

// Checkpoint copies the log back as the background does with a log that is too long.
func (s *Store) Checkpoint() error {
	s.checkpoints.under.Lock()
	defer s.checkpoints.under.Unlock()
	s.writing.Lock()
	s.checkpoints.pages = 1
	s.writing.Unlock()
	_, err := s.checkpoint()
	return err
}

// Whatever SQLite opens after OnOpen was called with fn.
var (
	fileOpened func(path string)
	soundOpen  func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
)

// OnOpen has fn called after each opening of a database file, until restore is called.
func OnOpen(fn func(path string)) (restore func()) {
	if err := registerVFS(); err != nil {
		panic(err)
	}
	original := walVFS.system.FxOpen
	fileOpened, soundOpen = fn, function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](original)
	walVFS.system.FxOpen = address(watchedOpen)
	return func() { walVFS.system.FxOpen = original }
}

func watchedOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	rc := soundOpen(tls, vfs, name, file, flags, out)
	if flags&sqlite3.SQLITE_OPEN_MAIN_DB != 0 {
		fileOpened(libc.GoString(name))
	}
	return rc
}

// LimitSteps makes time limits count steps instead of time, 1 ms for each check, so that a busy machine does not end
// short work.
func (s *Store) LimitSteps() {
	var checks atomic.Int64
	s.clock = func() time.Time { return time.UnixMilli(checks.Add(1)) }
}

// SweepAll runs one tick of the background sweeper.
func (s *Store) SweepAll() { s.sweepAll() }

// State of OnLogWrite, for SQLite's calls on the WAL.
var (
	logWritten   func(p []byte, write func(n int)) error
	faultyWrites sqlite3.Tsqlite3_io_methods
	soundWrite   func(*libc.TLS, uintptr, uintptr, int32, int64) int32
)

// OnLogWrite replaces each write to the WAL by a call of fn. The store's writer must have written before. write
// writes the first n bytes. An error of fn makes the disk appear full. One store at a time can use it.
func (s *Store) OnLogWrite(fn func(p []byte, write func(n int)) error) {
	c := s.writer
	if rc := sqlite3.Xsqlite3_file_control(c.tls, c.db, 0, sqlite3.SQLITE_FCNTL_JOURNAL_POINTER, c.arena); rc != sqlite3.SQLITE_OK {
		panic(c.fail(rc))
	}
	f := vfsFileAt(pointerAt(c.arena))
	logWritten, faultyWrites = fn, *f.methods()
	soundWrite = function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](faultyWrites.FxWrite)
	faultyWrites.FxWrite = address(faultyWrite)
	f.system = uintptr(unsafe.Pointer(&faultyWrites))
}

func faultyWrite(tls *libc.TLS, file, p uintptr, n int32, offset int64) int32 {
	rc := int32(sqlite3.SQLITE_OK)
	err := logWritten(unsafe.Slice(at[byte](p), n), func(n int) { rc = soundWrite(tls, file, p, int32(n), offset) })
	if err != nil {
		return sqlite3.SQLITE_FULL
	}
	return rc
}

// Kept returns the size of the cached rows, in bytes.
func (s *Store) Kept() (n int64) {
	for i := range s.rowCache.shards {
		shard := &s.rowCache.shards[i]
		shard.mu.Lock()
		for _, r := range shard.ring {
			n += r.size
		}
		shard.mu.Unlock()
	}
	return n
}

// Read returns the number of batches that SQLite has read since the store was opened.
func (s *Store) Read() int64 { return s.rowCache.sqliteReads.Load() }
