package local

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

// prepare compiles a statement, or returns the cached one.
func (c *conn) prepare(sql string) (*prepared, error) {
	if p := c.prepared[sql]; p != nil {
		return p, nil
	}
	if len(c.prepared) >= c.mostPrepared || c.preparedText+len(sql) > maxPreparedText {
		c.finalizeAll()
	}
	if c.loading && needsHashIndex(sql) {
		// If this fails, the statement is only slower. After an immutable read, the file must be opened for writing.
		if err := c.buildHashIndex(); isOneOf(err, sqlite3.SQLITE_READONLY) {
			return nil, err
		}
	}
	rc, err := withCString(c, sql, func(p uintptr) int32 {
		return sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, p, -1, sqlite3.SQLITE_PREPARE_PERSISTENT, c.arena, 0)
	})
	if err == nil && rc != sqlite3.SQLITE_OK {
		err = c.fail(rc)
	}
	stmt := pointerAt(c.arena)
	if err == nil && stmt == 0 {
		err = errors.New("no statement")
	}
	if err != nil {
		return nil, withSQL("preparing", sql, err)
	}
	p := &prepared{
		stmt:    stmt,
		params:  int(sqlite3.Xsqlite3_bind_parameter_count(c.tls, stmt)),
		columns: int(sqlite3.Xsqlite3_column_count(c.tls, stmt)),
		writes:  sqlite3.Xsqlite3_stmt_readonly(c.tls, stmt) == 0,
	}
	c.prepared[sql] = p
	c.preparedText += len(sql)
	return p, nil
}

// run executes one statement. changed reports whether it changed any row.
func (c *conn) run(s store.Stmt) (rows []store.Row, changed bool, err error) {
	p, err := c.prepare(s.SQL)
	if err != nil {
		return nil, false, err
	}
	if err := c.bind(p, s.Args); err != nil {
		return nil, false, err
	}
	if heavy(s.Args) {
		rows, err = c.withSmallCache(p, s)
	} else {
		rows, err = c.step(p, s)
	}
	runtime.KeepAlive(s.Args)
	if err != nil {
		err = c.interrupted(err)
	}
	if p.writes {
		before := c.changes
		c.changes = sqlite3.Xsqlite3_total_changes64(c.tls, c.db)
		changed = c.changes != before
	}
	if c.arenaSize > 16*smallArena {
		err = errors.Join(err, c.grow(smallArena))
	}
	return rows, changed, err
}

// runOf runs a statement of b; for a guest it checks the statement first.
func (c *conn) runOf(b *store.Batch, s store.Stmt) (rows []store.Row, changed bool, err error) {
	if !b.Guest {
		return c.run(s)
	}
	if err := c.admitted(s, b.ReadOnly); err != nil {
		return nil, false, err
	}
	rows, changed, err = c.run(s)
	if err != nil && !b.ReadOnly && sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) != 0 {
		err = errRolledBack
	}
	return rows, changed, err
}

// smallCache makes the page cache small, for a statement that would fill it with pages that are not read again:
// from longScan bytes of packed rows on, or with an argument of heavyArg bytes.
const (
	smallCache = "PRAGMA cache_size = -1024"
	longScan   = 1 << 20
)

// The row of an argument of heavyArg bytes would fill the page cache with pages that are not read again.
const heavyArg = 8 << 20

func heavy(args []store.Value) bool {
	return slices.ContainsFunc(args, func(a store.Value) bool { return len(a.Bytes()) >= heavyArg })
}

// withSmallCache runs a bound statement with a small page cache: the row would fill the cache.
func (c *conn) withSmallCache(p *prepared, s store.Stmt) (rows []store.Row, err error) {
	if c.cacheSQL == "" {
		return c.step(p, s)
	}
	if err := c.script(smallCache); err != nil {
		return nil, err
	}
	rows, err = c.step(p, s)
	return rows, errors.Join(err, c.script(c.cacheSQL))
}

// step runs a bound statement to its end, or until its rows exceed the budget, and resets it.
func (c *conn) step(p *prepared, s store.Stmt) (rows []store.Row, err error) {
	mapped := false
	defer func() {
		if mapped {
			c.script(unmapFile)
		}
	}()
	defer sqlite3.Xsqlite3_reset(c.tls, p.stmt) // also if Fold or Pack panics; reset repeats the error of the step
	if s.Fold != nil {
		return nil, c.fold(p, s, &mapped)
	}
	var last store.Row
	var room slabs
	weight := int64(0) // of the rows
	for {
		if more, err := c.next(p); !more {
			return rows, err
		}
		if s.SizeColumn == 0 && !c.fits(p) {
			return rows, errOverBudget
		}
		row := c.row(p, &room)
		if s.SizeColumn > 0 && !c.fitsValue(s, row, last) {
			return rows, errOverBudget
		}
		rows, last = append(rows, row), row
		if s.Pack == nil {
			continue
		}
		if weight += row.Weight(); weight > store.PackFrom {
			return rows, c.pack(p, s.Pack(), rows, weight)
		}
	}
}

