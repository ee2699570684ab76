package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// A move gives the row at one end of the source another key_id and a position beyond an end of the destination ?4.
// Source and destination may be the same.
const (
	sqlMoveTo     = `(SELECT id FROM keys WHERE db = ?1 AND key = ?4)`
	sqlMoveToHead = `UPDATE lists SET key_id = ` + sqlMoveTo + `,
		pos = coalesce((SELECT min(pos) FROM lists WHERE key_id = ` + sqlMoveTo + `), 0) - ` + sqlGap
	sqlMoveToTail = `UPDATE lists SET key_id = ` + sqlMoveTo + `,
		pos = coalesce((SELECT max(pos) FROM lists WHERE key_id = ` + sqlMoveTo + `), 0) + ` + sqlGap
	sqlMoveFromHead = ` WHERE key_id = ` + liveID + ` AND pos = (SELECT min(pos) FROM lists WHERE key_id = ` + liveID + `)`
	sqlMoveFromTail = ` WHERE key_id = ` + liveID + ` AND pos = (SELECT max(pos) FROM lists WHERE key_id = ` + liveID + `)`
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
	return c.move(from, to, resp.Nil)
}

// move translates LMOVE, RPOPLPUSH and their blocking forms. A missing source is reported before the destination is
// read. If both are the same key, the shrinking undoes the growth.
func (c *Call) move(from, to end, missing resp.Value) Plan {
	source, destination := c.Args[1], c.Args[2]
	present, guard := c.guardPresent(source, &missing), c.guardType(source, listType)
	present.SkipIf, guard.SkipIf = isLive, skips[listType].ofType
	stmts := append(make([]store.Stmt, 0, 9), c.stmt(sqlReadKeyEnd[from], source), present, guard)
	stmts = append(stmts, c.pushKey(destination, 1, c.purge(destination))...)
	return write(func(r *store.Result) resp.Value { return bulk(liveRow(r.Rows)[rowExtra]) }, append(stmts,
		c.stmt(sqlMove[from][to], source, store.Bytes(destination)),
		c.countRemoved(source), c.dropIfEmptied(source, 1))...)
}

// lmovem reads the elements, cuts them off and pushes them. OBO pushes them in the order of pops; BULK keeps their
// order in the source. The reply lists them in the order of the destination: redis.io/docs/latest/commands/lmovem.
func lmovem(c *Call) Plan {
	from, ok1 := c.endAt(3)
	to, ok2 := c.endAt(4)
	if !ok1 || !ok2 {
		return fail(errSyntax)
	}
	count, exactly, bulk, bad := c.movedCount()
	if bad != "" {
		return fail(bad)
	}
	source, list := c.Args[1], c.list(c.Args[1:2])
	readEnd := store.Stmt{SQL: sqlReadEnd[from], Args: append(list, store.Digits(count))}
	return readThen(func(r *store.Result) Plan {
		moved := make([][]byte, len(r.Rows[1]))
		for i, row := range r.Rows[1] {
			moved[i] = row[0].Bytes()
		}
		switch {
		case len(r.Rows[0]) == 0:
			return answer(resp.Nil)
		case string(r.Rows[0][0][0].Bytes()) != listType:
			return answer(wrongType)
		case exactly && int64(len(moved)) < count:
			return answer(resp.Nil)
		}
		if bulk && from == to {
			slices.Reverse(moved)
		}
		return c.moveAll(from, to, moved)
	}, c.typeOf(source), readEnd)
}

// movedCount parses the arguments of LMOVEM after the ends: the number of elements, whether a source with fewer keeps them
// (EXACTLY), and whether they keep their order (BULK).
func (c *Call) movedCount() (count int64, exactly, bulk bool, bad string) {
	if len(c.Args) == 5 {
		return 1, false, false, ""
	}
	if len(c.Args) != 8 {
		return 0, false, false, errSyntax
	}
	exactly, bulk = c.is(5, "EXACTLY"), c.is(7, "BULK")
	if !exactly && !c.is(5, "COUNT") || !bulk && !c.is(7, "OBO") {
		return 0, false, false, errSyntax
	}
	count, ok := parseInt(c.Args[6])
	if !ok || count <= 0 {
		bad = "ERR count should be greater than 0"
	}
	return count, exactly, bulk, bad
}

// moveAll cuts len(moved) elements off the source and pushes moved onto the destination, in order. An empty source is
// dropped last, since it may be the destination.
func (c *Call) moveAll(from, to end, moved [][]byte) Plan {
	source, destination := c.Args[1], c.Args[2]
	cut := store.Stmt{SQL: sqlCutEnd[from], Args: append(c.list(c.Args[1:2]), store.Digits(int64(len(moved))))}
	landed := make([]resp.Value, len(moved))
	for i, e := range moved {
		landed[i] = resp.MakeBulk(e)
	}
	if to == head {
		slices.Reverse(landed)
	}
	stmts := append([]store.Stmt{cut, c.countRemoved(source)}, c.pushKey(destination, len(moved), c.purge(destination))...)
	stmts = append(append(stmts, c.pushStmts(destination, to, moved)...), c.dropEmpty(source))
	return write(always(resp.MakeArray(landed...)), stmts...)
}
