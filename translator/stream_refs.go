package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	// Of each id: whether there is the entry, whether it is pending in the group
	// ?5, whether a group awaits it otherwise, and whether there are groups.
	sqlEntryRefs = `SELECT e.id,
		EXISTS (SELECT 1 FROM stream_entries s WHERE s.key_id = e.key_id AND s.id = e.id),
		EXISTS (SELECT 1 FROM stream_pending p WHERE p.key_id = e.key_id AND p.group_name = ?5 AND p.id = e.id),
		EXISTS (SELECT 1 FROM stream_groups g WHERE g.key_id = e.key_id AND (g.last_id < e.id OR g.name IS NOT ?5 AND EXISTS (
			SELECT 1 FROM stream_pending p WHERE p.key_id = g.key_id AND p.group_name = g.name AND p.id = e.id))),
		EXISTS (SELECT 1 FROM stream_groups g WHERE g.key_id = e.key_id)
		FROM (SELECT j.id AS n, unhex(j.value) AS id, ` + liveID + ` AS key_id FROM json_each(?4) j) e ORDER BY e.n`
	sqlRefsDrop = trimPending + `SELECT unhex(value) FROM json_each(?4))`

	sqlTouchedStream = sqlTouched + ` AND changes() > 0`
)

// The answers of XDELEX and XACKDEL for an id.
var (
	refMissing = resp.MakeInt(-1)
	refDeleted = resp.One
	refAwaited = resp.MakeInt(2)
)

// idList is "[KEEPREF|DELREF|ACKED] IDS numids id [id ...]", and what XNACK takes
// beside the ids.
type idList struct {
	refs    refs
	ids     []streamID
	retries int64 // -1 when not given
	force   bool
}

// parseIDList reads the options from argument i on, those of XNACK if nack.
func (c *Call) parseIDList(i int, nack bool) (l idList, bad string) {
	l.retries = -1
	for ; i < len(c.Args); i++ {
		more := len(c.Args) - 1 - i
		switch {
		case l.ids == nil && c.is(i, "IDS") && more > 0:
			n, ok := parseInt(c.Args[i+1])
			switch {
			case !ok || n < 1:
				return l, "ERR Number of IDs must be a positive integer"
			case n > int64(more-1):
				return l, "ERR The `numids` parameter must match the number of arguments"
			}
			if l.ids, ok = parseStreamIDs(c.Args[i+2 : i+2+int(n)]); !ok {
				return l, errStreamID
			}
			i += 1 + int(n)
		case !nack && l.refs == 0 && c.refsAt(i) != 0:
			l.refs = c.refsAt(i)
		case nack && c.is(i, "RETRYCOUNT") && more > 0:
			i++
			var ok bool
			if l.retries, ok = parseInt(c.Args[i]); !ok {
				return l, errNotInteger
			}
			if l.retries < 0 {
				return l, "ERR RETRYCOUNT must not be negative"
			}
		case nack && c.is(i, "FORCE"):
			l.force = true
		default:
			return l, errSyntax
		}
	}
	if l.ids == nil {
		return l, errSyntax
	}
	return l, ""
}

// xdelex is XDELEX and, with acknowledgement in a group first, XACKDEL.
func xdelex(ack bool) func(*Call) Plan {
	return func(c *Call) Plan {
		key, group, first := c.Args[1], store.Value{}, 2
		if ack {
			group, first = store.Bytes(c.Args[2]), 3
		}
		l, bad := c.parseIDList(first, false)
		if bad != "" {
			return fail(bad)
		}
		return readThen(func(r *store.Result) Plan {
			m, bad := metaOf(r.Rows[0])
			if bad.IsError() {
				return answer(bad)
			}
			return l.delete(c, key, group, m, r.Rows[1])
		}, c.streamMeta(key), c.stmt(sqlEntryRefs, key, streamIDs(l.ids), group))
	}
}

// delete judges the rows of sqlEntryRefs, and plans what follows. With a group,
// only what is pending there is of interest.
func (l idList) delete(c *Call, key []byte, group store.Value, m streamMeta, rows []store.Row) Plan {
	reply := resp.Value{Kind: resp.Array}
	var entries, pending []streamID
	done := map[streamID]bool{}
	for _, row := range rows {
		id := streamIDOf(row[0])
		exists, own, others, groups := row[1].Int() > 0, row[2].Int() > 0, row[3].Int() > 0, row[4].Int() > 0
		verdict := refDeleted
		switch {
		case done[id] || !exists || !group.IsNull() && !own:
			verdict = refMissing
		case l.refs == ackedOnly && (others || !groups):
			verdict = refAwaited
		default:
			entries = append(entries, id)
			if id.compare(m.deleted) > 0 {
				m.deleted = id
			}
		}
		if own || group.IsNull() || l.refs == dropRefs && !exists {
			pending = append(pending, id)
			done[id] = true
		}
		reply.Elems = append(reply.Elems, verdict)
	}
	var stmts []store.Stmt
	switch {
	case l.refs == dropRefs && len(pending) > 0:
		stmts = append(stmts, c.stmt(sqlRefsDrop, key, streamIDs(pending)), c.stmt(sqlTouchedStream, key))
	case !group.IsNull() && len(pending) > 0:
		stmts = append(stmts, c.stmt(sqlPendingAck, key, group, streamIDs(pending)), c.stmt(sqlTouchedStream, key))
	}
	if len(entries) > 0 {
		stmts = append(stmts, c.stmt(sqlStreamDrop, key, streamIDs(entries)), c.shrunk(key), c.saveStream(key, m))
	}
	if len(stmts) == 0 {
		return answer(reply)
	}
	return write(always(reply), stmts...)
}
