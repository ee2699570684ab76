package local

import (
	"errors"
	"fmt"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/local/otherformats"
)

// Virtual tables show a foreign file in our tables. SQLite asks for the rows that meet some constraints, and a
// virtual table answers with a SELECT on the same connection, hence in the same snapshot. Views would be enough
// for reading, but not for lookups: SQLite would not know that a key in bytes equals the key that the file
// stores as text, and would read every row.
//
// SQLite calls the functions below by address, and passes addresses of its own structures. These lie in
// SQLite's memory; after each structure follows the handle of the Go value.

// virtual presents a foreign table on a connection.
type virtual struct {
	base    uintptr // a Tsqlite3_vtab, with this handle and the slot for prepared statements
	conn    *conn
	table   *otherformats.Table
	plans   []*virtualPlan
	byQuery map[string]int  // index of plans
	lazy    map[int]uintptr // prepared statements of lazy columns
}

// virtualPlan holds a plan and its idle statements.
type virtualPlan struct {
	otherformats.Plan
	idle []uintptr
}

// cursor is one scan of a virtual table.
type cursor struct {
	of   *virtual
	plan *virtualPlan
	stmt uintptr
	end  bool
}

const (
	virtualModule = "foreign_table"

	vtabSize   = unsafe.Sizeof(sqlite3.Tsqlite3_vtab{})
	cursorSize = unsafe.Sizeof(sqlite3.Tsqlite3_vtab_cursor{})
	wordSize   = unsafe.Sizeof(uintptr(0))
)

// allocHandle allocates size bytes, a word for the handle of value, and more bytes, all zero. It returns 0 if memory
// is exhausted. The caller frees it with release.
func allocHandle(tls *libc.TLS, size uintptr, value any, more uintptr) uintptr {
	p := libc.Xcalloc(tls, 1, libc.Tsize_t(size+wordSize+more))
	if p != 0 {
		*at[uintptr](p + size) = newHandle(value)
	}
	return p
}

// freeHandle frees the memory that keep allocated.
func freeHandle(tls *libc.TLS, p, size uintptr) {
	dropHandle(*at[uintptr](p + size))
	libc.Xfree(tls, p)
}

func virtualAt(p uintptr) *virtual { return handled[*virtual](*at[uintptr](p + vtabSize)) }

func cursorAt(p uintptr) *cursor { return handled[*cursor](*at[uintptr](p + cursorSize)) }

// stmtSlot returns the address where SQLite stores a statement that it prepares for the table.
func (v *virtual) stmtSlot() uintptr { return v.base + vtabSize + wordSize }

// overlay shows our tables instead of the tables of the file.
func (c *conn) overlay(tables []otherformats.Table) error {
	module, err := libc.Xmalloc(c.tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_module{}))), error(nil)
	if module == 0 {
		return errors.New("out of memory for a module")
	}
	c.module = module
	*at[sqlite3.Tsqlite3_module](module) = sqlite3.Tsqlite3_module{
		FxCreate:     address(virtualConnect),
		FxConnect:    address(virtualConnect),
		FxBestIndex:  address(virtualBestIndex),
		FxDisconnect: address(virtualDisconnect),
		FxDestroy:    address(virtualDisconnect),
		FxOpen:       address(virtualOpen),
		FxClose:      address(virtualClose),
		FxFilter:     address(virtualFilter),
		FxNext:       address(virtualNext),
		FxEof:        address(virtualEOF),
		FxColumn:     address(virtualColumn),
		FxRowid:      address(virtualRowid),
	}
	rc, err := withCString(c, virtualModule, func(name uintptr) int32 {
		return sqlite3.Xsqlite3_create_module_v2(c.tls, c.db, name, module, c.handle, 0)
	})
	if err == nil && rc != sqlite3.SQLITE_OK {
		err = c.fail(rc)
	}
	if err != nil {
		return fmt.Errorf("showing a foreign file: %w", err)
	}
	for i := range tables {
		c.connecting = &tables[i]
		if err := c.script("CREATE VIRTUAL TABLE temp." + tables[i].Name + " USING " + virtualModule); err != nil {
			return err
		}
	}
	return nil
}

