package translator

import "github.com/meowdis/meowdis/store"

// A write to elements reads its key first (statement 0), so that it can skip the statements for rare cases: the purge
// unless the key has expired, and the guard or the upsert unless the key is missing or has another type. A statement
// that also reads an element adds columns.
const (
	looked  = `SELECT k.type, k.dies_at <= ?3, k.count, k.volatile`
	lookAt  = ` WHERE k.db = ?1 AND k.key = ?2`
	sqlLook = looked + ` FROM keys k` + lookAt
)

// These are the columns of statement 0.
const (
	lookType = iota
	lookDead
	lookCount
	lookVolatile
	lookMore
)

func (c *Call) look(key []byte) store.Stmt { return c.stmt(sqlLook, key) }

// liveRow returns the first row of a live key, nil for a missing or an expired one.
func liveRow(rows [][]store.Row) store.Row {
	if len(rows[0]) == 0 || rows[0][0][lookDead].Int() != 0 {
		return nil
	}
	return rows[0][0]
}

func isThere(before store.Result) bool { return liveRow(before.Rows) != nil }

// isOf reports whether row is a key of the type.
func isOf(row store.Row, typ string) bool { return row != nil && string(row[lookType].Bytes()) == typ }

func isAlive(before store.Result) bool {
	return len(before.Rows[0]) == 0 || liveRow(before.Rows) != nil
}

// ofType holds the conditions to skip statements by the type of the key: there for a statement that creates the key,
// thereOrMissing for a guard.
type ofType struct{ there, thereOrMissing func(store.Result) bool }

func mootFor(typ string) ofType {
	return ofType{
		func(before store.Result) bool { return isOf(liveRow(before.Rows), typ) },
		func(before store.Result) bool { row := liveRow(before.Rows); return row == nil || isOf(row, typ) },
	}
}

var lookedFor = map[string]ofType{
	setType: mootFor(setType), zsetType: mootFor(zsetType), hashType: mootFor(hashType), listType: mootFor(listType),
}

// opened returns the first statements of a write that may create the key; look is statement 0.
func (c *Call) opened(look store.Stmt, key []byte, typ string) []store.Stmt {
	purge, ensure := c.purge(key), c.ensure(key, typ)
	purge.SkipIf, ensure.SkipIf = isAlive, lookedFor[typ].there
	return append(make([]store.Stmt, 0, 8), look, purge, ensure)
}

// triedFor holds the conditions to skip statements after a first try: if the try changed a row, or by the read of the
// key after it.
var triedFor = map[string]ofType{setType: afterTry(setType), zsetType: afterTry(zsetType)}

func afterTry(typ string) ofType {
	return ofType{there: unlessTried(lookedFor[typ].there), thereOrMissing: unlessTried(lookedFor[typ].thereOrMissing)}
}

func hasTried(before store.Result) bool { return before.Changes[0] > 0 }

// unlessTried adapts the condition of a statement whose read of the key is the third statement.
func unlessTried(moot func(store.Result) bool) func(store.Result) bool {
	return func(before store.Result) bool {
		return hasTried(before) || moot(store.Result{Rows: before.Rows[2:], Changes: before.Changes[2:]})
	}
}

var isAliveOrTried = unlessTried(isAlive)

// tried returns the first statements of a write that adds one element. It does not read the key first: try is enough
// for most keys of the type, and account follows it. If try changed a row, the other statements are skipped. The last
// statement is ensureOne.
func (c *Call) tried(try, account, look store.Stmt, key []byte, typ string) []store.Stmt {
	purge, ensure := c.purge(key), c.ensureOne(key, typ)
	look.SkipIf, purge.SkipIf, ensure.SkipIf = hasTried, isAliveOrTried, triedFor[typ].there
	return append(make([]store.Stmt, 0, triedOpening+2), try, account, look, purge, ensure)
}

// triedOpening counts the statements that tried returns.
const triedOpening = 5

// wasMade reports whether the previous statement changed nothing, or ensureOne has created the key.
func wasMade(before store.Result) bool { return nothingChanged(before) || isGone(before) }

// guarded returns the first statements of a write that does not create the key; look is statement 0.
func (c *Call) guarded(look store.Stmt, key []byte, typ string) []store.Stmt {
	purge, guard := c.purge(key), c.guardType(key, typ)
	purge.SkipIf, guard.SkipIf = isAlive, lookedFor[typ].thereOrMissing
	return append(make([]store.Stmt, 0, 8), look, purge, guard)
}

// emptied is dropEmpty for a write that reads the key first and deletes up to n elements.
func (c *Call) emptied(key []byte, n int) store.Stmt {
	s := c.dropEmpty(key)
	if n == 1 {
		s.SkipIf = oneOfMore
	} else {
		s.SkipIf = func(before store.Result) bool { return hasMoreThan(before, int64(n)) }
	}
	return s
}

func oneOfMore(before store.Result) bool { return hasMoreThan(before, 1) }

// hasMoreThan reports whether a key is missing, or has more than n elements and none that expires.
func hasMoreThan(before store.Result, n int64) bool {
	row := liveRow(before.Rows)
	return row == nil || row[lookCount].Int() > n && row[lookVolatile].Int() == 0
}
