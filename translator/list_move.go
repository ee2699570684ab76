package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// A move gives the row at one end of the source another key and a position
// beyond an end of the destination ?4. Source and destination may be the same.
const (
	sqlMoveTo     = `(SELECT id FROM keys WHERE db = ?1 AND key = ?4)`
	sqlMoveToHead = `UPDATE lists SET key_id = ` + sqlMoveTo + `,
		pos = coalesce((SELECT min(pos) FROM lists WHERE key_id = ` + sqlMoveTo + `), 0) - ` + sqlGap
	sqlMoveToTail = `UPDATE lists SET key_id = ` + sqlMoveTo + `,
		pos = coalesce((SELECT max(pos) FROM lists WHERE key_id = ` + sqlMoveTo + `), 0) + ` + sqlGap
	sqlMoveFromHead = ` WHERE key_id = ` + liveID + ` AND pos = (SELECT min(pos) FROM lists WHERE key_id = ` + liveID + `) RETURNING value`
	sqlMoveFromTail = ` WHERE key_id = ` + liveID + ` AND pos = (SELECT max(pos) FROM lists WHERE key_id = ` + liveID + `) RETURNING value`
)

var sqlMove = [2][2]string{
	head: {head: sqlMoveToHead + sqlMoveFromHead, tail: sqlMoveToTail + sqlMoveFromHead},
	tail: {head: sqlMoveToHead + sqlMoveFromTail, tail: sqlMoveToTail + sqlMoveFromTail},
}

func lmove(c *Call) Plan {
	from, ok1 := c.endAt(3)
	to, ok2 := c.endAt(4)
	if !ok1 || !ok2 {
		return fail(errSyntax)
	}
	return c.move(c.Args[1], c.Args[2], from, to)
}

// move is LMOVE and RPOPLPUSH. A missing source is nil before the destination is
// looked at. When both are the same key the shrinking undoes the growth.
func (c *Call) move(source, destination []byte, from, to end) Plan {
	return write(bulkOf(4),
		c.guardPresent(source, &resp.Nil), c.guardType(source, listType),
		c.purge(destination), c.pushKey(destination, 1),
		c.stmt(sqlMove[from][to], source, store.Bytes(destination)),
		c.shrunk(source), c.dropEmpty(source))
}
