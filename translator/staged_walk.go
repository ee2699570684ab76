package translator

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// walk iterates over the rows of a key in a table, in the order of the table's key, a few per statement. Its statements
// have ?1 and ?2, the database and the name of the hidden key, ?3, the id of the source key, ?4, the number of rows,
// and from ?5 on the position before the first row.
type walk struct {
	id store.Value
	at []store.Value
}

// newWalk begins a walk over rows with keys of that many columns. All rows are after -Infinity.
func newWalk(id store.Value, columns int) *walk {
	w := &walk{id: id, at: make([]store.Value, columns)}
	for i := range w.at {
		w.at[i] = store.Float(math.Inf(-1))
	}
	return w
}

// args returns the arguments of the walk's statements.
func (w *walk) args(hidden *Call, name []byte, rows int, more ...store.Value) []store.Value {
	args := append(hidden.key(name)[:2], w.id, store.Int(int64(rows)))
	return append(append(args, w.at...), more...)
}

// advance moves to the row that the walk's last statement has read, and reports whether it exists.
func (w *walk) advance(rows []store.Row) bool {
	if len(rows) > 0 {
		w.at = rows[0]
	}
	return len(rows) > 0
}

// rowsAfter returns the SQL for the rows of a table after the walk's position, in order.
func rowsAfter(table string, key []string) string {
	places := make([]string, len(key))
	for i := range key {
		places[i] = "?" + strconv.Itoa(5+i)
	}
	columns := strings.Join(key, ", ")
	return ` FROM ` + table + ` WHERE key_id = ?3 AND (` + columns + `) > (` + strings.Join(places, ", ") + `) ORDER BY ` + columns
}

const (
	hiddenID   = `(SELECT id FROM keys WHERE db = ?1 AND key = ?2)`
	sqlCounted = `UPDATE keys SET count = count + changes() WHERE db = ?1 AND key = ?2`
)

// tableWalk holds the SQL that copies a table.
type tableWalk struct {
	copy, last string
	expiring   string // counts the rows that expire and finds the latest expiry; "" if none can
	columns    int    // of the table's key; 0 if a key has one row
	counted    bool
}

// insertAll begins a statement that adds many rows. If a row fails, the whole batch rolls back, so SQLite need not save
// the pages that the statement changes. For rows in random order, saving them takes half of the time.
const insertAll = `INSERT OR FAIL INTO `

// tableWalks lists the walks of each type.
var tableWalks = sync.OnceValue(func() map[string][]tableWalk {
	all := map[string][]tableWalk{}
	for _, typ := range keytype.Types {
		for _, t := range typ.Tables {
			columns := strings.Join(t.Columns[1:], ", ")
			w := tableWalk{
				copy:    insertAll + t.Name + `(key_id, ` + columns + `) SELECT ` + hiddenID + `, ` + columns,
				columns: len(t.Key), counted: t.Role == keytype.Element,
			}
			if w.columns == 0 {
				w.copy += ` FROM ` + t.Name + ` WHERE key_id = ?3`
			} else {
				rows := rowsAfter(t.Name, t.Key)
				w.copy += rows + ` LIMIT ?4`
				w.last = `SELECT ` + strings.Join(t.Key, ", ") + rows + ` LIMIT 1 OFFSET ?4 - 1`
				if t.Expires != "" {
					w.expiring = `SELECT count(` + t.Expires + `), max(` + t.Expires + `) FROM (SELECT ` + t.Expires + rows + ` LIMIT ?4)`
				}
			}
			all[typ.Name] = append(all[typ.Name], w)
		}
	}
	return all
})

// keyCopy builds the staged copy of a key.
type keyCopy struct {
	hidden   *Call
	name     []byte
	from     store.Row // row of sqlCopied
	tables   []tableWalk
	walk     *walk
	last     int // index of the statement in a slice that reads the next position
	volatile int64
	latest   store.Value
}

// These are the columns of sqlCopied.
const (
	copiedID = iota
	copiedType
	copiedVolatile
	copiedCount
)

const (
	sqlCopied   = `SELECT id, type, volatile, count FROM keys WHERE ` + live
	sqlHideCopy = `INSERT INTO keys(db, key, hash, type, version, count, seq, created_at, updated_at, value)
		SELECT ?1, ?2, ?6, type, ?5, iif(type = 'string', count, 0), seq, ?4, ?4, value FROM keys WHERE id = ?3`
	// The sweep may have lowered volatile for fields that it deleted during the copy.
	sqlAddVolatile = `UPDATE keys SET volatile = volatile + ?3, last_field = iif(volatile + ?3 > 0, ?4, NULL) WHERE db = ?1 AND key = ?2`
)

// next returns the next slice of a copy.
func (k *keyCopy) next(before *store.Result, rows int) (stmts []store.Stmt) {
	switch {
	case before == nil:
		args := append(k.hidden.key(k.name)[:2], k.from[copiedID], store.Int(k.hidden.Env.Now), k.hidden.newVersion(), hashValue(k.name))
		stmts = append(stmts, store.Stmt{SQL: sqlHideCopy, Args: args})
	case k.walk == nil || !k.recordSlice(before):
		k.tables, k.walk = k.tables[1:], nil
	}
	if len(k.tables) == 0 {
		return stmts
	}
	t := k.tables[0]
	if t.columns == 0 {
		return append(stmts, store.Stmt{SQL: t.copy, Args: newWalk(k.from[copiedID], 0).args(k.hidden, k.name, 1)[:3]})
	}
	if k.walk == nil {
		k.walk = newWalk(k.from[copiedID], t.columns)
	}
	args := k.walk.args(k.hidden, k.name, rows)
	stmts = append(stmts, store.Stmt{SQL: t.copy, Args: args})
	if t.counted {
		stmts = append(stmts, store.Stmt{SQL: sqlCounted, Args: args[:2]})
	}
	k.last = len(stmts)
	stmts = append(stmts, store.Stmt{SQL: t.last, Args: args})
	if t.expiring != "" && k.from[copiedVolatile].Int() > 0 {
		stmts = append(stmts, store.Stmt{SQL: t.expiring, Args: args})
	}
	return stmts
}

// recordSlice records the result of a slice, and reports whether the table has more rows.
func (k *keyCopy) recordSlice(before *store.Result) bool {
	if t := k.tables[0]; t.expiring != "" && k.from[copiedVolatile].Int() > 0 {
		row := before.Rows[k.last+1][0]
		k.volatile += row[0].Int()
		if !row[1].IsNull() && row[1].Int() > k.latest.Int() {
			k.latest = row[1]
		}
	}
	return k.walk.advance(before.Rows[k.last])
}

// fieldExpiryStmts returns the statement that sets the expiry of a hash's fields on its row. The hidden key has none,
// so that sweeps ignore its fields.
func (k *keyCopy) fieldExpiryStmts() []store.Stmt {
	if k.volatile == 0 {
		return nil
	}
	return []store.Stmt{k.hidden.addVolatile(k.name, k.volatile, k.latest)}
}

// addVolatile returns the statement that counts fields that expire, latest the last of them.
func (c *Call) addVolatile(key []byte, fields int64, latest store.Value) store.Stmt {
	return store.Stmt{SQL: sqlAddVolatile, Args: append(c.key(key)[:2], store.Int(fields), latest)}
}
