package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	sqlStreamRange    = `SELECT id, fields FROM stream_entries WHERE key_id = ` + liveID + ` AND id >= ?4 AND id <= ?5 ORDER BY id LIMIT ?6`
	sqlStreamRevRange = `SELECT id, fields FROM stream_entries WHERE key_id = ` + liveID + ` AND id >= ?4 AND id <= ?5 ORDER BY id DESC LIMIT ?6`
)

// xrange translates XRANGE and XREVRANGE.
func xrange(reverse bool) func(*Call) Plan {
	sql, from, to := sqlStreamRange, 2, 3
	if reverse {
		sql, from, to = sqlStreamRevRange, 3, 2
	}
	return func(c *Call) Plan {
		start, end, bad := parseInterval(c.Args[from], c.Args[to])
		if bad != "" {
			return fail(bad)
		}
		limit := int64(-1)
		for i := 4; i < len(c.Args); i += 2 {
			var ok bool
			if i+1 >= len(c.Args) || !c.is(i, "COUNT") {
				return fail(errSyntax)
			}
			if limit, ok = parseInt(c.Args[i+1]); !ok {
				return fail(errNotInteger)
			}
			limit = max(0, limit)
		}
		return read(checkType(streamType, resp.EmptyArray, func(r *store.Result) resp.Value {
			if limit == 0 {
				return resp.NilArray
			}
			return entryReplies(r.Rows[1], r.Work)
		}), c.typeOf(c.Args[1]), c.stmt(sql, c.Args[1], start.value(), end.value(), store.Int(min(limit, maxCount))))
	}
}
