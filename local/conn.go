package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/local/otherformats"
	"github.com/meowdis/meowdis/store"
)

// conn is one SQLite connection with its prepared statements. One goroutine at a time uses it. It calls
// SQLite's C interface directly: database/sql and its driver look parameters up by name and read column names
// that are not used, which costs more than the statements.
type conn struct {
	statements
	argumentMemory
	virtualTables
	fileHooks
	workState

	tls *libc.TLS
	db  uintptr

	changes        int64  // rows ever changed, triggers included
	changesAtBegin int64  // changes at the beginning of the transaction
	cacheSQL       string // the statement that sets the page cache size; "" keeps the default

}

// statements caches prepared statements.
type statements struct {
	prepared     map[string]*prepared
	mostPrepared int
	preparedText int // bytes of SQL in prepared
}

// argumentMemory holds the text and blob arguments of the running statement.
type argumentMemory struct {
	// arena holds the text and blob arguments of the running statement. SQLite reads large arguments in place.
	arena     uintptr
	arenaSize int
}

// virtualTables connects the tables of a file in another format.
type virtualTables struct {
	// For a foreign file: the virtual tables' module and the table that is being connected.
	handle     uintptr // refers to this conn in C memory
	module     uintptr
	connecting *otherformats.Table
}

// fileHooks are called around transactions.
type fileHooks struct {
	release  func()          // releases the claim to the file
	intact   func() error    // fails if the file, its WAL or its shared memory was replaced; nil to skip the check
	onCommit func(pages int) // called after each commit with the length of the WAL; nil for none
	commits  uint32          // commits to the WAL, while onCommit is set
}

// workState belongs to the running batch.
type workState struct {
	workLimit   *workLimit    // limits the current work; nil if nothing may interrupt it
	budget      *store.Budget // of the running batch
	stuck       bool          // a transaction could not be rolled back
	changedKeys *changedKeys  // the keys that its transaction changes; nil if they are not collected
	newKeys     int           // consecutive runs of a Supersedes statement that changed nothing
	loading     bool          // the file has no hash index yet
}

type prepared struct {
	stmt    uintptr
	params  int
	columns int // of its rows
	writes  bool

	admitted bool // whether guests may run it
}

const (
	// The translator has a few hundred constant statements; more than this means ad hoc SQL.
	maxPrepared = 2000

	// Limits the total length of their SQL, in bytes: a compiled statement takes about 15 times as much.
	maxPreparedText = 4 << 20

	smallArena  = 64 << 10 // kept until the connection closes
	maxArenaArg = 64 << 10 // larger arguments are not copied into the arena

	// How long to wait for another process's transaction, and the length of one attempt.
	defaultBusyTimeout = 10 * time.Second
	busyStep           = 100 * time.Millisecond
)

// sqliteError holds the result of a failed SQLite call.
type sqliteError struct {
	code int32 // extended result code
	msg  string
}

func (e *sqliteError) Error() string { return e.msg }

// fail returns the error of the last call, whose result code was rc.
func (c *conn) fail(rc int32) error {
	system := syscall.Errno(sqlite3.Xsqlite3_system_errno(c.tls, c.db))
	if full := fullMessage(rc, system); full != "" {
		return &sqliteError{code: sqlite3.SQLITE_FULL, msg: full}
	}
	msg := printable(libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db)))
	return &sqliteError{code: rc, msg: msg}
}

// printable replaces characters that would disturb a terminal: text from a damaged file can be part of a
// message.
func printable(msg string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, msg)
}

// withCString calls fn with a C string.
func withCString[T any](c *conn, s string, fn func(uintptr) T) (result T, err error) {
	p, err := libc.CString(s)
	if err != nil {
		return result, err
	}
	defer libc.Xfree(c.tls, p)
	return fn(p), nil
}

// Flags of sqlite3_open_v2.
const (
	toRead    = sqlite3.SQLITE_OPEN_READONLY
	toWrite   = sqlite3.SQLITE_OPEN_READWRITE
	makeIfNew = sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE
)

