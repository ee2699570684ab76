package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// LINSERT reads the position of the pivot ?4 and the element next to it on the side of the new one. Usually the gap
// between the two has a free position, and the new element takes its middle.
//
// Repeated insertions at one place halve the gap each time. When it is used up, the elements of a window around the
// pivot are spread evenly over the window, with a free position for the new one. Windows are aligned blocks of
// positions, 2^13 wide at first and 8 times as wide in each step. The narrowest window below its limit is chosen; the
// limit is 32 elements at first, and 4 times higher in each step. A wider window thus becomes twice as sparse as
// narrower ones need: before a narrower one overflows again, half of its elements must be new. So the elements moved
// per insertion grow with the number of window sizes, a logarithm, and not with the length of the list. Beyond its ends
// the list has unlimited space, so some window always fits.
var (
	sqlLInsertBefore = sqlPivot + `SELECT type, count, CAST((SELECT pos FROM p) AS TEXT), CAST((SELECT max(pos) FROM lists
		WHERE key_id = k.id AND pos < (SELECT pos FROM p)) AS TEXT) FROM k`
	sqlLInsertAfter = sqlPivot + `SELECT type, count, CAST((SELECT pos FROM p) AS TEXT), CAST((SELECT min(pos) FROM lists
		WHERE key_id = k.id AND pos > (SELECT pos FROM p)) AS TEXT) FROM k`
)

const (
	sqlPivot = `WITH k AS MATERIALIZED (SELECT id, type, count FROM keys WHERE ` + live + `),
		p AS MATERIALIZED (SELECT pos FROM lists WHERE key_id = (SELECT id FROM k) AND value = ?4 ORDER BY pos LIMIT 1) `
	sqlInsertAt = `INSERT INTO lists(key_id, pos, value) SELECT id, CAST(?4 AS INTEGER), ?5 FROM keys WHERE ` + live
)

// gap is sqlGap as a number.
const gap = 65536

// insertion holds an LINSERT and its pivot.
type insertion struct {
	call      *Call
	key, elem []byte
	before    bool
	pivot     int64      // position
	reply     resp.Value // the new length
}

func linsert(c *Call) Plan {
	in := insertion{call: c, key: c.Args[1], elem: c.Args[4], before: c.is(2, "BEFORE")}
	sql := sqlLInsertBefore
	if !in.before {
		if !c.is(2, "AFTER") {
			return fail(errSyntax)
		}
		sql = sqlLInsertAfter
	}
	return readThen(in.place, c.stmt(sql, in.key, store.Bytes(c.Args[3])))
}

// place plans the insertion from the rows about the pivot.
func (in insertion) place(r *store.Result) Plan {
	if len(r.Rows[0]) == 0 {
		return answer(resp.Zero)
	}
	row := r.Rows[0][0]
	switch {
	case string(row[0].Bytes()) != listType:
		return answer(wrongType)
	case row[2].IsNull():
		return answer(resp.MakeInt(-1))
	}
	in.reply = resp.MakeInt(row[1].Int() + 1)
	in.pivot = row[2].Int()
	neighbour := row[3].Int()
	switch {
	case !row[3].IsNull():
	case in.before:
		neighbour = in.pivot - 2*gap
	default:
		neighbour = in.pivot + 2*gap
	}
	if middle := in.pivot + (neighbour-in.pivot)/2; middle != in.pivot {
		return write(always(in.reply), in.insertAt(middle)...)
	}
	return readThen(in.spread, in.call.stmt(sqlWindow, in.key, store.Digits(in.pivot)))
}

func (in insertion) insertAt(pos int64) []store.Stmt {
	return []store.Stmt{
		in.call.stmt(sqlInsertAt, in.key, store.Digits(pos), store.Bytes(in.elem)),
		in.call.countAdded(in.key),
	}
}

// sqlWindow finds the narrowest window around the position ?4 that is sparse enough: its first position, log2 of its
// width, the number of its elements, the number of these before ?4, and the last position of the list.
const sqlWindow = `WITH RECURSIVE
	k AS MATERIALIZED (SELECT id FROM keys WHERE ` + live + `),
	w(bits, room, start, n) AS (
		SELECT 13, 32, CAST(?4 AS INTEGER) & ~8191, (SELECT count(*) FROM lists WHERE key_id = (SELECT id FROM k)
			AND pos BETWEEN CAST(?4 AS INTEGER) & ~8191 AND CAST(?4 AS INTEGER) | 8191)
		UNION ALL
		SELECT bits + 3, room * 4, CAST(?4 AS INTEGER) & ~((8 << bits) - 1),
			(SELECT count(*) FROM lists WHERE key_id = (SELECT id FROM k)
			AND pos BETWEEN CAST(?4 AS INTEGER) & ~((8 << bits) - 1) AND CAST(?4 AS INTEGER) | ((8 << bits) - 1))
		FROM w WHERE n > room)
	SELECT CAST(start AS TEXT), bits, n,
		(SELECT count(*) FROM lists WHERE key_id = (SELECT id FROM k) AND pos >= start AND pos < CAST(?4 AS INTEGER)),
		CAST((SELECT max(pos) FROM lists WHERE key_id = (SELECT id FROM k)) AS TEXT)
	FROM w WHERE n <= room`

// A spread first moves the window's elements beyond the end of the list, since a new position may still be taken. From
// there it moves them evenly into the window, leaving a free position after the first ?7 of them.
const (
	sqlMoveOut = `UPDATE lists SET pos = pos + CAST(?6 AS INTEGER)
		WHERE key_id = ` + liveID + ` AND pos BETWEEN CAST(?4 AS INTEGER) AND CAST(?5 AS INTEGER)`
	sqlMoveBack = `UPDATE lists SET pos = CAST(?4 AS INTEGER) + CAST(?5 AS INTEGER) * (moved.n + (moved.n > ?7))
		FROM (SELECT pos AS at, row_number() OVER (ORDER BY pos) AS n FROM lists
			WHERE key_id = ` + liveID + ` AND pos >= CAST(?6 AS INTEGER)) AS moved
		WHERE key_id = ` + liveID + ` AND pos = moved.at`
)

// spread makes space in the window and inserts there.
func (in insertion) spread(r *store.Result) Plan {
	row := r.Rows[0][0]
	start, bits, n, below, last := row[0].Int(), row[1].Int(), row[2].Int(), row[3].Int(), row[4].Int()
	if !in.before {
		below++
	}
	width := int64(1) << bits
	end := start + width - 1
	out := max(last, end) + 1 - start // moves the window's first position beyond the window and the list
	step := width / (n + 2)
	stmts := []store.Stmt{
		in.call.stmt(sqlMoveOut, in.key, store.Digits(start), store.Digits(end), store.Digits(out)),
		in.call.stmt(sqlMoveBack, in.key, store.Digits(start), store.Digits(step), store.Digits(start+out), store.Int(below)),
	}
	return write(always(in.reply), append(stmts, in.insertAt(start+step*(below+1))...)...)
}
