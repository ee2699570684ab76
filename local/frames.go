package local

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite writes each page of a commit to the WAL in two calls: a header of 24 bytes and the page. This VFS
// wraps SQLite's own. For the WAL, it holds writes back and merges a commit, or each 128 KB of it, into one
// call.
//
// The invariant: held bytes belong to the running transaction, before its commit. No other connection reads
// them, no process needs them after a crash, and this connection still finds them. It holds because
//
//   - the header of a commit's last frame contains the size of the database. From that header on, each write
//     flushes the held bytes and returns the error. SQLite publishes the commit in the WAL index, and
//     acknowledges it, after the last of these writes;
//   - bytes that are still held when the write lock is released were rolled back. They are dropped, because the
//     next commit of any process writes to the same offset;
//   - reading, sizing, syncing or truncating the WAL through this connection flushes the held bytes first.

const (
	framesVFS = "meowdis"

	frameHeader = 24      // bytes; the database size after a commit is at offset 4
	heldMost    = 0x1ffff // a frame with the largest page, and the most that SQLite writes in one call
)

// framed is our state of an open file. It follows SQLite's own structure, in memory that SQLite allocates.
type framed struct {
	system uintptr // SQLite's own methods of the file
	log    uintptr // of a database: its open WAL, or 0

	database uintptr // of a WAL: its database, or 0
	held     uintptr // a buffer of heldMost bytes; 0 until the first held write
	start    int64   // offset of the held bytes in the WAL
	length   int64   // of the held bytes
	commits  bool    // whether this transaction has written its commit header

	owner  uintptr     // of a database: the handle of the connection that guards the WAL, or 0
	schema schemaPages // of a database opened without triggers and views
}

// framesFS holds the VFS registered with SQLite.
var framesFS = struct {
	sync.Mutex
	system  *sqlite3.Tsqlite3_vfs // the wrapped VFS
	name    uintptr               // its name, in C memory
	lean    uintptr               // leanParameter, in C memory
	offset  uintptr               // of framed in SQLite's file structure
	methods map[framedKind]uintptr
}{methods: map[framedKind]uintptr{}}

// framedKind identifies a method table: the wrapped methods and the overrides.
type framedKind struct {
	system uintptr
	log    bool
	lean   bool
}

// registerFrames registers the VFS with SQLite, once.
var registerFrames = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	system := sqlite3.Xsqlite3_vfs_find(tls, 0)
	name, err := libc.CString(framesVFS)
	lean, err2 := libc.CString(leanParameter)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if system == 0 || own == 0 {
		return errors.New("SQLite has no VFS")
	}
	framesFS.system = at[sqlite3.Tsqlite3_vfs](system)
	framesFS.offset = uintptr(framesFS.system.FszOsFile+7) &^ 7
	vfs := at[sqlite3.Tsqlite3_vfs](own)
	*vfs = *framesFS.system
	vfs.FzName, vfs.FpNext = name, 0
	framesFS.name, framesFS.lean = name, lean
	vfs.FszOsFile = int32(framesFS.offset + unsafe.Sizeof(framed{}))
	vfs.FxOpen = address(framesOpen)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, own, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("registering the VFS: SQLite error %d", rc)
	}
	return nil
})

// framedAt returns our state of an open file.
func framedAt(file uintptr) *framed { return at[framed](file + framesFS.offset) }

// methods returns SQLite's own methods of the file.
func (f *framed) methods() *sqlite3.Tsqlite3_io_methods {
	return at[sqlite3.Tsqlite3_io_methods](f.system)
}

// function returns the function at address p, the inverse of address.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

func framesOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	open := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](framesFS.system.FxOpen)
	rc := open(tls, vfs, name, file, flags, out)
	isLog := flags&sqlite3.SQLITE_OPEN_WAL != 0
	if rc != sqlite3.SQLITE_OK || !isLog && flags&sqlite3.SQLITE_OPEN_MAIN_DB == 0 {
		return rc
	}
	methods := &at[sqlite3.Tsqlite3_file](file).FpMethods
	lean := !isLog && sqlite3.Xsqlite3_uri_boolean(tls, name, framesFS.lean, 0) != 0
	own := framedMethods(tls, framedKind{*methods, isLog, lean})
	if own == 0 {
		return sqlite3.SQLITE_NOMEM // SQLite closes the file
	}
	f := framedAt(file)
	*f = framed{system: *methods}
	if isLog {
		f.database = sqlite3.Xsqlite3_database_file_object(tls, name)
		framedAt(f.database).log = file
	}
	*methods = own
	return rc
}

