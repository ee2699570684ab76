package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/foreign"
	"github.com/meowdis/meowdis/store"
)

// conn is one SQLite connection with its prepared statements, for one goroutine
// at a time. It speaks SQLite's own interface: database/sql and the driver under
// it would cost more than the statements (they look parameters up by name, and
// ask for column names that nobody reads).
type conn struct {
	tls      *libc.TLS
	db       uintptr
	prepared map[string]*prepared
	changes  int64         // rows ever changed, triggers included
	visit    *visit        // what it is used for now; nil for what has no early end
	budget   *store.Budget // of the batch that runs

	// arena holds the text and blob arguments of the statement that runs, but for large
	// ones, which SQLite reads where they are.
	arena uintptr
	room  int

	// Of a foreign file: the virtual tables, their module, and the one that is
	// being made.
	handle     uintptr // under which C memory refers to this
	module     uintptr
	connecting *foreign.Table
}

type prepared struct {
	stmt    uintptr
	params  int
	columns int // of the rows that it returns
	writes  bool
}

const (
	// The translator's statements are a few hundred constants; more than this
	// means that somebody else's text comes along.
	maxPrepared = 2000

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
	msg := printable(libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db)))
	if rc&0xff == sqlite3.SQLITE_IOERR {
		msg += ": is there room on the disk, and may the file grow?"
	}
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

// openConn opens the file at path, or Memory. The connection is nil when that fails.
func openConn(path string, how int32) (c *conn, err error) {
	c = &conn{tls: libc.NewTLS(), prepared: map[string]*prepared{}}
	defer func() {
		if err != nil {
			c, err = nil, errors.Join(err, c.close())
		}
	}()
	if err := c.grow(smallArena); err != nil {
		return c, err
	}
	// SQLite writes the handle to the beginning of the arena, also when it fails.
	rc, err := withString(c, path, func(p uintptr) int32 {
		return sqlite3.Xsqlite3_open_v2(c.tls, p, c.arena, how|sqlite3.SQLITE_OPEN_NOMUTEX, 0)
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
	return c, nil
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
	return err
}

func (c *conn) finalizeAll() {
	for sql, p := range c.prepared {
		sqlite3.Xsqlite3_finalize(c.tls, p.stmt)
		delete(c.prepared, sql)
	}
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
		return fmt.Errorf("running %q: %w", sql, err)
	}
	return nil
}

func (c *conn) prepare(sql string) (*prepared, error) {
	if p := c.prepared[sql]; p != nil {
		return p, nil
	}
	if len(c.prepared) >= maxPrepared {
		c.finalizeAll()
	}
	rc, err := withString(c, sql, func(p uintptr) int32 {
		return sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, p, -1, sqlite3.SQLITE_PREPARE_PERSISTENT, c.arena, 0)
	})
	if err == nil && rc != sqlite3.SQLITE_OK {
		err = c.fail(rc)
	}
	stmt := pointerAt(c.arena)
	if err == nil && stmt == 0 {
		err = errors.New("no statement in it")
	}
	if err != nil {
		return nil, fmt.Errorf("preparing %q: %w", sql, err)
	}
	p := &prepared{
		stmt:    stmt,
		params:  int(sqlite3.Xsqlite3_bind_parameter_count(c.tls, stmt)),
		columns: int(sqlite3.Xsqlite3_column_count(c.tls, stmt)),
		writes:  sqlite3.Xsqlite3_stmt_readonly(c.tls, stmt) == 0,
	}
	c.prepared[sql] = p
	return p, nil
}

// run executes one statement. changed reports whether it changed anything.
func (c *conn) run(s store.Stmt) (rows []store.Row, changed bool, err error) {
	p, err := c.prepare(s.SQL)
	if err != nil {
		return nil, false, err
	}
	if err := c.bind(p, s.Args); err != nil {
		return nil, false, err
	}
	rows, err = c.step(p, s)
	runtime.KeepAlive(s.Args)
	if err != nil {
		err = c.interrupted(err)
	}
	if p.writes {
		before := c.changes
		c.changes = sqlite3.Xsqlite3_total_changes64(c.tls, c.db)
		changed = c.changes != before
	}
	if c.room > 16*smallArena {
		err = errors.Join(err, c.grow(smallArena))
	}
	return rows, changed, err
}

// step runs a bound statement to its end, or until its rows are too many, and resets
// it.
func (c *conn) step(p *prepared, s store.Stmt) (rows []store.Row, err error) {
	var last store.Row
	for {
		switch rc := sqlite3.Xsqlite3_step(c.tls, p.stmt); rc {
		case sqlite3.SQLITE_ROW:
			if s.Size == 0 && !c.fits(p) {
				err = errOver
				break
			}
			row := c.row(p)
			if s.Size > 0 && !c.fitsValue(s, row, last) {
				err = errOver
				break
			}
			rows, last = append(rows, row), row
			continue
		case sqlite3.SQLITE_DONE:
		default:
			err = c.fail(rc)
		}
		sqlite3.Xsqlite3_reset(c.tls, p.stmt) // repeats the error of the step
		return rows, err
	}
}

// errOver says that the rows of a statement were too many for its budget.
var errOver = errors.New("too many bytes of rows")

// fits counts the row that p is at, before it is copied.
func (c *conn) fits(p *prepared) bool {
	if c.budget == nil {
		return true
	}
	n := int64(store.RowBytes + p.columns*store.CellBytes)
	for i := range int32(p.columns) {
		switch sqlite3.Xsqlite3_column_type(c.tls, p.stmt, i) {
		case sqlite3.SQLITE_TEXT, sqlite3.SQLITE_BLOB:
			n += int64(sqlite3.Xsqlite3_column_bytes(c.tls, p.stmt, i))
		}
	}
	return c.budget.Take(n)
}

