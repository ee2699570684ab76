package translator

import (
	"math"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// If few members of a large sorted set remain, they move to another id, and the other members become a pending delete
// (a row in pending_deletes), as with LTRIM. k has the numbers of members before and after the range, counted up to that limit.
const (
	keptByRank = `WITH range AS (SELECT id, count,
		max(0, iif(?4 < 0, count + CAST(?4 AS INTEGER), CAST(?4 AS INTEGER))) AS lo,
		min(count - 1, iif(?5 < 0, count + CAST(?5 AS INTEGER), CAST(?5 AS INTEGER))) AS hi FROM keys WHERE ` + live + ` AND type = 'zset'),
	k AS (SELECT id, count, iif(lo > hi, count, lo) AS front, iif(lo > hi, 0, count - 1 - hi) AS back FROM range) `
	fewMembers  = `LIMIT coalesce((SELECT count / 4 + 1 FROM keys WHERE ` + live + `), 0)`
	keptByScore = `WITH k AS (SELECT id, count,
		(SELECT count(*) FROM (SELECT 1 FROM zsets WHERE key_id = ` + liveID + ` AND score < ?4 ` + fewMembers + `)) AS front,
		(SELECT count(*) FROM (SELECT 1 FROM zsets WHERE key_id = ` + liveID + ` AND score > ?5 ` + fewMembers + `)) AS back
		FROM keys WHERE ` + live + ` AND type = 'zset') `

	zsetDeleteAll   = `DELETE FROM keys WHERE id = (SELECT id FROM k WHERE count > ?6 AND front + back = 0)`
	zsetDeleteLater = `INSERT INTO pending_deletes(id, type) SELECT id, 'zset' FROM k WHERE count > ?6 AND front + back BETWEEN 1 AND count / 4`
	zsetMoveKept    = `UPDATE zsets SET key_id = ` + anotherID + `
		WHERE key_id = (` + deletedLater + `) AND (hash, member) IN (
			SELECT * FROM (SELECT hash, member FROM zsets WHERE key_id = (` + deletedLater + `)` + ascending + ` LIMIT coalesce((SELECT front FROM k), 0))
			UNION ALL
			SELECT * FROM (SELECT hash, member FROM zsets WHERE key_id = (` + deletedLater + `)` + descending + ` LIMIT coalesce((SELECT back FROM k), 0)))`
)

// keepFew holds the statements for removing a range, by rank or by score, that leaves few members.
var keepFew = map[rangeBy][]string{
	byRank:  {keptByRank + zsetDeleteAll, keptByRank + zsetDeleteLater, keptByRank + zsetMoveKept},
	byScore: {keptByScore + zsetDeleteAll, keptByScore + zsetDeleteLater, keptByScore + zsetMoveKept},
}

// sqlZRemByRankUnless is sqlZRemByRank unless the set has the version ?6. It skips a set that keepFewStmts has already
// handled; by score, nothing would be left to delete.
var sqlZRemByRankUnless = strings.Replace(sqlZRemByRank, `FROM keys WHERE `+live+`)) `, `FROM keys WHERE `+live+` AND version <> ?6)) `, 1)

// keepFewStmts returns the statements for removing a range that leaves few members. The first one deletes all members,
// the third one moves the remaining ones, and the last one moves the key to them and sets the version.
func (c *Call) keepFewStmts(key []byte, by rangeBy, args []store.Value, version store.Value) []store.Stmt {
	stmts := make([]store.Stmt, 0, 4)
	for i, sql := range keepFew[by] {
		few := store.Stmt{SQL: sql, Args: args}
		if i < 2 {
			few.Args = append(args[:5:5], store.Int(LongList))
		}
		stmts = append(stmts, few)
	}
	stmts = append(stmts, c.stmt(sqlSwitchID, key, version))
	long := LongList
	for i := range stmts {
		stmts[i].SkipIf = func(before store.Result) bool { return !isLongerThan(before, long) }
	}
	return stmts
}

// zremrange translates ZREMRANGEBYRANK, ZREMRANGEBYSCORE and ZREMRANGEBYLEX.
func zremrange(by rangeBy) func(*Call) Plan {
	return func(c *Call) Plan {
		key := c.Args[1]
		s, bad := parseSpan(by, c.Args[2], c.Args[3])
		switch {
		case bad != "":
			return fail(bad)
		case s.empty:
			return read(checkType(zsetType, resp.Zero, always(resp.Zero)), c.typeOf(key))
		case by == byLex:
			return c.zsetRemove(key, math.MaxInt, c.stmt(sqlZRemLevel, key, s.args()...), c.stmt(sqlZRemMixed, key, s.args()...))
		case c.Env.MayStage:
			return c.stageRangeRemoval(key, s)
		}
		return c.zsetRemoveRange(key, s)
	}
}

// zsetRemoveRange plans the removal of a range by rank or by score, in one transaction.
func (c *Call) zsetRemoveRange(key []byte, s zsetSpan) Plan {
	version, args := c.newVersion(), c.key(key, s.args()...)
	remove := store.Stmt{SQL: sqlZRemByScore, Args: args}
	if s.by == byRank {
		remove = store.Stmt{SQL: sqlZRemByRankUnless, Args: append(args[:5:5], version)}
	}
	stmts := c.openExisting(c.readKey(key), key, zsetType)
	few := len(stmts)
	stmts = append(stmts, c.keepFewStmts(key, s.by, args, version)...)
	stmts = append(stmts, remove, c.countRemoved(key), c.dropIfEmptied(key, math.MaxInt))
	return write(func(r *store.Result) resp.Value {
		switch row := liveRow(r.Rows); {
		case r.Changes[few] > 0:
			return resp.MakeInt(row[rowCount].Int())
		case r.Changes[few+3] > 0:
			return resp.MakeInt(row[rowCount].Int() - r.Changes[few+2])
		}
		return resp.MakeInt(r.Changes[few+4])
	}, stmts...)
}

// byScores walks over members in the order of their scores.
var (
	scoreOrder = rowsAfter("zsets", []string{"score", "member"})
	byScores   = tableWalk{
		copy: insertAll + `zsets(key_id, hash, member, score) SELECT ` + hiddenID + `, hash, member, score` + scoreOrder + ` LIMIT ?4`,
		last: `SELECT score, member` + scoreOrder + ` LIMIT 1 OFFSET ?4 - 1`,
	}
)

const (
	zsetCount    = `SELECT count(*) FROM zsets WHERE key_id = ` + liveID
	sqlZBefore   = zsetCount + ` AND score < ?4`
	sqlZInside   = zsetCount + ` AND score BETWEEN ?4 AND ?5`
	sqlZPlace    = `SELECT score, member FROM zsets WHERE key_id = ` + liveID + ascending + ` LIMIT 1 OFFSET ?4`
	sqlZPlaceEnd = `SELECT score, member FROM zsets WHERE key_id = ` + liveID + descending + ` LIMIT 1 OFFSET ?4`
)

// stageRangeRemoval plans a staged removal by rank or by score.
func (c *Call) stageRangeRemoval(key []byte, s zsetSpan) Plan {
	return c.planRemoval(key, zsetType, func(from store.Row, size int64) Plan {
		if s.by == byRank {
			first, last := ranks(s.start, s.stop, size)
			return c.removeRanks(key, from, first, last-first+1, resp.MakeInt(last-first+1))
		}
		return readThen(func(r *store.Result) Plan {
			n := firstInt(r, 1)
			return c.removeRanks(key, from, firstInt(r, 0), n, resp.MakeInt(n))
		}, c.stmt(sqlZBefore, key, s.args()[0]), c.stmt(sqlZInside, key, s.args()...))
	})
}

// removeRanks plans the removal of n members from rank first on. reply is for n above 0.
func (c *Call) removeRanks(key []byte, from store.Row, first, n int64, reply resp.Value) Plan {
	size := from[copiedCount].Int()
	after := size - first - n
	switch {
	case n < 1:
		return answer(resp.Zero)
	case !worthStaging(size, n, size-n):
		p := c.zsetRemoveRange(key, zsetSpan{by: byRank, start: first, stop: first + n - 1})
		p.Decode = always(reply)
		return p
	}
	last := c.stmt(sqlZPlace, key, store.Int(first+n-1))
	if after < first {
		last = c.stmt(sqlZPlaceEnd, key, store.Int(after))
	}
	return readThen(func(r *store.Result) Plan {
		id := from[copiedID]
		return c.stageRemoval(key, from, reply, []run{{newWalk(id, 2), first, byScores}, {&walk{id, r.Rows[0][0]}, after, byScores}}, nil)
	}, last)
}