// framedMethods returns our method table for a kind of file, or 0 if memory is exhausted.
func framedMethods(tls *libc.TLS, kind framedKind) uintptr {
	framesFS.Lock()
	defer framesFS.Unlock()
	if own, made := framesFS.methods[kind]; made {
		return own
	}
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	if own == 0 {
		return 0
	}
	m := at[sqlite3.Tsqlite3_io_methods](own)
	*m = *at[sqlite3.Tsqlite3_io_methods](kind.system)
	if kind.log {
		m.FxWrite, m.FxRead, m.FxSync = address(logWrite), address(logRead), address(logSync)
		m.FxTruncate, m.FxFileSize, m.FxClose = address(logTruncate), address(logFileSize), address(logClose)
	} else {
		m.FxShmLock = address(databaseShmLock)
		if kind.lean {
			m.FxRead = address(leanRead)
		}
	}
	framesFS.methods[kind] = own
	return own
}

func logWrite(tls *libc.TLS, file, p uintptr, n int32, offset int64) int32 {
	f := framedAt(file)
	if f.length > 0 && (offset != f.start+f.length || f.length+int64(n) > heldMost) {
		if rc := f.handOn(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if f.held == 0 && !f.makeRoom(tls) {
		return f.write(tls, file, p, n, offset)
	}
	if f.length == 0 {
		f.start = offset
	}
	copy(unsafe.Slice(at[byte](f.held+uintptr(f.length)), n), unsafe.Slice(at[byte](p), n))
	f.length += int64(n)
	if f.commits {
		return f.handOn(tls, file)
	}
	f.commits = n == frameHeader && *at[uint32](p + 4) != 0
	return sqlite3.SQLITE_OK
}

// makeRoom allocates the buffer for held bytes, and reports whether it could.
func (f *framed) makeRoom(tls *libc.TLS) bool {
	f.held = sqlite3.Xsqlite3_malloc(tls, heldMost)
	return f.held != 0
}

// handOn writes the held bytes. It keeps them if the write fails, because SQLite takes them for written: a
// statement may fail alone while its transaction continues.
func (f *framed) handOn(tls *libc.TLS, file uintptr) int32 {
	if f.length == 0 {
		return sqlite3.SQLITE_OK
	}
	// A long transaction writes before its commit. By then, another process may use the WAL with a different
	// shared memory.
	if owner := framedAt(f.database).owner; owner != 0 && !f.commits && handled[*conn](owner).intact() != nil {
		return sqlite3.SQLITE_IOERR
	}
	rc := f.write(tls, file, f.held, int32(f.length), f.start)
	if rc == sqlite3.SQLITE_OK {
		f.length = 0
	}
	return rc
}

func (f *framed) write(tls *libc.TLS, file, p uintptr, n int32, offset int64) int32 {
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.methods().FxWrite)(tls, file, p, n, offset)
}

// drop discards the held bytes at the end of a transaction.
func (f *framed) drop() { f.length, f.commits = 0, false }

func logRead(tls *libc.TLS, file, p uintptr, n int32, offset int64) int32 {
	f := framedAt(file)
	if f.length > 0 && offset+int64(n) > f.start {
		if rc := f.handOn(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.methods().FxRead)(tls, file, p, n, offset)
}

func logSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := framedAt(file)
	if rc := f.handOn(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int32) int32](f.methods().FxSync)(tls, file, flags)
}

func logTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f := framedAt(file)
	if rc := f.handOn(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int64) int32](f.methods().FxTruncate)(tls, file, size)
}

func logFileSize(tls *libc.TLS, file, out uintptr) int32 {
	f := framedAt(file)
	if rc := f.handOn(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, uintptr) int32](f.methods().FxFileSize)(tls, file, out)
}

func logClose(tls *libc.TLS, file uintptr) int32 {
	f := framedAt(file)
	sqlite3.Xsqlite3_free(tls, f.held)
	framedAt(f.database).log = 0
	return function[func(*libc.TLS, uintptr) int32](f.methods().FxClose)(tls, file)
}

// databaseShmLock locks the WAL index for SQLite. Lock 0 is the write lock.
func databaseShmLock(tls *libc.TLS, file uintptr, first, n, flags int32) int32 {
	f := framedAt(file)
	if f.log != 0 && first == sqlite3.WAL_WRITE_LOCK && flags == sqlite3.SQLITE_SHM_UNLOCK|sqlite3.SQLITE_SHM_EXCLUSIVE {
		framedAt(f.log).drop()
	}
	return function[func(*libc.TLS, uintptr, int32, int32, int32) int32](f.methods().FxShmLock)(tls, file, first, n, flags)
}
