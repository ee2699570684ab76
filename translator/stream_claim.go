package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	// sqlClaimOf reads for each id whether it is pending and since when, and its entry.
	sqlClaimOf = `SELECT unhex(j.value), p.delivered_at, CAST(p.deliveries AS TEXT), e.fields FROM json_each(?5) j
		LEFT JOIN stream_pending p ON p.key_id = ` + liveID + ` AND p.group_name = ?4 AND p.id = unhex(j.value)
		LEFT JOIN stream_entries e ON e.key_id = ` + liveID + ` AND e.id = unhex(j.value) ORDER BY j.id`
	// sqlClaimFrom reads the same for the pending entries from ?5 on.
	sqlClaimFrom = `SELECT p.id, p.delivered_at, CAST(p.deliveries AS TEXT), e.fields FROM stream_pending p
		LEFT JOIN stream_entries e ON e.key_id = p.key_id AND e.id = p.id
		WHERE p.key_id = ` + liveID + ` AND p.group_name = ?4 AND p.id >= ?5 ORDER BY p.id LIMIT ?6`
	sqlClaim = `INSERT INTO stream_pending(key_id, group_name, id, consumer, delivered_at, deliveries)
		SELECT k.id, ?4, unhex(j.value ->> 0), ?5, CAST(?6 AS INTEGER), CAST(j.value ->> 1 AS INTEGER)
		FROM json_each(?7) j, keys k WHERE k.db = ?1 AND k.key = ?2 AND (k.dies_at IS NULL OR k.dies_at > ?3)
		ON CONFLICT(key_id, group_name, id) DO UPDATE SET consumer = excluded.consumer,
			delivered_at = excluded.delivered_at, deliveries = excluded.deliveries`
)

// claim holds the arguments of XCLAIM and XAUTOCLAIM.
type claim struct {
	minIdle   int64
	delivered int64 // the new delivery time
	retries   int64 // the new delivery count, -1 to add one
	force     bool
	justID    bool
	last      streamID
}

// claimed collects the result.
type claimed struct {
	list    []byte // the JSON argument of sqlClaim
	replies []resp.Value
	gone    []streamID // pending, but deleted from the stream
	seen    map[streamID]pendingEntry
}

// pendingEntry holds a group's state of a delivered entry.
type pendingEntry struct {
	pending    bool
	delivered  int64
	deliveries int64
}

// consider decides whether to claim the row of sqlClaimOf or sqlClaimFrom. An id may repeat.
func (cl claim) consider(now int64, row store.Row, out *claimed, w *store.Work) {
	w.Step(stepsPerField)
	id, exists := streamIDOf(row[0]), !row[3].IsNull()
	p, again := out.seen[id]
	if !again {
		p = pendingEntry{!row[1].IsNull(), row[1].Int(), row[2].Int()}
	}
	switch {
	case !exists:
		if p.pending {
			out.gone = append(out.gone, id)
			out.remember(id, pendingEntry{})
		}
		return
	case !p.pending && !cl.force:
		return
	case p.pending && cl.minIdle > 0 && now-p.delivered < cl.minIdle:
		return
	}
	if !p.pending {
		p.deliveries = 1 // as a new NACK in Redis, before the increment
	}
	switch {
	case cl.retries >= 0:
		p.deliveries = cl.retries
	case !cl.justID:
		p.deliveries = countDelivery(p.deliveries)
	}
	out.remember(id, pendingEntry{true, cl.delivered, p.deliveries})
	out.list = appendClaim(out.list, id, p.deliveries)
	if cl.justID {
		out.replies = append(out.replies, id.reply())
	} else {
		out.replies = append(out.replies, resp.MakeArray(id.reply(), unpackFields(row[3].Bytes(), w)))
	}
}

func (out *claimed) remember(id streamID, p pendingEntry) {
	if out.seen == nil {
		out.seen = map[streamID]pendingEntry{}
	}
	out.seen[id] = p
}

func appendClaim(list []byte, id streamID, deliveries int64) []byte {
	sep := byte(',')
	if len(list) == 0 {
		sep = '['
	}
	list = appendHex(append(list, sep, '['), id.bytes())
	list = append(append(list, ','), resp.FormatInt(deliveries)...)
	return append(list, ']')
}

// stmts returns the statements that store the result.
func (cl claim) stmts(c *Call, key, group, consumer []byte, g streamGroup, out claimed) []store.Stmt {
	stmts := []store.Stmt{c.stmt(sqlConsumerAdd, key, store.Bytes(group), store.Bytes(consumer)), c.touch(key)}
	if len(out.gone) > 0 {
		stmts = append(stmts, c.stmt(sqlPendingAck, key, store.Bytes(group), streamIDs(out.gone)))
	}
	if len(out.list) > 0 {
		stmts[0].SQL = sqlConsumerActive
		stmts = append(stmts, c.stmt(sqlClaim, key, store.Bytes(group), store.Bytes(consumer), store.Digits(cl.delivered), store.TextBytes(append(out.list, ']'))))
	}
	if cl.last.compare(g.last) > 0 {
		g.last = cl.last
		stmts = append(stmts, c.saveGroup(sqlGroupSet, key, g))
	}
	return stmts
}

