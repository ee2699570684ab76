package translator

import "github.com/meowdis/meowdis/store"

// A write to elements reads its key first (statement 0), so that it can skip the statements for rare cases: the purge
// unless the key has expired, and the guard or the upsert unless the key is missing or has another type. A statement
// that also reads an element adds columns.
const (
	keyColumns = `SELECT k.type, k.dies_at <= ?3, k.count, k.volatile`
	whereKey   = ` WHERE k.db = ?1 AND k.key = ?2`
	sqlReadKey = keyColumns + ` FROM keys k` + whereKey
)

// These are the columns of statement 0.
const (
	rowType = iota
	rowExpired
	rowCount
	rowVolatile
	rowExtra
)

func (c *Call) readKey(key []byte) store.Stmt { return c.stmt(sqlReadKey, key) }

// liveRow returns the first row of a live key, nil for a missing or an expired one.
func liveRow(rows [][]store.Row) store.Row {
	if len(rows[0]) == 0 || rows[0][0][rowExpired].Int() != 0 {
		return nil
	}
	return rows[0][0]
}

func isLive(before store.Result) bool { return liveRow(before.Rows) != nil }

// isType reports whether row is a key of the type.
func isType(row store.Row, typ string) bool { return row != nil && string(row[rowType].Bytes()) == typ }

func isNotExpired(before store.Result) bool {
	return len(before.Rows[0]) == 0 || liveRow(before.Rows) != nil
}

// typeSkips holds the conditions to skip statements by the type of the key: ofType for a statement that creates the
// key, ofTypeOrMissing for a guard.
type typeSkips struct{ ofType, ofTypeOrMissing func(store.Result) bool }

func newTypeSkips(typ string) typeSkips {
	return typeSkips{
		func(before store.Result) bool { return isType(liveRow(before.Rows), typ) },
		func(before store.Result) bool { row := liveRow(before.Rows); return row == nil || isType(row, typ) },
	}
}

var skips = map[string]typeSkips{
	setType: newTypeSkips(setType), zsetType: newTypeSkips(zsetType), hashType: newTypeSkips(hashType), listType: newTypeSkips(listType),
}

// openOrCreate returns the first statements of a write that may create the key; keyRead is statement 0.
func (c *Call) openOrCreate(keyRead store.Stmt, key []byte, typ string) []store.Stmt {
	purge, ensure := c.purge(key), c.ensure(key, typ)
	purge.SkipIf, ensure.SkipIf = isNotExpired, skips[typ].ofType
	return append(make([]store.Stmt, 0, 8), keyRead, purge, ensure)
}

// skipsAfterTry holds the conditions to skip statements after a first try: if the try changed a row, or by the read of
// the key after it.
var skipsAfterTry = map[string]typeSkips{setType: newSkipsAfterTry(setType), zsetType: newSkipsAfterTry(zsetType)}

func newSkipsAfterTry(typ string) typeSkips {
	return typeSkips{ofType: orTrySucceeded(skips[typ].ofType), ofTypeOrMissing: orTrySucceeded(skips[typ].ofTypeOrMissing)}
}

func trySucceeded(before store.Result) bool { return before.Changes[0] > 0 }

// orTrySucceeded adapts the condition of a statement whose read of the key is the third statement.
func orTrySucceeded(skip func(store.Result) bool) func(store.Result) bool {
	return func(before store.Result) bool {
		return trySucceeded(before) || skip(store.Result{Rows: before.Rows[2:], Changes: before.Changes[2:]})
	}
}

var isNotExpiredOrTried = orTrySucceeded(isNotExpired)

// tryFirst returns the first statements of a write that adds one element. It does not read the key first: try is enough
// for most keys of the type, and account follows it. If try changed a row, the other statements are skipped. The last
// statement is ensureOne.
func (c *Call) tryFirst(try, account, keyRead store.Stmt, key []byte, typ string) []store.Stmt {
	purge, ensure := c.purge(key), c.ensureOne(key, typ)
	keyRead.SkipIf, purge.SkipIf, ensure.SkipIf = trySucceeded, isNotExpiredOrTried, skipsAfterTry[typ].ofType
	return append(make([]store.Stmt, 0, tryFirstStmts+2), try, account, keyRead, purge, ensure)
}

// tryFirstStmts counts the statements that tryFirst returns.
const tryFirstStmts = 5

// wasCreated reports whether the previous statement changed nothing, or ensureOne has created the key.
func wasCreated(before store.Result) bool { return nothingChanged(before) || isNotLive(before) }

// openExisting returns the first statements of a write that does not create the key; keyRead is statement 0.
func (c *Call) openExisting(keyRead store.Stmt, key []byte, typ string) []store.Stmt {
	purge, guard := c.purge(key), c.guardType(key, typ)
	purge.SkipIf, guard.SkipIf = isNotExpired, skips[typ].ofTypeOrMissing
	return append(make([]store.Stmt, 0, 8), keyRead, purge, guard)
}

// dropIfEmptied is dropEmpty for a write that reads the key first and deletes up to n elements.
func (c *Call) dropIfEmptied(key []byte, n int) store.Stmt {
	s := c.dropEmpty(key)
	if n == 1 {
		s.SkipIf = hasMoreThanOne
	} else {
		s.SkipIf = func(before store.Result) bool { return hasMoreThan(before, int64(n)) }
	}
	return s
}

func hasMoreThanOne(before store.Result) bool { return hasMoreThan(before, 1) }

// hasMoreThan reports whether a key is missing, or has more than n elements and none that expires.
func hasMoreThan(before store.Result, n int64) bool {
	row := liveRow(before.Rows)
	return row == nil || row[rowCount].Int() > n && row[rowVolatile].Int() == 0
}