// fitsValue counts the value that begins with row, which comes after last.
func (c *conn) fitsValue(s store.Stmt, row, last store.Row) bool {
	n := row[s.Size-1].Int()
	switch {
	case n > 0 && last != nil && (s.Of == 0 || last[s.Of-1].Int() == row[s.Of-1].Int()):
		return true
	case n <= 0:
		n = int64(len(row) * store.CellBytes)
		for _, cell := range row {
			n += int64(len(cell.Bytes()))
		}
	}
	return c.budget.Take(store.RowBytes + n)
}

func (c *conn) row(p *prepared) store.Row {
	row := make(store.Row, p.columns)
	for i := range row {
		row[i] = c.cell(p.stmt, int32(i))
	}
	return row
}

// cell copies a column of the row that stmt is at.
func (c *conn) cell(stmt uintptr, i int32) store.Value {
	switch sqlite3.Xsqlite3_column_type(c.tls, stmt, i) {
	case sqlite3.SQLITE_INTEGER:
		return store.Int(sqlite3.Xsqlite3_column_int64(c.tls, stmt, i))
	case sqlite3.SQLITE_FLOAT:
		return store.Float(sqlite3.Xsqlite3_column_double(c.tls, stmt, i))
	case sqlite3.SQLITE_TEXT:
		at := sqlite3.Xsqlite3_column_text(c.tls, stmt, i)
		return store.TextBytes(copied(at, sqlite3.Xsqlite3_column_bytes(c.tls, stmt, i)))
	case sqlite3.SQLITE_BLOB:
		at := sqlite3.Xsqlite3_column_blob(c.tls, stmt, i)
		return store.Bytes(copied(at, sqlite3.Xsqlite3_column_bytes(c.tls, stmt, i)))
	}
	return store.Value{}
}

// copied is a copy of n bytes of SQLite's.
func copied(at uintptr, n int32) []byte {
	out := make([]byte, n)
	copy(out, libc.GoBytes(at, int(n)))
	return out
}

// bind gives a statement its arguments. Text and blobs are copied into the
// arena, where they stay until the next statement; a large one stays where Go has it, on
// the heap, whose objects do not move, and must be kept alive while the statement runs.
func (c *conn) bind(p *prepared, args []store.Value) error {
	if len(args) != p.params {
		return fmt.Errorf("a statement with %d parameters got %d arguments", p.params, len(args))
	}
	need := 1 // an empty blob needs an address, too
	for _, a := range args {
		if n := len(a.Bytes()); n < largeArg {
			need += n
		}
	}
	if need > c.room {
		if err := c.grow(need); err != nil {
			return err
		}
	}
	free := c.arena
	for i, a := range args {
		n, data := int32(i+1), a.Bytes()
		at := free
		if len(data) < largeArg {
			copy(libc.GoBytes(at, len(data)), data)
			free += uintptr(len(data))
		} else {
			at = uintptr(unsafe.Pointer(unsafe.SliceData(data)))
		}
		var rc int32
		switch a.Kind() {
		case store.Integer:
			rc = sqlite3.Xsqlite3_bind_int64(c.tls, p.stmt, n, a.Int())
		case store.Real:
			rc = sqlite3.Xsqlite3_bind_double(c.tls, p.stmt, n, a.Float())
		case store.Text:
			rc = sqlite3.Xsqlite3_bind_text64(c.tls, p.stmt, n, at, uint64(len(data)), 0, sqlite3.SQLITE_UTF8)
		case store.Blob:
			rc = sqlite3.Xsqlite3_bind_blob64(c.tls, p.stmt, n, at, uint64(len(data)), 0)
		default:
			rc = sqlite3.Xsqlite3_bind_null(c.tls, p.stmt, n)
		}
		if rc != sqlite3.SQLITE_OK {
			return c.fail(rc)
		}
	}
	return nil
}

// grow makes the arena anew, with room for n bytes.
func (c *conn) grow(n int) error {
	sqlite3.Xsqlite3_free(c.tls, c.arena)
	c.room = max(n, smallArena)
	if c.arena = sqlite3.Xsqlite3_malloc64(c.tls, uint64(c.room)); c.arena == 0 {
		c.room = 0
		return fmt.Errorf("no memory for arguments of %d bytes", n)
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

// batch runs the statements of b until one is refused. changed reports whether
// something must be rolled back then.
func (c *conn) batch(b store.Batch) (r store.Result, changed bool, err error) {
	r.Rows = make([][]store.Row, len(b.Stmts))
	used := b.Budget.Used()
	c.budget = b.Budget
	defer func() { c.budget = nil }()
	for i, s := range b.Stmts {
		if err := c.visit.over(); err != nil {
			return r, changed, err
		}
		rows, did, err := c.run(s)
		if errors.Is(err, errOver) {
			says := b.Budget.Refusal()
			b.Budget.Back(used)
			return store.Result{Refused: &store.Refusal{At: i, Reason: err.Error(), Reply: &says}}, changed || did, nil
		}
		if err != nil {
			if r.Refused = refusal(err); r.Refused == nil {
				return r, changed, err
			}
			r.Refused.At = i
			return r, changed, nil
		}
		r.Rows[i] = rows
		changed = changed || did
	}
	return r, changed, nil
}

// pointerAt reads a pointer that SQLite has written. The platforms that we build
// for have pointers of 64 bits.
func pointerAt(p uintptr) uintptr { return uintptr(binary.NativeEndian.Uint64(libc.GoBytes(p, 8))) }
