package translator

import "github.com/meowdis/meowdis/store"

// refs selects the treatment of pending entries when their entry is deleted.
type refs int

const (
	keepRefs  refs = 1 + iota // they stay, without an entry; 0 means the same
	dropRefs                  // they are deleted
	ackedOnly                 // the entry stays until every group has read and acknowledged it
)

// refsAt returns the value of KEEPREF, DELREF or ACKED at i, 0 for another word.
func (c *Call) refsAt(i int) refs {
	switch {
	case c.is(i, "KEEPREF"):
		return keepRefs
	case c.is(i, "DELREF"):
		return dropRefs
	case c.is(i, "ACKED"):
		return ackedOnly
	}
	return 0
}

// awaited tests an entry e: it is unread by a group, or pending there.
const awaited = `EXISTS (SELECT 1 FROM stream_groups g WHERE g.key_id = e.key_id AND (g.last_id < e.id OR EXISTS (
	SELECT 1 FROM stream_pending p WHERE p.key_id = g.key_id AND p.group_name = g.name AND p.id = e.id)))`

// Trimming deletes the oldest entries, at most ?5: the entries in excess of a length, or before an ID.
const (
	candidates = `SELECT id FROM stream_entries e WHERE key_id = ` + liveID

	asManyAsTooMany = ` ORDER BY id LIMIT (SELECT min(max(0, count - CAST(?4 AS INTEGER)), CAST(?5 AS INTEGER)) FROM keys WHERE ` + live + `)`
	asManyAsBefore  = ` AND id < ?4 ORDER BY id LIMIT CAST(?5 AS INTEGER)`

	trimEntries = `DELETE FROM stream_entries WHERE key_id = ` + liveID + ` AND id IN (`
	trimPending = `DELETE FROM stream_pending WHERE key_id = ` + liveID + ` AND group_name IN (
		SELECT name FROM stream_groups WHERE key_id = ` + liveID + `) AND id IN (`

	sqlTrimLength        = trimEntries + candidates + asManyAsTooMany + `)`
	sqlTrimLengthAcked   = trimEntries + candidates + ` AND NOT ` + awaited + asManyAsTooMany + `)`
	sqlTrimLengthPending = trimPending + candidates + asManyAsTooMany + `)`
	sqlTrimID            = trimEntries + candidates + asManyAsBefore + `)`
	sqlTrimIDAcked       = trimEntries + candidates + ` AND NOT ` + awaited + asManyAsBefore + `)`
	sqlTrimIDPending     = trimPending + candidates + asManyAsBefore + `)`
)

// Whole nodes are deleted first, from the first one on, if they contain only entries to delete, up to ?5 entries in
// total. A node without entries is deleted like the others.
const (
	firstNode = `SELECT k.id AS key_id, s.first_id, s.count AS gone, k.count AS total FROM keys k
		JOIN stream_nodes s ON s.key_id = k.id AND s.first_id = (SELECT min(first_id) FROM stream_nodes WHERE key_id = k.id) WHERE ` + live
	nextNode = ` UNION ALL SELECT s.key_id, s.first_id, g.gone + s.count, g.total FROM goners g
		JOIN stream_nodes s ON s.key_id = g.key_id AND s.first_id = (SELECT min(first_id) FROM stream_nodes WHERE key_id = g.key_id AND first_id > g.first_id)
		WHERE g.gone + s.count <= CAST(?5 AS INTEGER)`
	dropNodes = `DELETE FROM stream_nodes WHERE key_id = ` + liveID + ` AND first_id IN (WITH RECURSIVE goners AS (` +
		firstNode + ` AND s.count <= CAST(?5 AS INTEGER)`

	sqlNodesTooMany = dropNodes + ` AND k.count > CAST(?4 AS INTEGER) AND k.count - s.count >= CAST(?4 AS INTEGER)` +
		nextNode + ` AND g.total - g.gone > CAST(?4 AS INTEGER) AND g.total - g.gone - s.count >= CAST(?4 AS INTEGER)) SELECT first_id FROM goners)`
	sqlNodesBefore = dropNodes + ` AND s.last_id < ?4` + nextNode + ` AND s.last_id < ?4) SELECT first_id FROM goners)`

	// sqlTrimNodes deletes the entries of the deleted nodes.
	sqlTrimNodes = `DELETE FROM stream_entries WHERE key_id = ` + liveID + `
		AND id < ifnull((SELECT min(first_id) FROM stream_nodes WHERE key_id = ` + liveID + `), x'ffffffffffffffffffffffffffffffffff')`

	// recount updates the nodes up to the first entry that was a candidate but was not deleted.
	recount = `UPDATE stream_nodes AS n SET (count, deleted) = (SELECT c, n.deleted + n.count - c FROM (
		SELECT count(*) AS c FROM stream_entries e WHERE e.key_id = n.key_id AND e.id >= n.first_id AND e.id <= n.last_id))
		WHERE key_id = ` + liveID + ` AND first_id <= ifnull((` + candidates
	sqlNodesCount      = recount + ` ORDER BY id LIMIT 1), x'ffffffffffffffffffffffffffffffff')`
	sqlNodesCountAcked = recount + ` AND NOT ` + awaited + ` ORDER BY id LIMIT 1), x'ffffffffffffffffffffffffffffffff')`
	sqlNodesVoid       = `DELETE FROM stream_nodes WHERE key_id = ` + liveID + ` AND count = 0`
)

// trimStmts returns the statements that trim by the options. The statement at index counts deletes the entries.
func (c *Call) trimStmts(key []byte, o addOptions) (stmts []store.Stmt, counts int) {
	most := int64(maxCount)
	if o.approx && o.limit > 0 {
		most = o.limit
	}
	nodes, plain, acked, pending := sqlNodesTooMany, sqlTrimLength, sqlTrimLengthAcked, sqlTrimLengthPending
	args := []store.Value{store.Digits(o.maxLen), store.Int(most)}
	if o.trim == 'i' {
		nodes, plain, acked, pending = sqlNodesBefore, sqlTrimID, sqlTrimIDAcked, sqlTrimIDPending
		args[0] = o.minID.value()
	}
	switch {
	case o.refs == ackedOnly:
		return []store.Stmt{c.stmt(acked, key, args...), c.countRemoved(key), c.stmt(sqlNodesCountAcked, key), c.stmt(sqlNodesVoid, key)}, 0
	case o.refs == dropRefs:
		return []store.Stmt{c.stmt(nodes, key, args...), c.stmt(pending, key, args...), c.stmt(plain, key, args...), c.countRemoved(key), c.stmt(sqlNodesCount, key)}, 2
	case o.approx:
		return []store.Stmt{c.stmt(nodes, key, args...), c.stmt(sqlTrimNodes, key), c.countRemoved(key)}, 1
	}
	return []store.Stmt{c.stmt(nodes, key, args...), c.stmt(plain, key, args...), c.countRemoved(key), c.stmt(sqlNodesCount, key)}, 1
}

// maxCount is greater than any number of rows, and exact as a double.
const maxCount = 1 << 52
