package translator

import (
	"math"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	sqlStreamRange    = `SELECT id, fields FROM stream_entries WHERE key_id = ` + liveID + ` AND id >= ?4 AND id <= ?5 ORDER BY id LIMIT ?6`
	sqlStreamRevRange = `SELECT id, fields FROM stream_entries WHERE key_id = ` + liveID + ` AND id >= ?4 AND id <= ?5 ORDER BY id DESC LIMIT ?6`
)

// xrange is XRANGE and, from the other end, XREVRANGE.
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
		return read(typed(streamType, resp.EmptyArray, func(r *store.Result) resp.Value {
			if limit == 0 {
				return resp.NilArray
			}
			return entryReplies(r.Rows[1])
		}), c.typeOf(c.Args[1]), c.stmt(sql, c.Args[1], start.value(), end.value(), store.Int(min(limit, maxCount))))
	}
}

// readQuery is what XREAD and XREADGROUP ask for.
type readQuery struct {
	group    bool
	name     []byte // of the group
	consumer []byte
	limit    int64 // entries a stream, -1 for all
	noAck    bool
	keys     [][]byte
	ids      []readID
}

// readID is where to read on: after an id, at the end ($), or what the group has
// not seen (>).
type readID struct {
	after streamID
	end   bool
	fresh bool
}

// parseRead reads the arguments of both commands. BLOCK is accepted: without a
// connection to hold, it waits no time, as inside MULTI.
func (c *Call) parseRead(group bool) (q readQuery, bad string) {
	q.limit = -1
	at := 0 // of the first key
	noAck := false
options:
	for i := 1; i < len(c.Args); i++ {
		more := len(c.Args) - 1 - i
		switch {
		case c.is(i, "BLOCK") && more > 0:
			i++
			if n, ok := parseInt(c.Args[i]); !ok {
				return q, "ERR timeout is not an integer or out of range"
			} else if n < 0 {
				return q, "ERR timeout is negative"
			}
		case c.is(i, "COUNT") && more > 0:
			i++
			n, ok := parseInt(c.Args[i])
			if !ok {
				return q, errNotInteger
			}
			if q.limit = min(n, maxCount); n <= 0 {
				q.limit = -1
			}
		case c.is(i, "STREAMS") && more > 0:
			at = i + 1
			break options
		case c.is(i, "GROUP") && more >= 2:
			if !group {
				return q, "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."
			}
			q.group, q.name, q.consumer = true, c.Args[i+1], c.Args[i+2]
			i += 2
		case c.is(i, "NOACK"):
			if !group {
				return q, "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."
			}
			noAck = true
		default:
			return q, errSyntax
		}
	}
	q.noAck = noAck
	switch n := len(c.Args) - at; {
	case at == 0:
		return q, errSyntax
	case n%2 != 0:
		return q, "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."
	case group && !q.group:
		return q, "ERR Missing GROUP option for XREADGROUP"
	default:
		q.keys = c.Args[at : at+n/2]
	}
	return q, q.parseIDs(c.Args[at+len(q.keys):])
}

func (q *readQuery) parseIDs(words [][]byte) (bad string) {
	for _, w := range words {
		var id readID
		switch string(w) {
		case "$":
			if q.group {
				return "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set."
			}
			id.end = true
		case ">":
			if !q.group {
				return "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option."
			}
			id.fresh = true
		default:
			var ok bool
			if id.after, ok = parseStreamID(w, 0); !ok {
				return errStreamID
			}
		}
		q.ids = append(q.ids, id)
	}
	return ""
}

// entriesAfter reads the entries after an id.
func (c *Call) entriesAfter(key []byte, id streamID, limit int64) store.Stmt {
	start, ok := id.next()
	if !ok {
		limit = 0
	}
	return c.stmt(sqlStreamRange, key, start.value(), streamID{math.MaxUint64, math.MaxUint64}.value(), store.Int(limit))
}

func xread(c *Call) Plan {
	q, bad := c.parseRead(false)
	if bad != "" {
		return fail(bad)
	}
	var stmts []store.Stmt
	for i, key := range q.keys {
		stmts = append(stmts, c.typeOf(key))
		if q.ids[i].end {
			stmts = append(stmts, c.entriesAfter(key, lastStreamID, 0))
		} else {
			stmts = append(stmts, c.entriesAfter(key, q.ids[i].after, q.limit))
		}
	}
	return read(func(r *store.Result) resp.Value {
		reply := resp.Value{Kind: streamsKind}
		for i, key := range q.keys {
			if rows := r.Rows[2*i]; len(rows) > 0 && string(rows[0][0].Bytes()) != streamType {
				return wrongType
			}
			if rows := r.Rows[2*i+1]; len(rows) > 0 {
				reply.Elems = append(reply.Elems, resp.MakeBulk(key), entryReplies(rows))
			}
		}
		if len(reply.Elems) == 0 {
			return resp.NilArray
		}
		return reply
	}, stmts...)
}

// streamsKind is the shape of XREAD's reply: pairs of key and entries, nested in
// RESP2 and a map in RESP3.
const streamsKind = resp.PairMap
