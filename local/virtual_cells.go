package local

import (
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/local/otherformats"
	"github.com/meowdis/meowdis/store"
)

// transient makes SQLite copy the value.
const transient = ^uintptr(0)

// bind binds SQLite's arguments to the cursor's statement, in the form that the file stores.
func (cur *cursor) bind(tls *libc.TLS, argv uintptr) int32 {
	n := int32(1)
	for i, form := range cur.plan.Args {
		given := *each[uintptr](argv, int32(i))
		if form == otherformats.Plain {
			if rc := sqlite3.Xsqlite3_bind_value(tls, cur.stmt, n, given); rc != sqlite3.SQLITE_OK {
				return rc
			}
			n++
			continue
		}
		for _, v := range form.ToFile(valueAt(tls, given)) {
			if rc := bindValue(tls, cur.stmt, n, v); rc != sqlite3.SQLITE_OK {
				return rc
			}
			n++
		}
	}
	return sqlite3.SQLITE_OK
}

// valueAt copies an SQLite value.
func valueAt(tls *libc.TLS, p uintptr) store.Value {
	switch sqlite3.Xsqlite3_value_type(tls, p) {
	case sqlite3.SQLITE_INTEGER:
		return store.Int(sqlite3.Xsqlite3_value_int64(tls, p))
	case sqlite3.SQLITE_FLOAT:
		return store.Float(sqlite3.Xsqlite3_value_double(tls, p))
	case sqlite3.SQLITE_TEXT:
		at := sqlite3.Xsqlite3_value_text(tls, p)
		return store.TextBytes(copyBytes(at, sqlite3.Xsqlite3_value_bytes(tls, p)))
	case sqlite3.SQLITE_BLOB:
		at := sqlite3.Xsqlite3_value_blob(tls, p)
		return store.Bytes(copyBytes(at, sqlite3.Xsqlite3_value_bytes(tls, p)))
	}
	return store.Value{}
}

// bindValue binds a copy of v.
func bindValue(tls *libc.TLS, stmt uintptr, n int32, v store.Value) int32 {
	switch v.Kind() {
	case store.Integer:
		return sqlite3.Xsqlite3_bind_int64(tls, stmt, n, v.Int())
	case store.Real:
		return sqlite3.Xsqlite3_bind_double(tls, stmt, n, v.Float())
	case store.Null:
		return sqlite3.Xsqlite3_bind_null(tls, stmt, n)
	}
	data := v.Bytes()
	at, err := lend(data)
	if err != nil {
		return sqlite3.SQLITE_NOMEM
	}
	defer libc.Xfree(tls, at)
	if v.Kind() == store.Text {
		return sqlite3.Xsqlite3_bind_text64(tls, stmt, n, at, uint64(len(data)), transient, sqlite3.SQLITE_UTF8)
	}
	return sqlite3.Xsqlite3_bind_blob64(tls, stmt, n, at, uint64(len(data)), transient)
}

// lend copies data to C memory and adds a zero byte, so that empty data has an address, too.
func lend(data []byte) (uintptr, error) { return libc.CString(string(data)) }

// virtualColumn returns a cell of the cursor's current row.
func virtualColumn(tls *libc.TLS, p, ctx uintptr, column int32) int32 {
	cur := cursorAt(p)
	if cur.of.table.Columns[column].Lazy {
		return cur.lazyColumn(tls, ctx, int(column))
	}
	return cur.answer(tls, ctx, cur.stmt, column, cur.plan.Forms[column])
}

// lazyColumn returns a cell that the row's statement does not select.
func (cur *cursor) lazyColumn(tls *libc.TLS, ctx uintptr, column int) int32 {
	stmt, made := cur.of.lazy[column]
	if !made {
		var err error
		if stmt, err = cur.of.prepare(cur.of.table.Lazy(column)); err != nil {
			return cur.of.fail(err)
		}
		cur.of.lazy[column] = stmt
	}
	defer sqlite3.Xsqlite3_reset(tls, stmt)
	sqlite3.Xsqlite3_bind_value(tls, stmt, 1, sqlite3.Xsqlite3_column_value(tls, cur.stmt, 0))
	if rc := sqlite3.Xsqlite3_step(tls, stmt); rc != sqlite3.SQLITE_ROW {
		return rc // the row exists: it is the cursor's current row
	}
	return cur.answer(tls, ctx, stmt, 0, cur.of.table.Columns[column].Form)
}

// answer sets the result of ctx to a column of stmt, converted by form. Most cells need no conversion beyond
// SQLite's own.
func (cur *cursor) answer(tls *libc.TLS, ctx, stmt uintptr, column int32, form otherformats.Form) int32 {
	stored := sqlite3.Xsqlite3_column_type(tls, stmt, column)
	switch {
	case form == otherformats.Plain, form == otherformats.EntryID, form == otherformats.Integer && stored == sqlite3.SQLITE_INTEGER,
		form == otherformats.Real && stored == sqlite3.SQLITE_FLOAT, form == otherformats.Bytes && stored == sqlite3.SQLITE_BLOB:
		sqlite3.Xsqlite3_result_value(tls, ctx, sqlite3.Xsqlite3_column_value(tls, stmt, column))
		return sqlite3.SQLITE_OK
	case form == otherformats.Bytes && stored == sqlite3.SQLITE_TEXT:
		at := sqlite3.Xsqlite3_column_text(tls, stmt, column)
		sqlite3.Xsqlite3_result_blob64(tls, ctx, at, uint64(sqlite3.Xsqlite3_column_bytes(tls, stmt, column)), transient)
		return sqlite3.SQLITE_OK
	}
	v, err := form.FromFile(cur.of.conn.cell(stmt, column, nil))
	if err != nil {
		return cur.of.fail(err)
	}
	switch v.Kind() {
	case store.Integer:
		sqlite3.Xsqlite3_result_int64(tls, ctx, v.Int())
	case store.Real:
		sqlite3.Xsqlite3_result_double(tls, ctx, v.Float())
	case store.Null:
		sqlite3.Xsqlite3_result_null(tls, ctx)
	default:
		at, err := lend(v.Bytes())
		if err != nil {
			return sqlite3.SQLITE_NOMEM
		}
		sqlite3.Xsqlite3_result_blob64(tls, ctx, at, uint64(len(v.Bytes())), transient)
		libc.Xfree(tls, at)
	}
	return sqlite3.SQLITE_OK
}
