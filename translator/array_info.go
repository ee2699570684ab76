package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Redis stores an array in slices of 4096 indexes. This schema has no slices; sqlSlices counts the slices that would
// have a value, with one seek for each.
const (
	sliceSize = 4096
	sqlSlices = `WITH RECURSIVE s(pos) AS (SELECT min(pos) FROM arrays WHERE key_id = ` + liveID + `
		UNION ALL SELECT (SELECT min(pos) FROM arrays WHERE key_id = ` + liveID + ` AND pos > (s.pos | 4095)) FROM s WHERE s.pos IS NOT NULL)
		SELECT count(pos) FROM s`
)

// arinfo describes every slice as sparse, since a value is a row.
func arinfo(c *Call) Plan {
	full := len(c.Args) == 3 && c.is(2, "FULL")
	if len(c.Args) > 2 && !full {
		return fail(errSyntax)
	}
	key := c.Args[1]
	return read(func(r *store.Result) resp.Value {
		a, bad := arrayOf(r.Rows[0])
		switch {
		case bad.IsError():
			return bad
		case len(r.Rows[0]) == 0:
			return noSuchKey
		}
		next := a.next
		if next == endOfArray {
			next = 0
		}
		slices := firstInt(r, 1)
		reply := resp.MakeMap(
			resp.MakeString("count"), resp.MakeInt(a.count),
			resp.MakeString("len"), indexReply(a.length),
			resp.MakeString("next-insert-index"), indexReply(next),
			resp.MakeString("slices"), resp.MakeInt(slices),
			resp.MakeString("directory-size"), resp.MakeInt(slices),
			resp.MakeString("super-dir-entries"), resp.Zero,
			resp.MakeString("slice-size"), resp.MakeInt(sliceSize))
		if full {
			reply.Elems = append(reply.Elems,
				resp.MakeString("dense-slices"), resp.Zero,
				resp.MakeString("sparse-slices"), resp.MakeInt(slices),
				resp.MakeString("avg-dense-size"), resp.MakeDouble(0),
				resp.MakeString("avg-dense-fill"), resp.MakeDouble(0),
				resp.MakeString("avg-sparse-size"), resp.MakeDouble(float64(a.count)/float64(slices)))
		}
		return reply
	}, c.stmt(sqlArray, key), c.stmt(sqlSlices, key))
}
