package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	// sqlEntryRefs reads for each id whether the entry exists, whether it is pending in the group ?5, and whether
	// another group still needs it.
	sqlEntryRefs = `SELECT e.id,
		EXISTS (SELECT 1 FROM stream_entries s WHERE s.key_id = e.key_id AND s.id = e.id),
		EXISTS (SELECT 1 FROM stream_pending p WHERE p.key_id = e.key_id AND p.group_name = ?5 AND p.id = e.id),
		EXISTS (SELECT 1 FROM stream_groups g WHERE g.key_id = e.key_id AND (g.last_id < e.id OR g.name IS NOT ?5 AND EXISTS (
			SELECT 1 FROM stream_pending p WHERE p.key_id = g.key_id AND p.group_name = g.name AND p.id = e.id)))
		FROM (SELECT j.id AS n, unhex(j.value) AS id, ` + liveID + ` AS key_id FROM json_each(?4) j) e ORDER BY e.n`
	sqlRefsDrop = trimPending + `SELECT unhex(value) FROM json_each(?4))`

	sqlTouchStreamIfChanged = sqlTouch + ` AND changes() > 0`
)

// XDELEX and XACKDEL reply with a verdict for each id.
type verdict int64

const (
	refMissing verdict = -1
	refDeleted verdict = 1
	refAwaited verdict = 2
)

func (v verdict) reply() resp.Value { return resp.MakeInt(int64(v)) }

// idList holds "[KEEPREF|DELREF|ACKED] IDS numids id [id ...]".
type idList struct {
	refs  refs
	words [][]byte
}

// parseIDList parses the options from argument i on. The last IDS wins.
func (c *Call) parseIDList(i int) (l idList, bad string) {
	for ; i < len(c.Args); i++ {
		switch {
		case c.is(i, "IDS") && i+1 < len(c.Args):
			n, ok := parseInt(c.Args[i+1])
			switch {
			case !ok || n < 1:
				return l, "ERR Number of IDs must be a positive integer"
			case n > int64(len(c.Args)-i-2):
				return l, "ERR The `numids` parameter must match the number of arguments"
			}
			l.words = c.Args[i+2 : i+2+int(n)]
			i += 1 + int(n)
		case l.refs == 0 && c.refsAt(i) != 0:
			l.refs = c.refsAt(i)
		default:
			return l, errSyntax
		}
	}
	return l, ""
}

// xdelex translates XDELEX and, with ack, XACKDEL, which first acknowledges in a group. Errors in the IDs are reported
// after a missing stream or group.
func xdelex(ack bool) func(*Call) Plan {
	return func(c *Call) Plan {
		key, name, group, first := c.Args[1], []byte(nil), store.Value{}, 2
		if ack {
			name, group, first = c.Args[2], store.Bytes(c.Args[2]), 3
		}
		l, bad := c.parseIDList(first)
		if bad != "" {
			err := resp.MakeError(bad)
			return c.failTyped(key, streamType, err, err)
		}
		ids, ok := parseStreamIDs(l.words)
		return readThen(func(r *store.Result) Plan {
			m, wrong := metaOf(r.Rows[0])
			_, exists := groupOf(r.Rows[1])
			switch {
			case wrong.IsError():
				return answer(wrong)
			case !m.exists || ack && !exists:
				return answer(repeated(refMissing.reply(), len(l.words)))
			case !ok:
				return fail(errStreamID)
			}
			return l.delete(c, key, group, m, r.Rows[2])
		}, c.streamMeta(key), c.readGroup(key, name), c.stmt(sqlEntryRefs, key, streamIDs(ids), group))
	}
}

// delete plans the deletion from the rows of sqlEntryRefs. With a group it considers only entries pending there,
// whether or not they still exist.
func (l idList) delete(c *Call, key []byte, group store.Value, m streamMeta, rows []store.Row) Plan {
	reply := resp.Value{Kind: resp.Array}
	var entries, pending []streamID
	done := map[streamID]bool{}
	for _, row := range rows {
		id := streamIDOf(row[0])
		exists, own, awaited := row[1].Int() > 0 && !done[id], row[2].Int() > 0 && !done[id], row[3].Int() > 0
		v := l.judge(!group.IsNull(), exists, own, awaited)
		if v == refDeleted && exists {
			entries = append(entries, id)
			if id.compare(m.deleted) > 0 {
				m.deleted = id
			}
		}
		if own || group.IsNull() && l.refs == dropRefs {
			pending = append(pending, id)
		}
		done[id] = done[id] || own || v == refDeleted
		reply.Elems = append(reply.Elems, v.reply())
	}
	stmts := l.dropPending(c, key, group, pending)
	if len(entries) > 0 {
		stmts = append(append(stmts, c.dropEntries(key, entries)...), c.saveStream(key, m))
	}
	if len(stmts) == 0 {
		return answer(reply)
	}
	return write(always(reply), stmts...)
}

// judge returns the verdict on an entry, which may exist, be pending in the group (own), or in any group (awaited).
func (l idList) judge(inGroup, exists, own, awaited bool) verdict {
	switch {
	case inGroup && !own:
		return refMissing
	case l.refs == ackedOnly && awaited:
		return refAwaited
	case !inGroup && !exists:
		return refMissing
	}
	return refDeleted
}

// dropPending returns the statements that remove entries from the pending ones of the group, or of all groups.
func (l idList) dropPending(c *Call, key []byte, group store.Value, ids []streamID) []store.Stmt {
	if len(ids) == 0 {
		return nil
	}
	drop := c.stmt(sqlPendingAck, key, group, streamIDs(ids))
	if l.refs == dropRefs {
		drop = c.stmt(sqlRefsDrop, key, streamIDs(ids))
	}
	return []store.Stmt{drop, c.stmt(sqlTouchStreamIfChanged, key)}
}
