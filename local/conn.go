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

// conn is one SQLite connection with its prepared statements, for one goroutine
// at a time. It speaks SQLite's own interface: database/sql and the driver under
// it would cost more than the statements (they look parameters up by name, and
// ask for column names that are not read).
type conn struct {
	tls      *libc.TLS
	db       uintptr
	prepared map[string]*prepared

	mostPrepared int
	preparedText int           // bytes of their SQL
	changes      int64         // rows ever changed, triggers included
	visit        *workLimit    // what it is used for now; nil for what has no early end
	budget       *store.Budget // of the batch that runs
	stuck        bool          // a transaction could not be rolled back
	touched      *touched      // what its transaction changes; nil when no one asks
	cache        string        // sets how many pages are kept; "" where that is not set

	missed  int  // consecutive times that a statement with Alone found nothing to change
	loading bool // the file is without its index by hash

	release   func()          // ends the claim to the file
	intact    func() error    // fails when the file, its log or its shared memory is another one; nil when no one asks
	committed func(pages int) // hears of each commit how long the log is; nil when no one asks

	// arena holds the text and blob arguments of the statement that runs, but for large
	// ones, which SQLite reads where they are.
	arena uintptr
	room  int

	// Of a foreign file: the virtual tables, their module, and the one that is
	// being made.
	handle     uintptr // under which C memory refers to this
	module     uintptr
	connecting *otherformats.Table
}

type prepared struct {
	stmt    uintptr
	params  int
	columns int // of the rows that it returns
	writes  bool

	admitted bool // guests may run it
}

const (
	// The translator's statements are a few hundred constants; more than this
	// means that text from elsewhere comes along.
	maxPrepared = 2000

	// So many bytes of their text together, too: compiled, it takes some fifteen times as much.
	maxPreparedText = 4 << 20

	smallArena = 64 << 10 // kept for the life of the connection
	largeArg   = 64 << 10 // is not copied into it

	// How long to wait for another process's transaction, and a step of that.
	busyPatience = 10 * time.Second
	step         = 100 * time.Millisecond
)

// sqliteError is what SQLite says of a call that failed.
type sqliteError struct {
	code int32 // extended result code
	msg  string
}

func (e *sqliteError) Error() string { return e.msg }

// fail is the error of the last call, whose result code was rc.
func (c *conn) fail(rc int32) error {
	system := syscall.Errno(sqlite3.Xsqlite3_system_errno(c.tls, c.db))
	if full := fullMessage(rc, system); full != "" {
		return &sqliteError{code: sqlite3.SQLITE_FULL, msg: full}
	}
	msg := printable(libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db)))
	return &sqliteError{code: rc, msg: msg}
}

// printable keeps what a damaged file brings into a message from disturbing a
// terminal.
func printable(msg string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, msg)
}

// withString calls fn with a C string.
func withString[T any](c *conn, s string, fn func(uintptr) T) (result T, err error) {
	p, err := libc.CString(s)
	if err != nil {
		return result, err
	}
	defer libc.Xfree(c.tls, p)
	return fn(p), nil
}

// How a file is opened: SQLite's flags.
const (
	toRead    = sqlite3.SQLITE_OPEN_READONLY
	toWrite   = sqlite3.SQLITE_OPEN_READWRITE
	makeIfNew = sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE
)

// undoKept is how much of the pages that one statement changes SQLite keeps in memory, in case
// the statement fails, in bytes. The rest goes to a file, by pieces of this size: with the 64 KB
// that are the default a statement of ten new keys writes one. SQLite cannot write a larger piece.
const undoKept = 1<<17 - 1

