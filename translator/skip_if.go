package translator

import "github.com/meowdis/meowdis/store"

// A write to elements looks at its key first (statement 0), so that what it needs for the rare
// cases is moot in the others: the purge unless the key has expired, the guard or the upsert
// unless the key is missing or of another type. What looks at an element, too, has further columns.
const (
	looked  = `SELECT k.type, k.dies_at <= ?3, k.count, k.volatile`
	lookAt  = ` WHERE k.db = ?1 AND k.key = ?2`
	sqlLook = looked + ` FROM keys k` + lookAt
)

// The columns of a look.
const (
	lookType = iota
	lookDead
	lookCount
	lookVolatile
	lookMore
)

func (c *Call) look(key []byte) store.Stmt { return c.stmt(sqlLook, key) }

// liveRow is the look's row of a live key, nil for a missing or a dead one.
func liveRow(rows [][]store.Row) store.Row {
	if len(rows[0]) == 0 || rows[0][0][lookDead].Int() != 0 {
		return nil
	}
	return rows[0][0]
}

func isThere(before store.Result) bool { return liveRow(before.Rows) != nil }

// isOf reports whether a key that was found is of the type.
func isOf(row store.Row, typ string) bool { return row != nil && string(row[lookType].Bytes()) == typ }

func isAlive(before store.Result) bool {
	return len(before.Rows[0]) == 0 || liveRow(before.Rows) != nil
}

// ofType are the reports that statements are moot by the type of the key: what makes it, and what
// guards it.
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

// opened begins a write that makes the key, after a look at it.
func (c *Call) opened(look store.Stmt, key []byte, typ string) []store.Stmt {
	purge, ensure := c.purge(key), c.ensure(key, typ)
	purge.SkipIf, ensure.SkipIf = isAlive, lookedFor[typ].there
	return append(make([]store.Stmt, 0, 8), look, purge, ensure)
}

// triedFor are the reports for statements that follow a try: they are moot when that has changed
// something, and otherwise by the look after it.
var triedFor = map[string]ofType{setType: afterTry(setType), zsetType: afterTry(zsetType)}

func afterTry(typ string) ofType {
	return ofType{there: unlessTried(lookedFor[typ].there), thereOrMissing: unlessTried(lookedFor[typ].thereOrMissing)}
}

func hasTried(before store.Result) bool { return before.Changes[0] > 0 }

// unlessTried is moot for a statement whose look is the third one.
func unlessTried(moot func(store.Result) bool) func(store.Result) bool {
	return func(before store.Result) bool {
		return hasTried(before) || moot(store.Result{Rows: before.Rows[2:], Changes: before.Changes[2:]})
	}
}

var isAliveOrTried = unlessTried(isAlive)

// tried begins a write that adds one element, without a look before: try does what there is to do
// for most keys of the type, and account follows it. What follows those is moot when that changed
// something. The last statement is ensureOne.
func (c *Call) tried(try, account, look store.Stmt, key []byte, typ string) []store.Stmt {
	purge, ensure := c.purge(key), c.ensureOne(key, typ)
	look.SkipIf, purge.SkipIf, ensure.SkipIf = hasTried, isAliveOrTried, triedFor[typ].there
	return append(make([]store.Stmt, 0, triedOpening+2), try, account, look, purge, ensure)
}

// triedOpening is how many statements that is.
const triedOpening = 5

// wasMade reports that ensureOne has made the key, or that the statement before has changed nothing.
func wasMade(before store.Result) bool { return nothingChanged(before) || isGone(before) }

// guarded begins a write that does not make the key, after a look at it.
func (c *Call) guarded(look store.Stmt, key []byte, typ string) []store.Stmt {
	purge, guard := c.purge(key), c.guardType(key, typ)
	purge.SkipIf, guard.SkipIf = isAlive, lookedFor[typ].thereOrMissing
	return append(make([]store.Stmt, 0, 8), look, purge, guard)
}

// emptied is dropEmpty for a write with a look, which deletes up to n elements.
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

// hasMoreThan reports that a key has more than n elements that do not expire, or is missing.
func hasMoreThan(before store.Result, n int64) bool {
	row := liveRow(before.Rows)
	return row == nil || row[lookCount].Int() > n && row[lookVolatile].Int() == 0
}
