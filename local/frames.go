package local

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite writes each page of a commit to the log in two calls, a header of 24 bytes and the
// page. The file system below, which is SQLite's own but for the log, makes one call of a
// commit, or of each 128 KB of it, by holding back what follows the write before.
//
// The invariant: what is held back belongs to the transaction that runs, before its commit. No
// other connection looks at it, no process needs it after a crash, and this connection finds it
// all the same. It holds because
//
//   - a commit is a page whose header has a size of the database in it. From that header on
//     each write hands on what is held, and returns its error. SQLite makes the commit known
//     in the index of the log, and acknowledges it, after the last of them;
//   - what is left when the lock for writing is given up was rolled back. It is dropped, since
//     the next commit of any process goes to the same place;
//   - to read, size, sync or cut the log through this connection hands on what is held first.

const (
	framesVFS = "meowdis"

	frameHeader = 24      // bytes; the size of the database after a commit is at the fifth
	heldMost    = 0x1ffff // a frame of the largest page, and all that SQLite writes in one call
)

// framed is what we know of an open file. It follows SQLite's own structure of that, in
// SQLite's memory.
type framed struct {
	system uintptr // the methods that SQLite has for the file
	log    uintptr // of a database: its open log, or 0

	database uintptr // of a log: its database, or 0
	held     uintptr // heldMost bytes; 0 until something is held back
	start    int64   // where in the log they go
	length   int64   // of what is held back
	commits  bool    // whether this transaction has written the header of its commit

	owner  uintptr     // of a database: the handle of the connection that guards the log, or 0
	schema schemaPages // of a database that is opened lean
}

// framesFS is the file system, registered with SQLite.
var framesFS = struct {
	sync.Mutex
	system  *sqlite3.Tsqlite3_vfs // what it is made of
	name    uintptr               // of it, in C memory
	lean    uintptr               // leanParameter, in C memory
	offset  uintptr               // of framed in an open file
	methods map[framedKind]uintptr
}{methods: map[framedKind]uintptr{}}

// framedKind is which methods of SQLite's a file of ours has in part.
type framedKind struct {
	system uintptr
	log    bool
	lean   bool
}

// registerFrames makes the file system known to SQLite, once.
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
		return errors.New("SQLite has no file system")
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
		return fmt.Errorf("SQLite takes no file system: error %d", rc)
	}
	return nil
})

// framedAt is ours of an open file.
func framedAt(file uintptr) *framed { return at[framed](file + framesFS.offset) }

// methods are those that the file has in SQLite.
func (f *framed) methods() *sqlite3.Tsqlite3_io_methods {
	return at[sqlite3.Tsqlite3_io_methods](f.system)
}

// function is the one at an address, as address returns it.
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

// framedMethods returns ours for a kind of file; 0 without memory.
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

// makeRoom allocates what is held back in, and reports whether there is memory for it.
func (f *framed) makeRoom(tls *libc.TLS) bool {
	f.held = sqlite3.Xsqlite3_malloc(tls, heldMost)
	return f.held != 0
}

// handOn writes what is held back. When that fails it is kept, as SQLite takes it for written:
// a statement may fail for it alone, and its transaction go on.
func (f *framed) handOn(tls *libc.TLS, file uintptr) int32 {
	if f.length == 0 {
		return sqlite3.SQLITE_OK
	}
	// What is long is written before its commit. By then another process may use the log with other shared memory.
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

// drop forgets what is held back, at the end of a transaction.
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

// databaseShmLock is how SQLite locks the index of the log. The lock for writing is the first.
func databaseShmLock(tls *libc.TLS, file uintptr, first, n, flags int32) int32 {
	f := framedAt(file)
	if f.log != 0 && first == sqlite3.WAL_WRITE_LOCK && flags == sqlite3.SQLITE_SHM_UNLOCK|sqlite3.SQLITE_SHM_EXCLUSIVE {
		framedAt(f.log).drop()
	}
	return function[func(*libc.TLS, uintptr, int32, int32, int32) int32](f.methods().FxShmLock)(tls, file, first, n, flags)
}