// configure says what holds for the whole process. In one that has used SQLite before, by another
// package, it is too late for that, and all is well but slower.
var configure = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	args := tls.Alloc(8)
	defer tls.Free(8)
	switch rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_STMTJRNL_SPILL, libc.VaList(args, int32(undoKept))); rc {
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

// openConn opens the file at path, or Memory. The connection is nil when that fails.
func openConn(path string, how int32) (*conn, error) {
	release, err := claim(path, true)
	if err != nil {
		return nil, err
	}
	return openClaimed(path, how, release)
}

// openClaimed is openConn for a name of a file that is claimed.
func openClaimed(path string, how int32, release func()) (c *conn, err error) {
	if err := configure(); err != nil {
		release()
		return nil, err
	}
	c = &conn{tls: libc.NewTLS(), prepared: map[string]*prepared{}, mostPrepared: maxPrepared, release: release}
	defer func() {
		if err != nil {
			c, err = nil, errors.Join(err, c.close())
		}
	}()
	if err := errors.Join(registerFrames(), c.grow(smallArena)); err != nil {
		return c, err
	}
	// SQLite writes the handle to the beginning of the arena, also when it fails.
	rc, err := withString(c, path, func(p uintptr) int32 {
		return sqlite3.Xsqlite3_open_v2(c.tls, p, c.arena, how|sqlite3.SQLITE_OPEN_NOMUTEX, framesFS.name)
	})
	if err != nil {
		return c, err
	}
	if c.db = pointerAt(c.arena); rc != sqlite3.SQLITE_OK {
		return c, c.fail(rc)
	}
	// SQLite opens a file for reading when it may not be written.
	if how&toRead == 0 && sqlite3.Xsqlite3_db_readonly(c.tls, c.db, 0) == 1 {
		return c, &sqliteError{sqlite3.SQLITE_READONLY, "it may not be written"}
	}
	c.handle = newHandle(c)
	sqlite3.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	c.patience(busyPatience)
	sqlite3.Xsqlite3_progress_handler(c.tls, c.db, stepsAsked, address(progress), c.handle)
	return c, c.keepPlans()
}

// keepPlans has SQLite plan a statement once. It would do so again whenever a parameter of a
// LIMIT is bound, since the plan could depend on it: at many times the cost of most statements.
func (c *conn) keepPlans() error {
	args := libc.VaList(c.arena, int32(1), uintptr(0)) // on, and the setting is not asked for
	if rc := sqlite3.Xsqlite3_db_config(c.tls, c.db, sqlite3.SQLITE_DBCONFIG_ENABLE_QPSG, args); rc != sqlite3.SQLITE_OK {
		return c.fail(rc)
	}
	return nil
}

// leaveLog has SQLite leave the log and the shared memory as they are when the connection closes.
func (c *conn) leaveLog() error {
	args := libc.VaList(c.arena, int32(1), uintptr(0))
	if rc := sqlite3.Xsqlite3_db_config(c.tls, c.db, sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, args); rc != sqlite3.SQLITE_OK {
		return c.fail(rc)
	}
	return nil
}

// guard has the connection call intact before it writes to the log what is not committed yet. An error of intact
// makes the write fail.
func (c *conn) guard(intact func() error) error {
	rc, err := withString(c, "main", func(name uintptr) int32 {
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
	framedAt(file).owner = c.handle
	return nil
}

// patience is how long to wait for other processes from now on.
func (c *conn) patience(d time.Duration) {
	sqlite3.Xsqlite3_busy_timeout(c.tls, c.db, int32(d.Milliseconds()))
}

// setUp runs the first statements on a connection. Where they fail, the file is why.
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
	rc, err := withString(c, sql, func(p uintptr) int32 {
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

// isCantOpen reports whether err is that of a file that cannot be opened, or not
// without writing beside it.
func isCantOpen(err error) bool {
	var e *sqliteError
	return errors.As(err, &e) && (e.code&0xff == sqlite3.SQLITE_CANTOPEN || e.code&0xff == sqlite3.SQLITE_READONLY)
}

// refusal returns the constraint that err reports, or nil when err is something
// else.
func refusal(err error) *store.Refusal {
	var e *sqliteError
	if errors.As(err, &e) && e.code&0xff == sqlite3.SQLITE_CONSTRAINT {
		return &store.Refusal{Reason: e.msg}
	}
	return nil
}

// IsDamage reports whether err says that the file is broken, is no database at all,
// or has tables that the statement cannot be meant for, rather than that it cannot
// be reached or is busy.
func IsDamage(err error) bool {
	return isOneOf(err, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
}

// IsCorrupt reports whether err says that the file is a database, and broken.
func IsCorrupt(err error) bool { return isOneOf(err, sqlite3.SQLITE_CORRUPT) }

// IsBusy reports whether err says that other processes kept the file for longer
// than anybody waits.
func IsBusy(err error) bool { return isOneOf(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) }

func isOneOf(err error, codes ...int32) bool {
	var e *sqliteError
	return errors.As(err, &e) && slices.Contains(codes, e.code&0xff)
}

// pointerAt reads a pointer that SQLite has written. The platforms that we build
// for have pointers of 64 bits.
func pointerAt(p uintptr) uintptr { return uintptr(binary.NativeEndian.Uint64(libc.GoBytes(p, 8))) }
