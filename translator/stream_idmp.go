package translator

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// A stream records the IDs that producers give to their messages (iid), for some seconds and up to a number per
// producer. A message with a recorded ID is not added again.
const (
	idmpDuration = `100`
	idmpMaxSize  = `100`

	// iids added at iidExpired or earlier are forgotten.
	iidExpired = `?3 - 1000 * ifnull((SELECT duration FROM stream_idmp WHERE key_id = ` + liveID + `), ` + idmpDuration + `)`

	sqlIIDFind = `SELECT id FROM stream_iids WHERE key_id = ` + liveID + ` AND producer = ?4 AND iid = ?5 AND added_at > ` + iidExpired
	sqlIIDAdd  = `INSERT INTO stream_iids(key_id, producer, iid, id, added_at) SELECT id, ?4, ?5, ?6, ?3 FROM keys WHERE ` + live
	sqlIIDAge  = `DELETE FROM stream_iids WHERE key_id = ` + liveID + ` AND added_at <= ` + iidExpired
	sqlIIDSize = `DELETE FROM stream_iids WHERE key_id = ` + liveID + ` AND producer = ?4 AND id IN (
		SELECT id FROM stream_iids WHERE key_id = ` + liveID + ` AND producer = ?4 ORDER BY id DESC
		LIMIT -1 OFFSET (SELECT maxsize FROM stream_idmp WHERE key_id = ` + liveID + `))`
	sqlIIDClear = `DELETE FROM stream_iids WHERE key_id = ` + liveID

	sqlIDMPAdded = `INSERT INTO stream_idmp(key_id, duration, maxsize, added) SELECT id, ` + idmpDuration + `, ` + idmpMaxSize + `, 1 FROM keys WHERE ` + live + `
		ON CONFLICT(key_id) DO UPDATE SET added = added + 1`
	sqlIDMPDuplicate = `UPDATE stream_idmp SET duplicates = duplicates + 1 WHERE key_id = ` + liveID
	sqlIDMPSet       = `INSERT INTO stream_idmp(key_id, duration, maxsize) SELECT id, ?4, ?5 FROM keys WHERE ` + live + `
		ON CONFLICT(key_id) DO UPDATE SET duration = excluded.duration, maxsize = excluded.maxsize`
	sqlIDMP = `SELECT duration, maxsize, (SELECT count(DISTINCT producer)` + iidsKnown + `), (SELECT count(*)` + iidsKnown + `), added, duplicates
		FROM stream_idmp WHERE key_id = ` + liveID
	iidsKnown = ` FROM stream_iids WHERE key_id = ` + liveID + ` AND added_at > ` + iidExpired
)

// parseProducer parses "IDMP pid iid" or "IDMPAUTO pid" at i, and returns the position of its last word.
func (c *Call) parseProducer(o *addOptions, i int) (last int, bad string) {
	if o.producer != nil {
		return i, "ERR syntax error, IDMP/IDMPAUTO specified multiple times"
	}
	if o.producer = c.Args[i+1]; len(o.producer) == 0 {
		return i, "ERR syntax error, " + upper(c.Args[i]) + " requires a non-empty producer ID"
	}
	if c.is(i, "IDMPAUTO") {
		return i + 1, ""
	}
	if o.iid = c.Args[i+2]; len(o.iid) == 0 {
		return i, "ERR syntax error, IDMP requires a non-empty idempotent ID"
	}
	return i + 2, ""
}

// contentID returns the iid of a message without one. It is the same for the same fields and values, in any order.
func contentID(fields [][]byte) []byte {
	var pairs [][]byte
	for i := 0; i < len(fields); i += 2 {
		pairs = append(pairs, PackFields(fields[i:i+2]))
	}
	slices.SortFunc(pairs, bytes.Compare)
	sum := sha256.Sum256(bytes.Join(pairs, nil))
	return sum[:16]
}

// recordIID records the iid of the entry id, and deletes iids that are too old or too many.
func (c *Call) recordIID(key []byte, o addOptions, id streamID) []store.Stmt {
	producer := store.Bytes(o.producer)
	return []store.Stmt{
		c.stmt(sqlIDMPAdded, key),
		c.stmt(sqlIIDAge, key),
		c.stmt(sqlIIDAdd, key, producer, store.Bytes(o.iid), id.value()),
		c.stmt(sqlIIDSize, key, producer),
	}
}

// parseIDMP parses the options of XCFGSET, -1 if not given.
func (c *Call) parseIDMP() (duration, maxSize int64, bad string) {
	duration, maxSize = -1, -1
	for i := 2; i < len(c.Args); i += 2 {
		more := i+1 < len(c.Args)
		switch {
		case more && c.is(i, "IDMP-DURATION"):
			duration, bad = c.parseSetting(i, duration, 86400, "seconds")
		case more && c.is(i, "IDMP-MAXSIZE"):
			maxSize, bad = c.parseSetting(i, maxSize, 10000, "entries")
		default:
			bad = errSyntax
		}
		if bad != "" {
			return 0, 0, bad
		}
	}
	if duration < 0 && maxSize < 0 {
		return 0, 0, "ERR At least one parameter must be specified"
	}
	return duration, maxSize, ""
}

// parseSetting parses the value of the setting at i, a number from 1 to most of a unit. was is the value of an earlier
// occurrence, or -1.
func (c *Call) parseSetting(i int, was, most int64, unit string) (n int64, bad string) {
	name := upper(c.Args[i])
	n, ok := parseInt(c.Args[i+1])
	switch {
	case was >= 0:
		return 0, "ERR " + name + " specified multiple times"
	case !ok:
		return 0, errNotInteger
	case n < 1 || n > most:
		return 0, "ERR " + name + " must be between 1 and " + strconv.FormatInt(most, 10) + " " + unit
	}
	return n, ""
}

func xcfgset(c *Call) Plan {
	duration, maxSize, msg := c.parseIDMP()
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		m, bad := metaOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case !m.exists:
			return answer(noSuchKey)
		case msg != "":
			return fail(msg)
		}
		was := [2]int64{100, 100}
		if len(r.Rows[1]) > 0 {
			was = [2]int64{r.Rows[1][0][0].Int(), r.Rows[1][0][1].Int()}
		}
		is := was
		if duration > 0 {
			is[0] = duration
		}
		if maxSize > 0 {
			is[1] = maxSize
		}
		stmts := []store.Stmt{c.stmt(sqlIDMPSet, key, store.Int(is[0]), store.Int(is[1]))}
		if is != was {
			stmts = append(stmts, c.stmt(sqlIIDClear, key), c.touch(key))
		}
		return write(decodeOK, stmts...)
	}, c.streamMeta(key), c.stmt(sqlIDMP, key))
}

// idmpInfo returns XINFO STREAM's lines for the row of sqlIDMP, none without a row.
func idmpInfo(rows []store.Row) (pairs []resp.Value) {
	if len(rows) == 0 {
		return nil
	}
	for i, name := range []string{"idmp-duration", "idmp-maxsize", "pids-tracked", "iids-tracked", "iids-added", "iids-duplicates"} {
		pairs = append(pairs, label(name), resp.MakeInt(rows[0][i].Int()))
	}
	return pairs
}