// next steps to the next row of p, and reports whether there is one.
func (c *conn) next(p *prepared) (more bool, err error) {
	switch rc := sqlite3.Xsqlite3_step(c.tls, p.stmt); rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, c.fail(rc)
	}
}

// fold passes each row to the function of s.Fold. It maps the file, and sets mapped, once a long scan has begun.
func (c *conn) fold(p *prepared, s store.Stmt, mapped *bool) error {
	take, row, weight := s.Fold(), make(store.Row, p.columns), int64(0)
	for {
		if more, err := c.next(p); !more {
			return err
		}
		c.view(p, row)
		if weight += row.Weight(); weight > longScan && !*mapped && !s.Scattered {
			*mapped = true
			c.script(mapFile) // without a mapping, SQLite reads
		}
		take(row)
	}
}

// pack packs rows of the given weight, and the rows that follow them.
func (c *conn) pack(p *prepared, pack func(store.Row) int64, rows []store.Row, weight int64) (err error) {
	for _, row := range rows {
		c.budget.Charge(pack(row))
	}
	small := false // the page cache
	defer func() {
		if small {
			err = errors.Join(err, c.script(c.cacheSQL))
		}
	}()
	row := make(store.Row, p.columns)
	for {
		if more, err := c.next(p); !more {
			return err
		}
		c.view(p, row)
		n := pack(row)
		if !c.budget.Take(n) {
			return errOverBudget
		}
		if weight += n; weight > longScan && !small && c.cacheSQL != "" {
			small = true
			if err := c.script(smallCache); err != nil {
				return err
			}
		}
	}
}

// A statement that folds more than longScan bytes maps the file: system calls would take most of its time. For fewer
// bytes, and for scattered rows, the mapping and its page faults cost more than reading. The mapping lasts only for that
// statement, because a program other than SQLite that truncates a mapped file would crash the process.
const (
	mapFile   = "PRAGMA mmap_size = 2147418112"
	unmapFile = "PRAGMA mmap_size = 0"
)

// errOverBudget means that the rows of a statement exceed its budget.
var errOverBudget = errors.New("too many bytes of rows")

// fits charges the current row of p to the budget, before it is copied.
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

// fitsValue charges the value that begins with row to the budget. last is the row before it.
func (c *conn) fitsValue(s store.Stmt, row, last store.Row) bool {
	n := row[s.SizeColumn-1].Int()
	switch {
	case n > 0 && last != nil && (s.SizeGroup == 0 || last[s.SizeGroup-1].Int() == row[s.SizeGroup-1].Int()):
		return true
	case n <= 0:
		n = int64(len(row) * store.CellBytes)
		for _, cell := range row {
			n += int64(len(cell.Bytes()))
		}
	}
	return c.budget.Take(store.RowBytes + n)
}

// row copies the current row of p.
func (c *conn) row(p *prepared, room *slabs) store.Row {
	row := room.row(p.columns)
	for i := range row {
		row[i] = c.cell(p.stmt, int32(i), room)
	}
	return row
}

// view fills row with the current row of p without copying blobs. It is valid until the next step.
func (c *conn) view(p *prepared, row store.Row) {
	for i := range row {
		at := int32(i)
		if sqlite3.Xsqlite3_column_type(c.tls, p.stmt, at) == sqlite3.SQLITE_BLOB {
			blob := sqlite3.Xsqlite3_column_blob(c.tls, p.stmt, at)
			row[i] = store.Bytes(libc.GoBytes(blob, int(sqlite3.Xsqlite3_column_bytes(c.tls, p.stmt, at))))
		} else {
			row[i] = c.cell(p.stmt, at, nil)
		}
	}
}

// cell copies column i of the current row of stmt.
func (c *conn) cell(stmt uintptr, i int32, room *slabs) store.Value {
	switch sqlite3.Xsqlite3_column_type(c.tls, stmt, i) {
	case sqlite3.SQLITE_INTEGER:
		return store.Int(sqlite3.Xsqlite3_column_int64(c.tls, stmt, i))
	case sqlite3.SQLITE_FLOAT:
		return store.Float(sqlite3.Xsqlite3_column_double(c.tls, stmt, i))
	case sqlite3.SQLITE_TEXT:
		at := sqlite3.Xsqlite3_column_text(c.tls, stmt, i)
		return store.TextBytes(room.copied(at, sqlite3.Xsqlite3_column_bytes(c.tls, stmt, i)))
	case sqlite3.SQLITE_BLOB:
		at := sqlite3.Xsqlite3_column_blob(c.tls, stmt, i)
		return store.Bytes(room.copied(at, sqlite3.Xsqlite3_column_bytes(c.tls, stmt, i)))
	}
	return store.Value{}
}

// slabs allocates the rows of one statement in a few large pieces. The first row gets an exact allocation,
// since most statements return only one.
type slabs struct {
	cells []store.Value // unused cells
	bytes []byte
	rows  int // so far
}

const (
	slabRows  = 64       // limits the rows of one allocation
	slabBytes = 16 << 10 // bytes of cell data; a value longer than a quarter of it has its own allocation
)

