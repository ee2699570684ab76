package translator

import (
	"github.com/meowdis/meowdis/store"
)

// Appends to a ring go to the cursor modulo the size.
const sqlSetCursor = `INSERT INTO array_cursors(key_id, next)
	SELECT id, CAST(?4 AS INTEGER) FROM keys WHERE ` + live + ` ON CONFLICT DO UPDATE SET next = excluded.next`

func arring(c *Call) Plan {
	n, ok := parseInt(c.Args[2])
	switch {
	case !ok:
		return fail("ERR invalid size")
	case n <= 0:
		return fail("ERR size must be positive")
	}
	size, key := uint64(n), c.Args[1]
	return readThen(func(r *store.Result) Plan {
		a, bad := arrayOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case a.reshapes(size):
			return c.reshape(a, size)
		}
		return c.appendRing(c.purge(key), a.next, size)
	}, c.stmt(sqlArray, key))
}

// appendRing runs the statements first and more, and then appends the values of the call at the cursor next.
func (c *Call) appendRing(first store.Stmt, next, size uint64, more ...store.Stmt) Plan {
	key := c.Args[1]
	list, last := ringSlots(next, size, c.Args[3:])
	stmts := append([]store.Stmt{first, c.upsertKey(key, arrayType)}, more...)
	put, _ := c.putSlots(key, list)
	stmts = append(stmts, put...)
	return write(always(indexReply(last)), append(stmts, c.stmt(sqlSetCursor, key, pos(last+1)))...)
}

// reshapes reports whether a ring of the size needs another order of the values: some lie beyond it, or it is larger
// than the array and the newest value is not the last one.
func (a array) reshapes(size uint64) bool {
	return a.length > size || a.length < size && a.next != 0 && a.next < a.length
}

// ringSlots returns the slots for values in a ring, from the cursor next on. It omits values that later values
// overwrite. last is the index of the last value.
func ringSlots(next, size uint64, values [][]byte) (list slotList, last uint64) {
	if last = next % size; last == 0 {
		last = size
	}
	last--
	for i, value := range values {
		if last++; last == size {
			last = 0
		}
		if uint64(len(values)-i) <= size {
			list.add(last, value)
		}
	}
	return list, last
}

// A reshaped ring keeps the values before and including the newest one, back to the first empty slot, and moves them to
// index 0 on. During the move their key_id is negative, which no key has.
const (
	// sqlRun reads whether ?4 has a value, and the first index of the run of values that ends there.
	sqlRun = `SELECT EXISTS (SELECT 1 FROM arrays WHERE key_id = ` + liveID + ` AND pos = ?4),
		(SELECT CAST(pos AS TEXT) FROM arrays a WHERE key_id = ` + liveID + ` AND pos <= ?4
			AND (pos = ` + sqlFirstSlot + ` OR NOT EXISTS (SELECT 1 FROM arrays b WHERE b.key_id = a.key_id AND b.pos = a.pos - 1)) ORDER BY pos DESC LIMIT 1)`
	sqlMoveOutSlots = `UPDATE arrays SET key_id = -key_id, pos = pos - CAST(?4 AS INTEGER) + CAST(?6 AS INTEGER)
		WHERE key_id = ` + liveID + ` AND pos BETWEEN CAST(?4 AS INTEGER) AND CAST(?5 AS INTEGER)`
	sqlClearArray    = `DELETE FROM arrays WHERE key_id = ` + liveID
	sqlMoveBackSlots = `UPDATE arrays SET key_id = -key_id WHERE key_id = -` + liveID
)

// reshape rewrites the ring: the newest of its values that fit, and after them the values of the call.
func (c *Call) reshape(a array, size uint64) Plan {
	key, keep := c.Args[1], min(size, a.length)
	newest := a.length - 1
	if a.next > 0 {
		newest = (a.next - 1) % a.length
	}
	return readThen(func(r *store.Result) Plan {
		kept := runs(r.Rows, newest, a.length-1, keep)
		var next uint64
		var moves []store.Stmt
		for _, run := range kept {
			moves = append(moves, c.stmt(sqlMoveOutSlots, key, pos(run.from), pos(run.to), pos(next)))
			next += run.to - run.from + 1
		}
		moves = append(moves, c.stmt(sqlClearArray, key), c.countRemoved(key), c.stmt(sqlMoveBackSlots, key))
		return c.appendRing(c.purge(key), next, size, moves...)
	}, c.stmt(sqlRun, key, pos(newest)), c.stmt(sqlRun, key, pos(a.length-1)))
}

// runs returns the ranges that a ring keeps, the oldest first. rows are the results of sqlRun for the newest index and
// for the last one.
func runs(rows [][]store.Row, newest, last, keep uint64) (kept []slotRange) {
	if rows[0][0][0].Int() == 0 {
		return nil
	}
	low := indexOf(rows[0][0][1])
	n := min(keep, newest-low+1)
	kept = []slotRange{{from: newest - n + 1, to: newest}}
	if low == 0 && n < keep {
		low = max(indexOf(rows[1][0][1]), newest+1)
		if m := min(keep-n, last-low+1); m > 0 {
			kept = append([]slotRange{{from: last - m + 1, to: last}}, kept...)
		}
	}
	return kept
}