// withPending plans XCLAIM and XAUTOCLAIM: key, group and consumer are arguments 1 to 3. bad, the error in later
// arguments, is reported after a missing group.
func (c *Call) withPending(bad string, stmt store.Stmt, then func(g streamGroup, rows []store.Row, w *store.Work) Plan) Plan {
	key, name := c.Args[1], c.Args[2]
	return readThen(func(r *store.Result) Plan {
		m, wrong := metaOf(r.Rows[0])
		if wrong.IsError() {
			return answer(wrong)
		}
		g, exists := groupOf(r.Rows[1])
		switch {
		case !m.exists || !exists:
			return answer(noKeyOrGroup(key, name, ""))
		case bad != "":
			return fail(bad)
		}
		return then(g, r.Rows[2], r.Work)
	}, c.streamMeta(key), c.readGroup(key, name), stmt)
}

func xclaim(c *Call) Plan {
	cl, ids, bad := c.parseClaim()
	stmt := c.stmt(sqlClaimOf, c.Args[1], store.Bytes(c.Args[2]), streamIDs(ids))
	return c.withPending(bad, stmt, func(g streamGroup, rows []store.Row, w *store.Work) Plan {
		var out claimed
		for _, row := range rows {
			cl.consider(c.Env.Now, row, &out, w)
		}
		reply := resp.MakeArray(out.replies...)
		return write(always(reply), cl.stmts(c, c.Args[1], c.Args[2], c.Args[3], g, out)...)
	})
}

func (c *Call) parseClaim() (cl claim, ids []streamID, bad string) {
	cl = claim{delivered: c.Env.Now, retries: -1}
	var ok bool
	if cl.minIdle, ok = parseInt(c.Args[4]); !ok {
		return cl, nil, "ERR Invalid min-idle-time argument for XCLAIM"
	}
	i := 5
	for ; i < len(c.Args); i++ {
		id, ok := parseStreamID(c.Args[i], 0)
		if !ok {
			break
		}
		ids = append(ids, id)
	}
	for ; i < len(c.Args); i++ {
		more := i+1 < len(c.Args)
		switch {
		case c.is(i, "FORCE"):
			cl.force = true
		case c.is(i, "JUSTID"):
			cl.justID = true
		case more && c.is(i, "LASTID"):
			i++
			if cl.last, ok = parseStreamID(c.Args[i], 0); !ok {
				return cl, ids, errStreamID
			}
		case more && (c.is(i, "IDLE") || c.is(i, "TIME") || c.is(i, "RETRYCOUNT")):
			if bad = cl.parseNumber(c, i); bad != "" {
				return cl, ids, bad
			}
			i++
		default:
			return cl, ids, "ERR Unrecognized XCLAIM option '" + string(cString(c.Args[i])) + "'"
		}
	}
	if cl.delivered < 0 || cl.delivered > c.Env.Now {
		cl.delivered = c.Env.Now
	}
	return cl, ids, ""
}

// parseNumber parses IDLE, TIME or RETRYCOUNT at i, and the number after it.
func (cl *claim) parseNumber(c *Call, i int) (bad string) {
	n, ok := parseInt(c.Args[i+1])
	if !ok {
		return "ERR Invalid " + upper(c.Args[i]) + " option argument for XCLAIM"
	}
	switch {
	case c.is(i, "IDLE"):
		cl.delivered = c.Env.Now - n
	case c.is(i, "TIME"):
		cl.delivered = n
	default:
		cl.retries = n
	}
	return ""
}

// Redis allocates 16 bytes for each entry that XAUTOCLAIM may find deleted.
const (
	maxAutoclaimCount      = math.MaxInt64 / 16
	maxAutoclaimAllocation = 1 << 43 // beyond the address space of any machine
)

func xautoclaim(c *Call) Plan {
	cl := claim{delivered: c.Env.Now, retries: -1}
	count, start, bad := int64(100), streamID{}, ""
	var ok bool
	if cl.minIdle, ok = parseInt(c.Args[4]); !ok {
		return fail("ERR Invalid min-idle-time argument for XAUTOCLAIM")
	}
	if start, bad = parseEnd(c.Args[5], 0, streamID.next, "ERR invalid start ID for the interval"); bad != "" {
		return fail(bad)
	}
	for i := 6; i < len(c.Args); i++ {
		switch {
		case c.is(i, "JUSTID"):
			cl.justID = true
		case c.is(i, "COUNT") && i+1 < len(c.Args):
			i++
			if count, ok = parseInt(c.Args[i]); !ok || count <= 0 || count > maxAutoclaimCount {
				return fail("ERR COUNT must be > 0")
			}
		default:
			return fail(errSyntax)
		}
	}
	// As in Redis, ten entries are examined for each that may be claimed.
	attempts := min(count, maxCount/10) * 10
	stmt := c.stmt(sqlClaimFrom, c.Args[1], store.Bytes(c.Args[2]), start.value(), store.Int(attempts+1))
	if count >= maxAutoclaimAllocation {
		bad = "ERR Insufficient memory, failed allocating transient memory, COUNT too high."
	}
	return c.withPending(bad, stmt, func(g streamGroup, rows []store.Row, w *store.Work) Plan {
		var out claimed
		cursor := streamID{}
		for i, row := range rows {
			if int64(len(out.replies)+len(out.gone)) == count || int64(i) == attempts {
				cursor = streamIDOf(row[0])
				break
			}
			cl.consider(c.Env.Now, row, &out, w)
		}
		gone := resp.Value{Kind: resp.Array}
		for _, id := range out.gone {
			gone.Elems = append(gone.Elems, id.reply())
		}
		reply := resp.MakeArray(cursor.reply(), resp.MakeArray(out.replies...), gone)
		return write(always(reply), cl.stmts(c, c.Args[1], c.Args[2], c.Args[3], g, out)...)
	})
}
