package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// LTRIM deletes front elements from the front and back elements from the back; an empty range deletes all. As in Redis,
// it counts as a change even if it deletes nothing.
const (
	trimRange = `WITH range AS (SELECT id, count,
		max(0, iif(CAST(?4 AS INTEGER) < 0, count + CAST(?4 AS INTEGER), CAST(?4 AS INTEGER))) AS first,
		min(count - 1, iif(CAST(?5 AS INTEGER) < 0, count + CAST(?5 AS INTEGER), CAST(?5 AS INTEGER))) AS last
		FROM keys WHERE ` + live + ` AND type = 'list' AND version <> ?6),
	k AS (SELECT id, count, iif(first > last, count, first) AS front, iif(first > last, 0, count - 1 - last) AS back FROM range) `
	sqlLTrim = trimRange + `
	DELETE FROM lists WHERE key_id = (SELECT id FROM k) AND pos IN (
		SELECT * FROM (SELECT pos FROM lists WHERE key_id = (SELECT id FROM k)
			ORDER BY pos LIMIT coalesce((SELECT front FROM k), 0))
		UNION ALL
		SELECT * FROM (SELECT pos FROM lists WHERE key_id = (SELECT id FROM k)
			ORDER BY pos DESC LIMIT coalesce((SELECT back FROM k), 0)))`
	sqlTrimmed = `UPDATE keys SET count = count - changes(), version = version + 1, updated_at = ?3 WHERE db = ?1 AND key = ?2`
)

// If few elements of a long list remain, they move to another id, and the other elements become a pending delete (a row
// in pending_deletes). The key continues with the version ?6, so that sqlLTrim does not trim it again. If no elements remain,
// the key is deleted.
const (
	// anotherID selects an id that neither a key nor a pending delete has.
	anotherID = `max((SELECT max(id) FROM keys), (SELECT max(id) FROM pending_deletes)) + 1`

	fewRemain          = `AND count > ?7 AND count - front - back BETWEEN 1 AND count / 4`
	sqlDeleteListLater = trimRange + `INSERT INTO pending_deletes(id, type) SELECT id, 'list' FROM k WHERE true ` + fewRemain
	deletedLater       = `SELECT id FROM k WHERE id IN (SELECT id FROM pending_deletes)`
	sqlMoveKept        = trimRange + `
	UPDATE lists SET key_id = ` + anotherID + ` WHERE key_id = (` + deletedLater + `) AND pos IN (
		SELECT * FROM (SELECT pos FROM lists WHERE key_id = (` + deletedLater + `) ORDER BY pos
			LIMIT coalesce((SELECT count - front - back FROM k WHERE front <= back), 0) OFFSET coalesce((SELECT front FROM k), 0))
		UNION ALL
		SELECT * FROM (SELECT pos FROM lists WHERE key_id = (` + deletedLater + `) ORDER BY pos DESC
			LIMIT coalesce((SELECT count - front - back FROM k WHERE front > back), 0) OFFSET coalesce((SELECT back FROM k), 0)))`
	sqlSwitchID = `UPDATE keys SET id = ` + anotherID + `, count = changes(), version = ?4, updated_at = ?3
		WHERE ` + live + ` AND id IN (SELECT id FROM pending_deletes)`
	sqlTrimAll = trimRange + `DELETE FROM keys WHERE id = (SELECT id FROM k WHERE count > ?7 AND front + back >= count)`
)

// LongList is the number of elements above which a list or a sorted set is long. The result of a command does not
// depend on it. It is a variable for tests.
var LongList int64 = 2000

// isLongerThan reports whether the key of the first statement has more than n elements.
func isLongerThan(before store.Result, n int64) bool {
	row := liveRow(before.Rows)
	return row != nil && row[rowCount].Int() > n
}

func ltrim(c *Call) Plan {
	key := c.Args[1]
	start, stop, ok := c.intRange(2)
	if !ok {
		return fail(errNotInteger)
	}
	if c.Env.MayStage {
		return c.stageTrim(key, start, stop)
	}
	version, long := c.newVersion(), LongList
	args := c.key(key, store.Digits(start), store.Digits(stop), version, store.Int(long))
	stmts := c.openExisting(c.readKey(key), key, listType)
	for _, s := range []store.Stmt{
		{SQL: sqlTrimAll, Args: args}, {SQL: sqlDeleteListLater, Args: args}, {SQL: sqlMoveKept, Args: args[:6]}, c.stmt(sqlSwitchID, key, version),
	} {
		s.SkipIf = func(before store.Result) bool { return !isLongerThan(before, long) }
		stmts = append(stmts, s)
	}
	return write(always(resp.OK), append(stmts,
		store.Stmt{SQL: sqlLTrim, Args: args[:6]}, c.stmt(sqlTrimmed, key), c.dropEmpty(key))...)
}

const sqlFirstStays = `SELECT pos - 1 FROM lists WHERE key_id = ` + liveID + ` ORDER BY pos LIMIT 1 OFFSET ?4`

// stageTrim plans a staged LTRIM.
func (c *Call) stageTrim(key []byte, start, stop int64) Plan {
	return c.planRemoval(key, listType, func(from store.Row, size int64) Plan {
		first, last := ranks(start, stop, size)
		stay := last - first + 1
		if stay < 1 || !worthStaging(size, size-stay, stay) {
			return c.inPlace()
		}
		return readThen(func(r *store.Result) Plan {
			kept := allRows(from)
			kept[0].at, kept[0].rows = r.Rows[0][0], stay
			return c.stageRemoval(key, from, resp.OK, kept, nil)
		}, c.stmt(sqlFirstStays, key, store.Int(first)))
	})
}

// stageListPop plans a staged removal of up to count elements from an end: the reply is read first.
func (c *Call) stageListPop(key []byte, e end, count int64, reply func(popped resp.Value) resp.Value) Plan {
	return c.planRemoval(key, listType, func(from store.Row, size int64) Plan {
		n := min(count, size)
		stay, first := size-n, int64(0)
		if e == head {
			first = n
		}
		if stay > 0 && !worthStaging(size, n, stay) {
			return c.inPlace()
		}
		return readThen(func(r *store.Result) Plan {
			v := reply(bulks(r.Rows[0]))
			if stay == 0 {
				return write(always(v), c.drop(key))
			}
			kept := allRows(from)
			kept[0].at, kept[0].rows = r.Rows[1][0], stay
			return c.stageRemoval(key, from, v, kept, nil)
		}, store.Stmt{SQL: sqlReadEnd[e], Args: append(c.list([][]byte{key}), store.Digits(n))}, c.stmt(sqlFirstStays, key, store.Int(first)))
	})
}

// ranks returns the first and the last rank of a range in size elements. The range is empty if first > last. Both are
// at most one outside the elements.
func ranks(start, stop, size int64) (first, last int64) {
	if start < 0 {
		start += size
	}
	if stop < 0 {
		stop += size
	}
	return min(max(0, start), size), max(-1, min(size-1, stop))
}
