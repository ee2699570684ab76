package local

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// WaitBriefly has opening a file wait no longer for a process that uses another log.
func WaitBriefly() { apartPatience = 0 }

// SweepAll is what the background sweeper does at each tick.
func (s *Store) SweepAll() { s.sweepAll() }

// What SQLite calls for the log of a store that OnLogWrite was called for.
var (
	logWritten   func(p []byte, write func(n int)) error
	faultyWrites sqlite3.Tsqlite3_io_methods
	soundWrite   func(*libc.TLS, uintptr, uintptr, int32, int64) int32
)

// OnLogWrite has fn called in place of each write to the log by the store's writer, which
// must have written before; write writes the first n bytes. An error is that of a full
// disk. It is for one store at a time.
func (s *Store) OnLogWrite(fn func(p []byte, write func(n int)) error) {
	c := s.writer
	if rc := sqlite3.Xsqlite3_file_control(c.tls, c.db, 0, sqlite3.SQLITE_FCNTL_JOURNAL_POINTER, c.arena); rc != sqlite3.SQLITE_OK {
		panic(c.fail(rc))
	}
	f := framedAt(pointerAt(c.arena))
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

// Kept is how many bytes the rows take that are kept.
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

// Read is how many batches were read by SQLite since the store was opened.
func (s *Store) Read() int64 { return s.rowCache.read.Load() }

// ReadLean hides the triggers and views on the first page of a file.
func ReadLean(page []byte) { new(schemaPages).read(page, 0) }