func (s *slabs) row(columns int) store.Row {
	if len(s.cells) < columns {
		s.cells = make([]store.Value, columns*min(max(1, s.rows), slabRows))
	}
	s.rows++
	row := s.cells[:columns:columns]
	s.cells = s.cells[columns:]
	return row
}

// copyBytes returns a copy of n bytes of SQLite's memory.
func copyBytes(at uintptr, n int32) []byte {
	return append(make([]byte, 0, n), libc.GoBytes(at, int(n))...)
}

// copied is like the function copied, but small values share an allocation. s may be nil.
func (s *slabs) copied(at uintptr, n int32) []byte {
	if s == nil || s.rows <= 1 || n == 0 || n > slabBytes/4 {
		return copyBytes(at, n)
	}
	if len(s.bytes) < int(n) {
		s.bytes = make([]byte, max(int(n), min(s.rows*int(n), slabBytes)))
	}
	out := s.bytes[:n:n]
	s.bytes = s.bytes[n:]
	copy(out, libc.GoBytes(at, int(n)))
	return out
}

// bind sets the arguments of a statement. Small text and blobs are copied into the arena, where they stay until
// the next statement. A large one stays on Go's heap, whose objects do not move; the caller keeps it alive
// while the statement runs.
func (c *conn) bind(p *prepared, args []store.Value) error {
	if len(args) != p.params {
		return fmt.Errorf("a statement with %d parameters got %d arguments", p.params, len(args))
	}
	need := 1 // even an empty blob needs an address
	for _, a := range args {
		if n := len(a.Bytes()); n < maxArenaArg {
			need += n
		}
	}
	if need > c.arenaSize {
		if err := c.grow(need); err != nil {
			return err
		}
	}
	free := c.arena
	for i, a := range args {
		n, data := int32(i+1), a.Bytes()
		at := free
		if len(data) < maxArenaArg {
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

// grow replaces the arena by one of at least n bytes.
func (c *conn) grow(n int) error {
	sqlite3.Xsqlite3_free(c.tls, c.arena)
	c.arenaSize = max(n, smallArena)
	if c.arena = sqlite3.Xsqlite3_malloc64(c.tls, uint64(c.arenaSize)); c.arena == 0 {
		c.arenaSize = 0
		return fmt.Errorf("out of memory for arguments of %d bytes", n)
	}
	return nil
}

// After usual consecutive new keys, the next key is expected to be new, too. Every usual-th key checks this
// again.
const newKeyStreak = 32

// mostlyNew reports whether the last Supersedes statements found no row.
func (c *conn) mostlyNew() bool { return c.newKeys >= newKeyStreak && c.newKeys%newKeyStreak != 0 }

// recordFound records whether a Supersedes statement found a row.
func (c *conn) recordFound(it bool) {
	if c.newKeys++; it {
		c.newKeys = 0
	}
}

// batch runs the statements of b until one is refused. changed reports whether the caller must roll something
// back then.
func (c *conn) batch(b store.Batch) (r store.Result, changed bool, err error) {
	r.Rows = make([][]store.Row, len(b.Stmts))
	if !b.ReadOnly {
		c.changedKeys.add(b.Keys)
		r.Changes = make([]int64, len(b.Stmts))
	}
	used := b.Budget.Used()
	c.budget = b.Budget
	defer func() { c.budget = nil }()
	for i, s := range b.Stmts {
		if s.SkipIf != nil && s.SkipIf(store.Result{Rows: r.Rows[:i], Changes: r.Changes[:min(i, len(r.Changes))]}) {
			continue
		}
		if err := c.workLimit.err(); err != nil {
			return r, changed, err
		}
		did, err := c.statement(&b, i, &r)
		if errors.Is(err, errOverBudget) {
			says := b.Budget.Refusal()
			b.Budget.Rewind(used)
			return store.Result{Refused: &store.Refusal{At: i, Reason: err.Error(), Reply: &says}}, changed || did, nil
		}
		if err != nil {
			if r.Refused = refusalIn(&b, err); r.Refused == nil {
				return r, changed, err
			}
			r.Refused.At = i
			return r, changed || did, nil
		}
		changed = changed || did
	}
	return r, changed, nil
}

// refusalIn returns the refusal of a statement of b that failed with err; nil if err fails the whole batch.
func refusalIn(b *store.Batch, err error) *store.Refusal {
	if r := refusal(err); r != nil || !b.Guest {
		return r
	}
	return badStatementRefusal(err)
}

// statement runs statement i of b and stores its result in r. changed is also set if the statement fails.
func (c *conn) statement(b *store.Batch, i int, r *store.Result) (changed bool, err error) {
	s := b.Stmts[i]
	alone := s.Supersedes != "" && c.mostlyNew()
	if alone {
		s.SQL = s.Supersedes // its SkipIf then skips the next statement
	}
	rows, changed, err := c.runOf(b, s)
	if err != nil {
		return changed, err
	}
	if s.Supersedes != "" {
		c.recordFound(changed && !alone)
	}
	r.Rows[i] = rows
	if changed && !b.ReadOnly {
		r.Changes[i] = sqlite3.Xsqlite3_changes64(c.tls, c.db)
	}
	return changed, nil
}