// stmtJournalBytes limits the statement journal that SQLite keeps in memory, in bytes. SQLite spills a larger one to a
// file, in chunks of this size. With the default of 64 KB, a statement with ten new keys spills. SQLite cannot
// write a larger chunk.
const stmtJournalBytes = 1<<17 - 1

// configure sets SQLite's process-wide options. If another package has already initialized SQLite, the options
// stay at their defaults, which is only slower.
var configure = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	args := tls.Alloc(8)
	defer tls.Free(8)
	switch rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_STMTJRNL_SPILL, libc.VaList(args, int32(stmtJournalBytes))); rc {
	case sqlite3.SQLITE_OK:
	case sqlite3.SQLITE_MISUSE:
		return nil
	default:
		return fmt.Errorf("configuring SQLite: result %d", rc)
	}
	if rc := poolPages(tls); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("configuring SQLite's memory: result %d", rc)
	}
	return nil
})

// openConn opens the file at path, or Memory. It returns a nil connection with an error.
func openConn(path string, how int32) (*conn, error) {
	release, err := claim(path, true)
	if err != nil {
		return nil, err
	}
	return openClaimed(path, how, release)
}

// openClaimed is openConn for a path that the caller has claimed. It calls release if it fails.
func openClaimed(path string, how int32, release func()) (c *conn, err error) {
	if err := configure(); err != nil {
		release()
		return nil, err
	}
	c = &conn{tls: libc.NewTLS(), statements: statements{prepared: map[string]*prepared{}, mostPrepared: maxPrepared}, fileHooks: fileHooks{release: release}}
	defer func() {
		if err != nil {
			c, err = nil, errors.Join(err, c.close())
		}
	}()
	if err := errors.Join(registerVFS(), c.grow(smallArena)); err != nil {
		return c, err
	}
	// SQLite also writes the handle if it fails.
	rc, err := withCString(c, path, func(p uintptr) int32 {
		return sqlite3.Xsqlite3_open_v2(c.tls, p, c.arena, how|sqlite3.SQLITE_OPEN_NOMUTEX, walVFS.name)
	})
	if err != nil {
		return c, err
	}
	if c.db = pointerAt(c.arena); rc != sqlite3.SQLITE_OK {
		return c, c.fail(rc)
	}
	// SQLite falls back to read-only if the file is not writable.
	if how&toRead == 0 && sqlite3.Xsqlite3_db_readonly(c.tls, c.db, 0) == 1 {
		return c, &sqliteError{sqlite3.SQLITE_READONLY, "it is read-only"}
	}
	c.handle = newHandle(c)
	sqlite3.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	c.setBusyTimeout(defaultBusyTimeout)
	sqlite3.Xsqlite3_progress_handler(c.tls, c.db, progressSteps, address(progress), c.handle)
	return c, c.keepPlans()
}

// keepPlans makes SQLite plan each statement only once. By default, SQLite plans it again each time a LIMIT
// parameter is bound, at many times the cost of most statements.
func (c *conn) keepPlans() error {
	args := libc.VaList(c.arena, int32(1), uintptr(0)) // turn it on, without reading the old value
	if rc := sqlite3.Xsqlite3_db_config(c.tls, c.db, sqlite3.SQLITE_DBCONFIG_ENABLE_QPSG, args); rc != sqlite3.SQLITE_OK {
		return c.fail(rc)
	}
	return nil
}

// keepWAL makes SQLite keep the WAL and the shared memory when the connection closes.
func (c *conn) keepWAL() error {
	args := libc.VaList(c.arena, int32(1), uintptr(0))
	if rc := sqlite3.Xsqlite3_db_config(c.tls, c.db, sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, args); rc != sqlite3.SQLITE_OK {
		return c.fail(rc)
	}
	return nil
}

