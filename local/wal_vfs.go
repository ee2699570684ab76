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
	vfsName = "meowdis"

	frameHeader = 24      // bytes; the database size after a commit is at offset 4
	maxHeld     = 0x1ffff // a frame with the largest page, and the most that SQLite writes in one call
)

// vfsFile is our state of an open file. It follows SQLite's own structure, in memory that SQLite allocates.
type vfsFile struct {
	system uintptr // SQLite's own methods of the file
	log    uintptr // of a database: its open WAL, or 0

	database uintptr // of a WAL: its database, or 0
	held     uintptr // a buffer of maxHeld bytes; 0 until the first held write
	start    int64   // offset of the held bytes in the WAL
	length   int64   // of the held bytes
	commits  bool    // whether this transaction has written its commit header

	owner uintptr // of a database: the handle of the connection that guards the WAL, or 0
}

// walVFS holds the VFS registered with SQLite.
var walVFS = struct {
	sync.Mutex
	system  *sqlite3.Tsqlite3_vfs // the wrapped VFS
	name    uintptr               // its name, in C memory
	offset  uintptr               // of framed in SQLite's file structure
	methods map[methodKind]uintptr
}{methods: map[methodKind]uintptr{}}

// methodKind identifies a method table: the wrapped methods and the overrides.
type methodKind struct {
	system uintptr
	log    bool
}

// registerVFS registers the VFS with SQLite, once.
var registerVFS = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	system := sqlite3.Xsqlite3_vfs_find(tls, 0)
	name, err := libc.CString(vfsName)
	if err != nil {
		return err
	}
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if system == 0 || own == 0 {
		return errors.New("SQLite has no VFS")
	}
	walVFS.system = at[sqlite3.Tsqlite3_vfs](system)
	walVFS.offset = uintptr(walVFS.system.FszOsFile+7) &^ 7
	vfs := at[sqlite3.Tsqlite3_vfs](own)
	*vfs = *walVFS.system
	vfs.FzName, vfs.FpNext = name, 0
	walVFS.name = name
	vfs.FszOsFile = int32(walVFS.offset + unsafe.Sizeof(vfsFile{}))
	vfs.FxOpen = address(vfsOpen)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, own, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("registering the VFS: SQLite error %d", rc)
	}
	return nil
})

// vfsFileAt returns our state of an open file.
func vfsFileAt(file uintptr) *vfsFile { return at[vfsFile](file + walVFS.offset) }

// methods returns SQLite's own methods of the file.
func (f *vfsFile) methods() *sqlite3.Tsqlite3_io_methods {
	return at[sqlite3.Tsqlite3_io_methods](f.system)
}

// function returns the function at address p, the inverse of address.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

func vfsOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	open := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](walVFS.system.FxOpen)
	rc := open(tls, vfs, name, file, flags, out)
	isLog := flags&sqlite3.SQLITE_OPEN_WAL != 0
	if rc != sqlite3.SQLITE_OK || !isLog && flags&sqlite3.SQLITE_OPEN_MAIN_DB == 0 {
		return rc
	}
	methods := &at[sqlite3.Tsqlite3_file](file).FpMethods
	own := methodsFor(tls, methodKind{*methods, isLog})
	if own == 0 {
		return sqlite3.SQLITE_NOMEM // SQLite closes the file
	}
	f := vfsFileAt(file)
	*f = vfsFile{system: *methods}
	if isLog {
		f.database = sqlite3.Xsqlite3_database_file_object(tls, name)
		vfsFileAt(f.database).log = file
	}
	*methods = own
	return rc
}

// methodsFor returns our method table for a kind of file, or 0 if memory is exhausted.
func methodsFor(tls *libc.TLS, kind methodKind) uintptr {
	walVFS.Lock()
	defer walVFS.Unlock()
	if own, made := walVFS.methods[kind]; made {
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
	}
	walVFS.methods[kind] = own
	return own
}

func logWrite(tls *libc.TLS, file, p uintptr, n int32, offset int64) int32 {
	f := vfsFileAt(file)
	if f.length > 0 && (offset != f.start+f.length || f.length+int64(n) > maxHeld) {
		if rc := f.flush(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if f.held == 0 && !f.allocate(tls) {
		return f.write(tls, file, p, n, offset)
	}
	if f.length == 0 {
		f.start = offset
	}
	copy(unsafe.Slice(at[byte](f.held+uintptr(f.length)), n), unsafe.Slice(at[byte](p), n))
	f.length += int64(n)
	if f.commits {
		return f.flush(tls, file)
	}
	f.commits = n == frameHeader && *at[uint32](p + 4) != 0
	return sqlite3.SQLITE_OK
}

// allocate allocates the buffer for held bytes, and reports whether it could.
func (f *vfsFile) allocate(tls *libc.TLS) bool {
	f.held = sqlite3.Xsqlite3_malloc(tls, maxHeld)
	return f.held != 0
}

// flush writes the held bytes. It keeps them if the write fails, because SQLite takes them for written: a
// statement may fail alone while its transaction continues.
func (f *vfsFile) flush(tls *libc.TLS, file uintptr) int32 {
	if f.length == 0 {
		return sqlite3.SQLITE_OK
	}
	// A long transaction writes before its commit. By then, another process may use the WAL with a different
	// shared memory.
	if owner := vfsFileAt(f.database).owner; owner != 0 && !f.commits && handled[*conn](owner).intact() != nil {
		return sqlite3.SQLITE_IOERR
	}
	rc := f.write(tls, file, f.held, int32(f.length), f.start)
	if rc == sqlite3.SQLITE_OK {
		f.length = 0
	}
	return rc
}

func (f *vfsFile) write(tls *libc.TLS, file, p uintptr, n int32, offset int64) int32 {
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.methods().FxWrite)(tls, file, p, n, offset)
}

// drop discards the held bytes at the end of a transaction.
func (f *vfsFile) drop() { f.length, f.commits = 0, false }

func logRead(tls *libc.TLS, file, p uintptr, n int32, offset int64) int32 {
	f := vfsFileAt(file)
	if f.length > 0 && offset+int64(n) > f.start {
		if rc := f.flush(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.methods().FxRead)(tls, file, p, n, offset)
}

func logSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := vfsFileAt(file)
	if rc := f.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int32) int32](f.methods().FxSync)(tls, file, flags)
}

func logTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f := vfsFileAt(file)
	if rc := f.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int64) int32](f.methods().FxTruncate)(tls, file, size)
}

func logFileSize(tls *libc.TLS, file, out uintptr) int32 {
	f := vfsFileAt(file)
	if rc := f.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, uintptr) int32](f.methods().FxFileSize)(tls, file, out)
}

func logClose(tls *libc.TLS, file uintptr) int32 {
	f := vfsFileAt(file)
	sqlite3.Xsqlite3_free(tls, f.held)
	vfsFileAt(f.database).log = 0
	return function[func(*libc.TLS, uintptr) int32](f.methods().FxClose)(tls, file)
}

// databaseShmLock locks the WAL index for SQLite. Lock 0 is the write lock.
func databaseShmLock(tls *libc.TLS, file uintptr, first, n, flags int32) int32 {
	f := vfsFileAt(file)
	if f.log != 0 && first == sqlite3.WAL_WRITE_LOCK && flags == sqlite3.SQLITE_SHM_UNLOCK|sqlite3.SQLITE_SHM_EXCLUSIVE {
		vfsFileAt(f.log).drop()
	}
	return function[func(*libc.TLS, uintptr, int32, int32, int32) int32](f.methods().FxShmLock)(tls, file, first, n, flags)
}
