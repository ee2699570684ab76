package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	// An entry that is already pending changes to the new consumer.
	sqlPendingAdd = `INSERT INTO stream_pending(key_id, group_name, id, consumer, delivered_at, deliveries)
		SELECT k.id, ?4, unhex(j.value), ?5, ?3, 1 FROM json_each(?6) j, keys k WHERE k.db = ?1 AND k.key = ?2 AND (k.dies_at IS NULL OR k.dies_at > ?3)
		ON CONFLICT(key_id, group_name, id) DO UPDATE SET consumer = excluded.consumer, delivered_at = ?3, deliveries = 1`
	sqlPendingHistory = `SELECT p.id, e.fields FROM stream_pending p LEFT JOIN stream_entries e ON e.key_id = p.key_id AND e.id = p.id
		WHERE p.key_id = ` + liveID + ` AND p.group_name = ?4 AND p.consumer = ?5 AND p.id > ?6 ORDER BY p.id LIMIT ?7`
	sqlPendingAgain = `UPDATE stream_pending SET delivered_at = ?3, deliveries = deliveries + (deliveries < ` + maxDeliveriesText + `)
		WHERE key_id = ` + liveID + ` AND group_name = ?4 AND id IN (SELECT unhex(value) FROM json_each(?5))`
	// sqlPendingIdle reads the entries pending since ?5 or longer, the longest first.
	sqlPendingIdle = `SELECT p.id, e.fields, max(0, p.delivered_at), CAST(p.deliveries AS TEXT)
		FROM stream_pending p JOIN stream_entries e ON e.key_id = p.key_id AND e.id = p.id
		WHERE p.key_id = ` + liveID + ` AND p.group_name = ?4 AND p.delivered_at <= CAST(?5 AS INTEGER) ORDER BY p.delivered_at, p.id LIMIT ?6`
)

// maxDeliveries limits the delivery count. XNACK FATAL sets it.
const (
	maxDeliveries     = math.MaxInt64
	maxDeliveriesText = `9223372036854775807`
)

// xreadgroup reads from each stream either new entries of the group or pending entries of the consumer, and records the
// delivery.
func xreadgroup(c *Call) Plan {
	q, bad := c.parseRead(true)
	if bad != "" {
		return fail(bad)
	}
	var stmts []store.Stmt
	for _, key := range q.keys {
		stmts = append(stmts, c.streamMeta(key), c.readGroup(key, q.name))
	}
	return readThen(func(r *store.Result) Plan {
		deliveries := make([]delivery, len(q.keys))
		for i, key := range q.keys {
			m, bad := metaOf(r.Rows[2*i])
			if bad.IsError() {
				return answer(bad)
			}
			g, exists := groupOf(r.Rows[2*i+1])
			switch {
			case !m.exists || !exists:
				return answer(noKeyOrGroup(key, q.name, " in XREADGROUP with GROUP option"))
			case q.ids[i].bad != "":
				return fail(q.ids[i].bad)
			}
			deliveries[i] = delivery{readQuery: q, key: key, id: q.ids[i], m: m, g: g}
		}
		return c.deliverAll(deliveries, q.budget())
	}, stmts...)
}

// delivery holds the result of XREADGROUP for one stream.
type delivery struct {
	readQuery
	key []byte
	id  readID
	m   streamMeta
	g   streamGroup

	reading int         // the number of statements that read
	claimed []store.Row // pending entries that change consumers
	rows    []store.Row // new entries, or the consumer's pending ones
}

// deliverAll plans the second step of XREADGROUP, after the groups are read.
func (c *Call) deliverAll(deliveries []delivery, left budget) Plan {
	var stmts []store.Stmt
	for i := range deliveries {
		reads := deliveries[i].reads(c)
		deliveries[i].reading = len(reads)
		stmts = append(stmts, reads...)
	}
	return readThen(func(r *store.Result) Plan {
		reply := resp.Value{Kind: streamsKind}
		var writes []store.Stmt
		rows := r.Rows
		for _, d := range deliveries {
			entries, some := d.choose(c, rows[:d.reading], &left, r.Work)
			rows = rows[d.reading:]
			if !some {
				writes = append(writes, c.stmt(sqlConsumerAdd, d.key, store.Bytes(d.name), store.Bytes(d.consumer)))
				continue
			}
			writes = append(writes, d.writes(c)...)
			reply.Elems = append(reply.Elems, resp.MakeBulk(d.key), resp.MakeArray(entries...))
		}
		if len(reply.Elems) == 0 {
			return write(always(resp.NilArray), writes...)
		}
		return write(always(reply), writes...)
	}, stmts...)
}