// guard makes the connection call intact before it writes uncommitted frames to the WAL. If intact returns an
// error, the write fails.
func (c *conn) guard(intact func() error) error {
	rc, err := withCString(c, "main", func(name uintptr) int32 {
		return sqlite3.Xsqlite3_file_control(c.tls, c.db, name, sqlite3.SQLITE_FCNTL_FILE_POINTER, c.arena)
	})
	if err != nil {
		return err
	}
	file := pointerAt(c.arena)
	if rc != sqlite3.SQLITE_OK || file == 0 {
		return c.fail(rc)
	}
	c.intact = intact
	vfsFileAt(file).owner = c.handle
	return nil
}

// setBusyTimeout sets how long the connection waits for other processes.
func (c *conn) setBusyTimeout(d time.Duration) {
	sqlite3.Xsqlite3_busy_timeout(c.tls, c.db, int32(d.Milliseconds()))
}

// setUp runs the first statements on a connection. It returns SQLite's error without the SQL, because the file
// is the cause.
func (c *conn) setUp(statements ...string) error {
	for _, sql := range statements {
		if err := c.script(sql); err != nil {
			var says *sqliteError
			if errors.As(err, &says) {
				err = says
			}
			return err
		}
	}
	return nil
}

func (c *conn) close() error {
	c.finalizeAll()
	var err error
	if c.db != 0 {
		if rc := sqlite3.Xsqlite3_close_v2(c.tls, c.db); rc != sqlite3.SQLITE_OK {
			err = c.fail(rc)
		}
	}
	dropHandle(c.handle)
	sqlite3.Xsqlite3_free(c.tls, c.arena)
	if c.module != 0 {
		libc.Xfree(c.tls, c.module)
	}
	c.tls.Close()
	c.release()
	return err
}

func (c *conn) finalizeAll() {
	for sql, p := range c.prepared {
		sqlite3.Xsqlite3_finalize(c.tls, p.stmt)
		delete(c.prepared, sql)
	}
	c.preparedText = 0
}

// script runs SQL without arguments or rows.
func (c *conn) script(sql string) error {
	rc, err := withCString(c, sql, func(p uintptr) int32 {
		return sqlite3.Xsqlite3_exec(c.tls, c.db, p, 0, 0, 0)
	})
	if err == nil && rc != sqlite3.SQLITE_OK {
		err = c.fail(rc)
	}
	if err != nil {
		return withSQL("running", sql, err)
	}
	return nil
}

// isCantOpen reports whether err means that the file cannot be opened, or not without creating files beside it.
func isCantOpen(err error) bool {
	var e *sqliteError
	return errors.As(err, &e) && (e.code&0xff == sqlite3.SQLITE_CANTOPEN || e.code&0xff == sqlite3.SQLITE_READONLY)
}

// refusal returns the violated constraint that err reports, or nil for any other error.
func refusal(err error) *store.Refusal {
	var e *sqliteError
	if errors.As(err, &e) && e.code&0xff == sqlite3.SQLITE_CONSTRAINT {
		return &store.Refusal{Reason: e.msg}
	}
	return nil
}

// IsDamage reports whether err means that the file is corrupt, is not a database, or lacks the expected tables.
// It is false if the file is busy or cannot be reached.
func IsDamage(err error) bool {
	return isOneOf(err, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
}

// IsCorrupt reports whether err means that the database is corrupt.
func IsCorrupt(err error) bool { return isOneOf(err, sqlite3.SQLITE_CORRUPT) }

// IsBusy reports whether err means that another process kept the file locked for longer than the busy timeout.
func IsBusy(err error) bool { return isOneOf(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) }

func isOneOf(err error, codes ...int32) bool {
	var e *sqliteError
	return errors.As(err, &e) && slices.Contains(codes, e.code&0xff)
}

// pointerAt reads a pointer that SQLite has written at p. All supported platforms have 64-bit pointers.
func pointerAt(p uintptr) uintptr { return uintptr(binary.NativeEndian.Uint64(libc.GoBytes(p, 8))) }