// at converts an address that SQLite passes around to a pointer.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// address returns the address of a declared function, for calls from transpiled C.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// each returns element i of the array at p.
func each[T any](p uintptr, i int32) *T {
	var t T
	return at[T](p + uintptr(i)*unsafe.Sizeof(t))
}

func virtualConnect(tls *libc.TLS, db, aux uintptr, _ int32, _, out, _ uintptr) int32 {
	c := handled[*conn](aux)
	v := &virtual{conn: c, table: c.connecting, byQuery: map[string]int{}, lazy: map[int]uintptr{}}
	rc, err := withCString(c, v.table.Declaration(), func(p uintptr) int32 { return sqlite3.Xsqlite3_declare_vtab(tls, db, p) })
	if err != nil {
		return sqlite3.SQLITE_NOMEM
	}
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	if v.base = allocHandle(tls, vtabSize, v, wordSize); v.base == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	*at[uintptr](out) = v.base
	return sqlite3.SQLITE_OK
}

// virtualDisconnect finalizes the statements; the connection frees the rest.
func virtualDisconnect(tls *libc.TLS, vtab uintptr) int32 {
	v := virtualAt(vtab)
	for _, p := range v.plans {
		for _, stmt := range p.idle {
			sqlite3.Xsqlite3_finalize(tls, stmt)
		}
		p.idle = nil
	}
	for _, stmt := range v.lazy {
		sqlite3.Xsqlite3_finalize(tls, stmt)
	}
	freeHandle(tls, vtab, vtabSize)
	return sqlite3.SQLITE_OK
}

var virtualOps = map[uint8]otherformats.Op{
	sqlite3.SQLITE_INDEX_CONSTRAINT_EQ:     otherformats.Equal,
	sqlite3.SQLITE_INDEX_CONSTRAINT_GT:     otherformats.Greater,
	sqlite3.SQLITE_INDEX_CONSTRAINT_GE:     otherformats.GreaterEqual,
	sqlite3.SQLITE_INDEX_CONSTRAINT_LT:     otherformats.Less,
	sqlite3.SQLITE_INDEX_CONSTRAINT_LE:     otherformats.LessEqual,
	sqlite3.SQLITE_INDEX_CONSTRAINT_LIMIT:  otherformats.Limit,
	sqlite3.SQLITE_INDEX_CONSTRAINT_OFFSET: otherformats.Offset,
}

// virtualBestIndex plans a read for the given constraints and estimates its cost.
func virtualBestIndex(_ *libc.TLS, vtab, pinfo uintptr) int32 {
	v, info := virtualAt(vtab), at[sqlite3.Tsqlite3_index_info](pinfo)
	var constraints []otherformats.Constraint
	for i := range info.FnConstraint {
		c := each[sqlite3.Tsqlite3_index_constraint](info.FaConstraint, i)
		op, known := virtualOps[c.Fop]
		if c.Fusable == 0 || !known || op < otherformats.Limit && c.FiColumn < 0 {
			constraints = append(constraints, otherformats.Constraint{Op: otherformats.Other})
		} else {
			constraints = append(constraints, otherformats.Constraint{Column: int(c.FiColumn), Op: op})
		}
	}
	var order []otherformats.Order
	for i := range info.FnOrderBy {
		o := each[sqlite3.Tsqlite3_index_orderby](info.FaOrderBy, i)
		order = append(order, otherformats.Order{Column: int(o.FiColumn), Descending: o.Fdesc != 0})
	}
	plan := v.table.Plan(constraints, order, info.FcolUsed)
	for i, taken := range plan.Taken {
		usage := each[sqlite3.Tsqlite3_index_constraint_usage](info.FaConstraintUsage, int32(taken))
		usage.FargvIndex, usage.Fomit = int32(i+1), 1
	}
	if plan.Ordered && len(order) > 0 {
		info.ForderByConsumed = 1
	}
	info.FestimatedRows, info.FestimatedCost = sqlite3.Tsqlite3_int64(plan.Rows), plan.Cost
	info.FidxNum = int32(v.addPlan(plan))
	return sqlite3.SQLITE_OK
}

