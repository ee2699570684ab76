package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

func srandmember(c *Call) Plan {
	switch {
	case len(c.Args) == 2:
		return setSampler.one(c)
	case len(c.Args) > 3:
		return fail(errSyntax)
	}
	count, bad, ok := parseDraws(c.Args[2])
	if !ok {
		return bad
	}
	return setSampler.some(c, count, resp.EmptyArray, func(_ int64, rows, _ []store.Row) Plan { return answer(bulks(rows)) })
}

const sqlPopMember = `DELETE FROM sets WHERE key_id = ` + liveID + ` AND (member, hash) = (` + sqlPickMember + `) RETURNING member`

func spop(c *Call) Plan {
	key := c.Args[1]
	switch {
	case len(c.Args) == 2:
		return write(bulkOf(3), append(c.openExisting(c.readKey(key), key, setType), c.pickOne(sqlPopMember, key), c.countRemoved(key), c.dropIfEmptied(key, 1))...)
	case len(c.Args) > 3:
		return fail(errSyntax)
	}
	count, ok := parseInt(c.Args[2])
	if !ok || count < 0 {
		return fail(errMustBePositive)
	}
	if c.Env.MayStage {
		return c.planRemoval(key, setType, func(from store.Row, _ int64) Plan { return c.spopSome(key, count, from) })
	}
	return c.spopSome(key, count, nil)
}

// spopSome plans SPOP of count members. The removal may be staged unless from, the set's row of sqlCopied, is nil.
func (c *Call) spopSome(key []byte, count int64, from store.Row) Plan {
	return setSampler.some(c, count, resp.EmptySet, func(size int64, rows, rest []store.Row) Plan {
		switch {
		case from != nil && len(rest) > 0 && worthStaging(size, int64(len(rows)), int64(len(rest))):
			return c.stageRemoval(key, from, setOf(rows), nil, keepMembers(byHash(names(rest)), from[copiedID]))
		case from != nil && len(rest) == 0:
			return removeRows(c, key, from, byHash(names(rows)), setOf(rows), memberRow.removeStmts)
		case int64(len(rows)) == size:
			return write(always(setOf(rows)), c.drop(key))
		case size > LongList && len(rest) > 0 && len(rest) <= int(size/4):
			return write(always(setOf(rows)), c.keepOnly(key, names(rest))...)
		}
		return write(always(setOf(rows)), c.removeMembers(key, names(rows))...)
	})
}

// names returns the first cells of the rows.
func names(rows []store.Row) [][]byte {
	all := make([][]byte, len(rows))
	for i, row := range rows {
		all[i] = row[0].Bytes()
	}
	return all
}

// If few members of a large set remain, they move to another id, and the other members become a pending delete (a row
// in pending_deletes).
const (
	sqlDeleteSetLater = `INSERT INTO pending_deletes(id, type) SELECT id, 'set' FROM keys WHERE ` + live
	moveMembers       = `UPDATE sets SET key_id = ` + anotherID + ` WHERE key_id = ` + liveID
	sqlSwitchSetID    = `UPDATE keys SET id = ` + anotherID + `, count = ?4, version = version + 1, updated_at = ?3 WHERE ` + live
)

var sqlMoveMembers = nameSQL{
	several: newListSQL(1, moveMembers+` AND (hash, member) IN (SELECT `+itemHash+`, `+itemName+` FROM json_each(?4) j)`),
	one:     moveMembers + ` AND hash = ?4 AND member = ?5`,
}

// keepOnly returns the statements that delete all members except stay.
func (c *Call) keepOnly(key []byte, stay [][]byte) []store.Stmt {
	stmts := append([]store.Stmt{c.stmt(sqlDeleteSetLater, key)}, c.stmtsForNames(key, stay, sqlMoveMembers)...)
	return append(stmts, c.stmt(sqlSwitchSetID, key, store.Int(int64(len(stay)))))
}

const keptMember = insertAll + `sets(key_id, hash, member, seq) SELECT ` + hiddenID + `, m.hash, m.member, m.seq FROM `

var sqlKeepSome = nameSQL{
	several: newListSQL(1, keptMember+`json_each(?4) j CROSS JOIN sets m ON m.key_id = ?6 AND m.hash = `+itemHash+` AND m.member = `+itemName),
	one:     keptMember + `sets m WHERE m.key_id = ?6 AND m.hash = ?4 AND m.member = ?5`,
}

// keepMembers returns groups of statements that copy members from the set with the id.
func keepMembers(members [][]byte, id store.Value) func(*Call, []byte) [][]store.Stmt {
	return func(c *Call, key []byte) (groups [][]store.Stmt) {
		counted := c.stmt(sqlCounted, key)
		counted.Args = counted.Args[:2:2]
		for some := range slices.Chunk(members, stagedRound) {
			groups = append(groups, each(c.stmtsForNames(key, some, sqlKeepSome, id), counted))
		}
		return groups
	}
}
