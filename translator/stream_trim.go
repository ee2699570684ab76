package translator

import "github.com/meowdis/meowdis/store"

// refs says what becomes of the pending entries of an entry that is deleted.
type refs int

const (
	keepRefs  refs = 1 + iota // they stay, without an entry; 0 means the same
	dropRefs                  // they go too
	ackedOnly                 // the entry stays while a group has not read and acknowledged it
)

// refsAt is what KEEPREF, DELREF or ACKED at i means, 0 for another word.
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

// awaited is a condition of an entry e: a group has not read it yet, or it is
// pending there.
const awaited = `EXISTS (SELECT 1 FROM stream_groups g WHERE g.key_id = e.key_id AND (g.last_id < e.id OR EXISTS (
	SELECT 1 FROM stream_pending p WHERE p.key_id = g.key_id AND p.group_name = g.name AND p.id = e.id)))`

// Trimming deletes the oldest entries: as many as are too many, at most ?5, in
// multiples of ?6 unless that is all of them.
const (
	candidates = `SELECT id FROM stream_entries e WHERE key_id = ` + liveID

	asManyAsTooMany = ` ORDER BY id
		LIMIT (SELECT iif(CAST(?4 AS INTEGER) = 0 AND count <= CAST(?5 AS INTEGER), count,
			min(max(0, count - CAST(?4 AS INTEGER)), CAST(?5 AS INTEGER)) / CAST(?6 AS INTEGER) * CAST(?6 AS INTEGER)) FROM keys WHERE ` + live + `)`
	asManyAsBefore = ` AND id < ?4 ORDER BY id
		LIMIT (SELECT iif(count(*) = (SELECT count FROM keys WHERE ` + live + `) AND count(*) <= CAST(?5 AS INTEGER), count(*),
			min(count(*), CAST(?5 AS INTEGER)) / CAST(?6 AS INTEGER) * CAST(?6 AS INTEGER))
			FROM stream_entries WHERE key_id = ` + liveID + ` AND id < ?4)`

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

// nodeEntries is how many entries Redis keeps in a node by default. Trimming
// with ~ deletes whole nodes only, unless it has to look at references.
const nodeEntries = 100

// trimStmts deletes what the options ask for; the last one returns how many.
func (c *Call) trimStmts(key []byte, o addOptions) []store.Stmt {
	most, unit := int64(maxCount), int64(1)
	if o.approx && o.limit > 0 {
		most = o.limit
	}
	if o.approx && (o.refs == 0 || o.refs == keepRefs) {
		unit = nodeEntries
	}
	plain, acked, pending := sqlTrimLength, sqlTrimLengthAcked, sqlTrimLengthPending
	args := []store.Value{store.Digits(o.maxLen), store.Int(most), store.Int(unit)}
	if o.trim == 'i' {
		plain, acked, pending = sqlTrimID, sqlTrimIDAcked, sqlTrimIDPending
		args[0] = o.minID.value()
	}
	switch o.refs {
	case dropRefs:
		return []store.Stmt{c.stmt(pending, key, args...), c.stmt(plain, key, args...), c.shrunk(key)}
	case ackedOnly:
		plain = acked
	}
	return []store.Stmt{c.stmt(plain, key, args...), c.shrunk(key)}
}

// maxCount is more rows than there are, and exact as a double.
const maxCount = 1 << 52
