package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// The sources of an operation are the keys in json_each(?4) j, in order.
const (
	sourceKey = `k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3)`
	sources   = `json_each(?4) j CROSS JOIN keys k ON ` + sourceKey
)

// An operation is a SELECT of (hash, member, seq). The seq orders the result by source, and within a source by the time
// of addition.
//
// An intersection reads the smallest set, which is empty if a key is missing, and looks its members up in the other
// sets. A union shifts the seq of each set beyond the sets before it.
const (
	inter = `WITH source(id, count) AS MATERIALIZED (SELECT DISTINCT k.id, k.count FROM json_each(?4) j LEFT JOIN keys k ON ` + sourceKey + `)
		SELECT m.hash, m.member, m.seq FROM sets m
		WHERE m.key_id = (SELECT id FROM source ORDER BY count LIMIT 1)
		AND NOT EXISTS (SELECT 1 FROM source s WHERE s.id <> m.key_id AND NOT EXISTS (
			SELECT 1 FROM sets x WHERE x.key_id = s.id AND x.hash = m.hash AND x.member = m.member))`
	union = `WITH source(id, base) AS MATERIALIZED (SELECT k.id, sum(k.seq) OVER (ORDER BY j.key) - k.seq FROM ` + sources + `)
		SELECT m.hash, m.member, min(s.base + m.seq) AS seq FROM source s CROSS JOIN sets m ON m.key_id = s.id
		GROUP BY m.hash, m.member`
	diff = `WITH other(id) AS MATERIALIZED (SELECT DISTINCT k.id FROM ` + sources + ` WHERE j.key > 0)
		SELECT m.hash, m.member, m.seq FROM sets m
		WHERE m.key_id = (SELECT k.id FROM ` + sources + ` WHERE j.key = 0)
		AND NOT EXISTS (SELECT 1 FROM other o CROSS JOIN sets x ON x.key_id = o.id AND x.hash = m.hash AND x.member = m.member)`
)

const (
	sqlInter = `SELECT member FROM (` + inter + `) ORDER BY seq`
	sqlUnion = `SELECT member FROM (` + union + `) ORDER BY seq`
	sqlDiff  = `SELECT member FROM (` + diff + `) ORDER BY seq`

	// A count stops at ?5 and needs no order.
	sqlInterCard = `SELECT count(*) FROM (SELECT 1 FROM (` + inter + `) LIMIT CAST(?5 AS INTEGER))`
	sqlUnionCard = `SELECT count(*) FROM (SELECT DISTINCT m.hash, m.member FROM ` + sources + ` CROSS JOIN sets m ON m.key_id = k.id
		LIMIT CAST(?5 AS INTEGER))`
	sqlDiffCard = `SELECT count(*) FROM (SELECT 1 FROM (` + diff + `) LIMIT CAST(?5 AS INTEGER))`

	wrongSource    = ` FROM ` + sources + ` WHERE k.type <> 'set' LIMIT 1`
	sqlWrongSource = `SELECT 1` + wrongSource
	sqlGuardSource = `INSERT INTO guard SELECT NULL` + wrongSource
)

// combination reads the result of sql for the sets. The reply is WRONGTYPE if a key has another type.
func (c *Call) combination(decode func(*store.Result) resp.Value, sql string, keys [][]byte, more ...store.Value) Plan {
	from := hexList(keys)
	return read(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) > 0 {
			return wrongType
		}
		return decode(r)
	}, c.stmt(sqlWrongSource, keys[0], from), c.stmt(sql, keys[0], append([]store.Value{from}, more...)...))
}

// combined translates SINTER, SUNION and SDIFF.
func combined(sql string) func(*Call) Plan {
	return func(c *Call) Plan {
		var packed *packing
		p := c.combination(func(r *store.Result) resp.Value {
			if v, ok := packed.reply(resp.Set, r.Work); ok {
				return v
			}
			return setOf(r.Rows[1])
		}, sql, c.Args[1:])
		packed = c.pack(&p.Batch.Stmts[1], 1, false)
		return p
	}
}

// combinedCard translates SINTERCARD, SUNIONCARD and SDIFFCARD. With approx the command accepts APPROX, which allows an
// estimate; the reply is the exact count.
func combinedCard(sql string, approx bool) func(*Call) Plan {
	return func(c *Call) Plan {
		n, ok := parseInt(c.Args[1])
		switch {
		case !ok || n < 1:
			return fail("ERR numkeys should be greater than 0")
		case n > int64(len(c.Args)-2):
			return fail("ERR Number of keys can't be greater than number of args")
		}
		limit, bad := c.cardLimit(2+int(n), approx)
		if bad != "" {
			return fail(bad)
		}
		return c.combination(intOf(1), sql, c.Args[2:2+n], store.Digits(limit))
	}
}

// cardLimit parses the options from argument i on. It returns LIMIT, -1 for none.
func (c *Call) cardLimit(i int, approx bool) (limit int64, bad string) {
	limit = -1
	for ; i < len(c.Args); i++ {
		if approx && c.is(i, "APPROX") {
			continue
		}
		if !c.is(i, "LIMIT") || i == len(c.Args)-1 {
			return 0, errSyntax
		}
		i++
		var ok bool
		if limit, ok = parseInt(c.Args[i]); !ok || limit < 0 {
			return 0, "ERR LIMIT can't be negative"
		}
		if limit == 0 {
			limit = -1
		}
	}
	return limit, ""
}

// The result replaces the destination, which may be one of the sources. So it is built under the destination's name in
// database -1, which no client can select, and moved when it is complete. An empty result is dropped instead.
const (
	sqlCreateStaged = `INSERT INTO keys(db, key, hash, type, version, created_at, updated_at) VALUES(-1, ?1, ?4, 'set', ?2, ?3, ?3)`

	stageMembers  = `INSERT INTO sets(key_id, hash, member, seq) SELECT (SELECT id FROM keys WHERE db = -1 AND key = ?2), hash, member, seq FROM (`
	sqlInterStore = stageMembers + inter + `)`
	sqlUnionStore = stageMembers + union + `)`
	sqlDiffStore  = stageMembers + diff + `)`

	sqlStaged = `UPDATE keys SET count = changes(), seq = (SELECT max(seq) + 1 FROM sets WHERE key_id = id)
		WHERE db = -1 AND key = ?1 AND changes() > 0 RETURNING changes()`
	sqlDropEmptyStaged = `DELETE FROM keys WHERE db = -1 AND key = ?1 AND count = 0`
	sqlPublishStaged   = `UPDATE keys SET db = ?2 WHERE db = -1 AND key = ?1`
)

// combinedStore translates SINTERSTORE, SUNIONSTORE and SDIFFSTORE.
func combinedStore(sql string) func(*Call) Plan {
	return func(c *Call) Plan {
		if c.Env.MayStage {
			return c.stageCombined(sql)
		}
		from := hexList(c.Args[2:])
		destination := store.Bytes(c.Args[1])
		guard := c.stmt(sqlGuardSource, c.Args[1], from)
		guard.Refused = &wrongType
		return write(intOf(3),
			guard,
			store.Stmt{SQL: sqlCreateStaged, Args: []store.Value{destination, c.newVersion(), store.Int(c.Env.Now), hashValue(c.Args[1])}},
			c.stmt(sql, c.Args[1], from),
			store.Stmt{SQL: sqlStaged, Args: []store.Value{destination}},
			c.drop(c.Args[1]),
			store.Stmt{SQL: sqlDropEmptyStaged, Args: []store.Value{destination}},
			store.Stmt{SQL: sqlPublishStaged, Args: []store.Value{destination, store.Int(int64(c.Env.DB))}})
	}
}