// addPlan stores a plan and returns its number.
func (v *virtual) addPlan(plan otherformats.Plan) int {
	query := plan.SQL + fmt.Sprint(plan.Args, plan.Forms)
	n, known := v.byQuery[query]
	if !known {
		n = len(v.plans)
		v.byQuery[query] = n
		v.plans = append(v.plans, &virtualPlan{Plan: plan})
	}
	return n
}

func virtualOpen(tls *libc.TLS, vtab, out uintptr) int32 {
	v := virtualAt(vtab)
	cur := &cursor{of: v}
	p := allocHandle(tls, cursorSize, cur, 0)
	if p == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	*at[uintptr](out) = p
	return sqlite3.SQLITE_OK
}

func virtualClose(tls *libc.TLS, p uintptr) int32 {
	cur := cursorAt(p)
	cur.release(tls)
	freeHandle(tls, p, cursorSize)
	return sqlite3.SQLITE_OK
}

// release ends a scan and keeps its statement for the next one.
func (cur *cursor) release(tls *libc.TLS) {
	if cur.stmt != 0 {
		sqlite3.Xsqlite3_reset(tls, cur.stmt)
		cur.plan.idle = append(cur.plan.idle, cur.stmt)
		cur.stmt = 0
	}
}

func virtualFilter(tls *libc.TLS, p uintptr, number int32, _ uintptr, _ int32, argv uintptr) int32 {
	cur := cursorAt(p)
	cur.release(tls)
	cur.plan = cur.of.plans[number]
	if n := len(cur.plan.idle); n > 0 {
		cur.stmt, cur.plan.idle = cur.plan.idle[n-1], cur.plan.idle[:n-1]
	} else {
		stmt, err := cur.of.prepare(cur.plan.SQL)
		if err != nil {
			return cur.of.fail(err)
		}
		cur.stmt = stmt
	}
	if rc := cur.bind(tls, argv); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return virtualNext(tls, p)
}

// prepare compiles a statement beside the running one.
func (v *virtual) prepare(sql string) (uintptr, error) {
	rc, err := withCString(v.conn, sql, func(p uintptr) int32 {
		return sqlite3.Xsqlite3_prepare_v3(v.conn.tls, v.conn.db, p, -1, sqlite3.SQLITE_PREPARE_PERSISTENT, v.stmtSlot(), 0)
	})
	if err == nil && rc != sqlite3.SQLITE_OK {
		err = fmt.Errorf("preparing %q: %w", sql, v.conn.fail(rc))
	}
	return *at[uintptr](v.stmtSlot()), err
}

// fail makes err the error of the statement that reads the table.
func (v *virtual) fail(err error) int32 {
	msg := err.Error()
	if p := sqlite3.Xsqlite3_malloc64(v.conn.tls, uint64(len(msg)+1)); p != 0 {
		copy(libc.GoBytes(p, len(msg)+1), msg+"\x00")
		at[sqlite3.Tsqlite3_vtab](v.base).FzErrMsg = p
	}
	return sqlite3.SQLITE_ERROR
}

func virtualNext(tls *libc.TLS, p uintptr) int32 {
	cur := cursorAt(p)
	switch rc := sqlite3.Xsqlite3_step(tls, cur.stmt); rc {
	case sqlite3.SQLITE_ROW:
		cur.end = false
	case sqlite3.SQLITE_DONE:
		cur.end = true
	default:
		return rc
	}
	return sqlite3.SQLITE_OK
}

func virtualEOF(_ *libc.TLS, p uintptr) int32 {
	if cursorAt(p).end {
		return 1
	}
	return 0
}

// virtualRowid returns the row id, the column after the table's columns.
func virtualRowid(tls *libc.TLS, p, out uintptr) int32 {
	cur := cursorAt(p)
	*at[int64](out) = sqlite3.Xsqlite3_column_int64(tls, cur.stmt, int32(len(cur.of.table.Columns)))
	return sqlite3.SQLITE_OK
}
