package translator

import (
	"math"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

var ringSize = resp.MakeError("ERR invalid ring size")

// A ring remembers its size beside its cursor. Appends go to the cursor modulo
// the size.
const (
	sqlSetCursor = `INSERT INTO array_cursors(key_id, next, ring)
		SELECT id, CAST(?4 AS INTEGER), CAST(?5 AS INTEGER) FROM keys WHERE ` + live + `
		ON CONFLICT DO UPDATE SET next = excluded.next, ring = excluded.ring`
	sqlClearArray = `DELETE FROM arrays WHERE key_id = ` + liveID
)

func arring(c *Call) Plan {
	size, ok := parseUnsigned(c.Args[2])
	if !ok || size == 0 {
		return answer(ringSize)
	}
	key, values := c.Args[1], c.Args[3:]
	return readThen(func(r *store.Result) Plan {
		a, bad := arrayOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case a.reshapes(size):
			return c.reshape(a, size)
		}
		list, last := ringSlots(nil, a.next, size, values)
		stmts := []store.Stmt{c.purge(key), c.upsertKey(key, arrayType)}
		stmts = append(stmts, c.putSlots(key, list)...)
		return write(always(indexReply(last)), append(stmts, c.stmt(sqlSetCursor, key, pos(last+1), pos(size)))...)
	}, c.stmt(sqlArray, key))
}

// reshapes tells whether a ring of the size needs another order of the values:
// when some lie beyond it, or when it is larger than the ring that is there and
// that one's oldest values lie behind its newest.
func (a array) reshapes(size uint64) bool {
	return a.length > size || a.ring != 0 && a.ring < size && a.next != 0 && a.next < a.length
}

// ringSlots appends to list the slots of a ring that values go to, from the
// cursor next on. Those that others of them overwrite are left out. last is the
// index of the last value.
func ringSlots(list slotList, next, size uint64, values [][]byte) (_ slotList, last uint64) {
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

// reshape writes the ring anew: the newest of its values that fit, from index 0
// on, and behind them those of the call.
func (c *Call) reshape(a array, size uint64) Plan {
	key := c.Args[1]
	limit := int64(min(size, math.MaxInt64))
	var reads []store.Stmt
	if a.next > 0 {
		reads = append(reads, c.slots(key, slotRange{0, a.next - 1, true}, limit))
	}
	if a.next <= maxIndex {
		reads = append(reads, c.slots(key, slotRange{a.next, maxIndex, true}, limit))
	}
	return readThen(func(r *store.Result) Plan {
		var kept [][]byte // the newest first
		for _, rows := range r.Rows {
			for _, row := range rows[:min(uint64(len(rows)), size-uint64(len(kept)))] {
				kept = append(kept, row[1].Bytes())
			}
		}
		ring := make([][]byte, 0, len(kept)+len(c.Args)-3)
		for i := range kept {
			ring = append(ring, kept[len(kept)-1-i])
		}
		list, last := ringSlots(nil, 0, size, append(ring, c.Args[3:]...))
		stmts := []store.Stmt{c.upsertKey(key, arrayType), c.stmt(sqlClearArray, key), c.shrunk(key)}
		stmts = append(stmts, c.putSlots(key, list)...)
		return write(always(indexReply(last)), append(stmts, c.stmt(sqlSetCursor, key, pos(last+1), pos(size)))...)
	}, reads...)
}
