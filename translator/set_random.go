package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

func srandmember(c *Call) Plan {
	switch {
	case len(c.Args) == 2:
		return setLottery.one(c)
	case len(c.Args) > 3:
		return fail(errSyntax)
	}
	count, bad, ok := parseDraws(c.Args[2])
	if !ok {
		return bad
	}
	return setLottery.some(c, count, resp.EmptyArray, func(_ int64, rows []store.Row) Plan { return answer(bulks(rows)) })
}

const sqlPopMember = `DELETE FROM sets WHERE key_id = ` + liveID + ` AND (member, hash) = (` + sqlPickMember + `) RETURNING member`

func spop(c *Call) Plan {
	key := c.Args[1]
	switch {
	case len(c.Args) == 2:
		return write(bulkOf(3), append(c.guarded(c.look(key), key, setType), c.pickOne(sqlPopMember, key), c.shrunk(key), c.emptied(key, 1))...)
	case len(c.Args) > 3:
		return fail(errSyntax)
	}
	count, ok := parseInt(c.Args[2])
	if !ok || count < 0 {
		return fail(errMustBePositive)
	}
	return setLottery.some(c, count, resp.EmptySet, func(size int64, rows []store.Row) Plan {
		if int64(len(rows)) == size {
			return write(always(setOf(rows)), c.drop(key))
		}
		popped := make([][]byte, len(rows))
		for i, row := range rows {
			popped[i] = row[0].Bytes()
		}
		return write(always(setOf(rows)), c.removeMembers(key, popped)...)
	})
}
