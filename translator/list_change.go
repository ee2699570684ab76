package translator

import (
	"math"

	"github.com/meowdis/meowdis/resp"
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
		c.stmt(sqlLSet, key, at, store.Bytes(c.Args[3])), c.touched(key))
}

// LREM deletes ?5 occurrences of ?4 from one end, all of them for -1.
var sqlLRem = [...]string{
	head: `DELETE FROM lists WHERE key_id = ` + liveID + ` AND pos IN
		(SELECT pos FROM lists WHERE key_id = ` + liveID + ` AND value = ?4 ORDER BY pos LIMIT CAST(?5 AS INTEGER))`,
	tail: `DELETE FROM lists WHERE key_id = ` + liveID + ` AND pos IN
		(SELECT pos FROM lists WHERE key_id = ` + liveID + ` AND value = ?4 ORDER BY pos DESC LIMIT CAST(?5 AS INTEGER))`,
}

func lrem(c *Call) Plan {
	key := c.Args[1]
	count, ok := parseInt(c.Args[2])
	if !ok {
		return fail(errNotInteger)
	}
	from := head
	switch {
	case count == math.MinInt64:
		return fail(errNoTwin)
	case count == 0:
		count = -1
	case count < 0:
		from, count = tail, -count
	}
	return write(changed(2), c.purge(key), c.guardType(key, listType),
		c.stmt(sqlLRem[from], key, store.Bytes(c.Args[3]), store.Digits(count)),
		c.shrunk(key), c.dropEmpty(key))
}
