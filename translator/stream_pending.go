package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	sqlPendingEnds = `SELECT count(*), min(id), max(id)` + pendingOfGroup
	sqlPendingBy   = `SELECT consumer, count(*)` + pendingOfGroup + ` AND consumer IS NOT NULL GROUP BY consumer ORDER BY consumer`

	pendingColumns     = `SELECT id, consumer, delivered_at, CAST(deliveries AS TEXT)` + pendingOfGroup
	sqlPendingRange    = pendingColumns + ` AND id >= ?5 AND id <= ?6 AND delivered_at <= ?7 ORDER BY id LIMIT ?8`
	sqlPendingRangeOne = pendingColumns + ` AND id >= ?5 AND id <= ?6 AND delivered_at <= ?7 AND consumer = ?9 ORDER BY id LIMIT ?8`
)

// pendingQuery holds the arguments of XPENDING's long form.
type pendingQuery struct {
	minIdle    int64
	start, end streamID
	limit      int64
	one        bool // only pending entries of consumer
	consumer   []byte
}

func (c *Call) parsePending() (q pendingQuery, bad string) {
	if len(c.Args) < 6 || len(c.Args) > 9 {
		return q, errSyntax
	}
	i := 3
	var ok bool
	if c.is(i, "IDLE") {
		if q.minIdle, ok = parseInt(c.Args[4]); !ok {
			return q, errNotInteger
		}
		if len(c.Args) < 8 {
			return q, errSyntax
		}
		i += 2
	}
	if q.limit, ok = parseInt(c.Args[i+2]); !ok {
		return q, errNotInteger
	}
	q.limit = min(max(q.limit, 0), maxCount)
	if q.start, q.end, bad = parseInterval(c.Args[i], c.Args[i+1]); bad != "" {
		return q, bad
	}
	if len(c.Args) > i+3 {
		q.one, q.consumer = true, c.Args[i+3]
	}
	return q, ""
}

func xpending(c *Call) Plan {
	key, name := c.Args[1], c.Args[2]
	group := store.Bytes(name)
	stmts := []store.Stmt{c.streamMeta(key), c.readGroup(key, name)}
	decode := pendingSummary
	if len(c.Args) > 3 {
		q, bad := c.parsePending()
		if bad != "" {
			return fail(bad)
		}
		args := []store.Value{group, q.start.value(), q.end.value(), store.Digits(c.Env.Now - max(q.minIdle, 0)), store.Int(q.limit)}
		if !q.one {
			stmts = append(stmts, c.stmt(sqlPendingRange, key, args...))
		} else {
			stmts = append(stmts, c.stmt(sqlPendingRangeOne, key, append(args, store.Bytes(q.consumer))...))
		}
		decode = c.pendingRange
	} else {
		stmts = append(stmts, c.stmt(sqlPendingEnds, key, group), c.stmt(sqlPendingBy, key, group))
	}
	return read(func(r *store.Result) resp.Value {
		m, bad := metaOf(r.Rows[0])
		if bad.IsError() {
			return bad
		}
		if _, exists := groupOf(r.Rows[1]); !m.exists || !exists {
			return noKeyOrGroup(key, name, "")
		}
		return decode(r.Rows[2:])
	}, stmts...)
}

func pendingSummary(rows [][]store.Row) resp.Value {
	ends := rows[0][0]
	if ends[0].Int() == 0 {
		return resp.MakeArray(resp.Zero, resp.Nil, resp.Nil, resp.NilArray)
	}
	by := resp.Value{Kind: resp.Array}
	for _, row := range rows[1] {
		by.Elems = append(by.Elems, resp.MakeArray(bulk(row[0]), resp.MakeString(resp.FormatInt(row[1].Int()))))
	}
	return resp.MakeArray(resp.MakeInt(ends[0].Int()), streamIDOf(ends[1]).reply(), streamIDOf(ends[2]).reply(), by)
}

func (c *Call) pendingRange(rows [][]store.Row) resp.Value {
	v := resp.Value{Kind: resp.Array}
	for _, row := range rows[0] {
		idle := max(0, c.Env.Now-row[2].Int())
		if row[1].IsNull() {
			idle = -1
		}
		v.Elems = append(v.Elems, resp.MakeArray(streamIDOf(row[0]).reply(), owner(row[1]), resp.MakeInt(idle), resp.MakeInt(row[3].Int())))
	}
	return v
}