func (d delivery) reads(c *Call) (stmts []store.Stmt) {
	group := store.Bytes(d.name)
	if !d.id.fresh {
		return []store.Stmt{c.stmt(sqlPendingHistory, d.key, group, store.Bytes(d.consumer), d.id.after.value(), store.Int(d.maxRows()))}
	}
	stmts = []store.Stmt{c.entriesAfter(d.key, d.g.last, d.maxRows())}
	if d.claim >= 0 {
		stmts = append(stmts, c.stmt(sqlPendingIdle, d.key, group, store.Digits(c.Env.Now-d.claim), store.Int(d.maxRows())))
	}
	return stmts
}

// choose selects the entries to deliver from the rows of reads. some reports whether the stream is part of the reply.
func (d *delivery) choose(c *Call, found [][]store.Row, left *budget, w *store.Work) (entries []resp.Value, some bool) {
	d.rows = found[0]
	if len(found) > 1 {
		d.claimed = found[1]
		if d.limit >= 0 {
			d.rows = d.rows[:min(int64(len(d.rows)), d.limit-int64(len(d.claimed)))]
		}
	}
	for _, row := range d.claimed {
		entry := entryReply(row, w)
		entry.Elems = append(entry.Elems, resp.MakeInt(max(0, c.Env.Now-row[2].Int())), resp.MakeInt(row[3].Int()))
		entries = append(entries, entry)
	}
	for _, row := range d.rows {
		entry := entryReply(row, w)
		switch {
		case row[1].IsNull():
			entry.Elems[1] = resp.NilArray // pending, but deleted
		case len(found) > 1:
			entry.Elems = append(entry.Elems, resp.Zero, resp.Zero)
		}
		entries = append(entries, entry)
	}
	nothing := len(entries) == 0
	entries = left.take(d.key, entries)
	d.claimed = d.claimed[:min(len(d.claimed), len(entries))]
	d.rows = d.rows[:len(entries)-len(d.claimed)]
	return entries, len(entries) > 0 || nothing && !d.id.fresh
}

// writes returns the statements that record the delivery.
func (d delivery) writes(c *Call) []store.Stmt {
	group, consumer := store.Bytes(d.name), store.Bytes(d.consumer)
	seen := c.stmt(sqlConsumerAdd, d.key, group, consumer)
	var ids []streamID
	for _, row := range d.rows {
		if !row[1].IsNull() {
			ids = append(ids, streamIDOf(row[0]))
		}
	}
	if !d.id.fresh {
		return []store.Stmt{seen, c.stmt(sqlPendingAgain, d.key, group, streamIDs(ids)), c.touch(d.key)}
	}
	for _, id := range ids {
		d.g.advance(d.m, id)
	}
	pending := !d.noAck && len(ids) > 0
	if pending || len(d.claimed) > 0 {
		seen.SQL = sqlConsumerActive
	}
	stmts := []store.Stmt{seen, c.saveGroup(sqlGroupSet, d.key, d.g), c.touch(d.key)}
	if pending {
		stmts = append(stmts, c.stmt(sqlPendingAdd, d.key, group, consumer, streamIDs(ids)))
	}
	if len(d.claimed) > 0 {
		var list []byte
		for _, row := range d.claimed {
			list = appendClaim(list, streamIDOf(row[0]), countDelivery(row[3].Int()))
		}
		stmts = append(stmts, c.stmt(sqlClaim, d.key, group, consumer, store.Digits(c.Env.Now), store.TextBytes(append(list, ']'))))
	}
	return stmts
}

// countDelivery increments a delivery count.
func countDelivery(deliveries int64) int64 {
	if deliveries < maxDeliveries {
		deliveries++
	}
	return deliveries
}
