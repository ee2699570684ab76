package translator

import (
	"math"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	sqlGuardIndex = `INSERT INTO guard SELECT NULL FROM keys WHERE ` + live + `
		AND NOT CAST(?4 AS INTEGER) BETWEEN -count AND count - 1`
	sqlLSet = sqlAt + `UPDATE lists SET value = ?5 WHERE key_id = (SELECT id FROM k) AND pos = ` + sqlPosAt
)

var indexRange = resp.MakeError(errIndexRange)

func lset(c *Call) Plan {
	key := c.Args[1]
	index, ok := parseInt(c.Args[2])
	if !ok {
		return c.failTyped(key, listType, noSuchKey, notInteger)
	}
	at := store.Digits(index)
	inside := c.stmt(sqlGuardIndex, key, at)
	inside.Refused = &indexRange
	return write(always(resp.OK), c.guardPresent(key, &noSuchKey), c.guardType(key, listType), inside,
		c.stmt(sqlLSet, key, at, store.Bytes(c.Args[3])), c.touch(key))
}

// LREM deletes up to ?5 occurrences of ?4 from one end; -1 means all.
const deletePlaces = `DELETE FROM lists WHERE key_id = ` + liveID + ` AND pos IN (`

var (
	sqlOccurs = [...]string{
		head: `SELECT pos FROM lists WHERE key_id = ` + liveID + ` AND value = ?4 ORDER BY pos LIMIT CAST(?5 AS INTEGER)`,
		tail: `SELECT pos FROM lists WHERE key_id = ` + liveID + ` AND value = ?4 ORDER BY pos DESC LIMIT CAST(?5 AS INTEGER)`,
	}
	sqlLRem = [...]string{head: deletePlaces + sqlOccurs[head] + `)`, tail: deletePlaces + sqlOccurs[tail] + `)`}
)

func lrem(c *Call) Plan {
	key := c.Args[1]
	count, ok := parseInt(c.Args[2])
	if !ok {
		return fail(errNotInteger)
	}
	from := head
	switch {
	case count == math.MinInt64:
		return fail(errNoNegation)
	case count == 0:
		count = -1
	case count < 0:
		from, count = tail, -count
	}
	if c.Env.MayStage {
		return c.stageLRem(key, from, store.Bytes(c.Args[3]), store.Digits(count))
	}
	return write(changed(2), c.purge(key), c.guardType(key, listType),
		c.stmt(sqlLRem[from], key, store.Bytes(c.Args[3]), store.Digits(count)),
		c.countRemoved(key), c.dropEmpty(key))
}

const sqlDeletePlaces = deletePlaces + `SELECT value FROM json_each(?4))`

// stageLRem plans a staged LREM, which examines all elements without blocking other writers.
func (c *Call) stageLRem(key []byte, end end, args ...store.Value) Plan {
	return c.planRemoval(key, listType, func(from store.Row, _ int64) Plan {
		return readThen(func(r *store.Result) Plan {
			gone := r.Rows[0]
			return removeRows(c, key, from, gone, resp.MakeInt(int64(len(gone))), func(c *Call, key []byte, some []store.Row) []store.Stmt {
				return []store.Stmt{c.stmt(sqlDeletePlaces, key, places(some)), c.countRemoved(key)}
			})
		}, c.stmt(sqlOccurs[end], key, args...))
	})
}

// places returns the first cells of the rows, which are integers, as a JSON argument.
func places(rows []store.Row) store.Value {
	list := []byte{'['}
	for i, row := range rows {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, row[0].Int(), 10)
	}
	return store.TextBytes(append(list, ']'))
}
