package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// setType names the type in the keys table and in TYPE's reply.
const setType = keytype.Set

var setTranslations = translations{
	{"SADD", sadd},
	{"SREM", srem},
	{"SMOVE", smove},
	{"SCARD", func(c *Call) Plan {
		return read(decodeCell(setType, resp.Zero, integer), c.stmt(sqlSetSize, c.Args[1]))
	}},
	{"SISMEMBER", byName(setType, sqlIsMember, resp.Zero, integer)},
	{"SMISMEMBER", byEachName(setType, &sqlAreMembers, resp.Zero, integers)},
	{"SMEMBERS", listing(setType, sqlMembers, resp.EmptySet, setOf)},
	{"SSCAN", scanElements(setType, sqlSetPage, compareSeq, asBulks)},
	{"SPOP", spop},
	{"SRANDMEMBER", srandmember},
	{"SINTER", combined(sqlInter)},
	{"SUNION", combined(sqlUnion)},
	{"SDIFF", combined(sqlDiff)},
	{"SINTERCARD", combinedCard(sqlInterCard, false)},
	{"SUNIONCARD", combinedCard(sqlUnionCard, true)},
	{"SDIFFCARD", combinedCard(sqlDiffCard, false)},
	{"SINTERSTORE", combinedStore(sqlInterStore)},
	{"SUNIONSTORE", combinedStore(sqlUnionStore)},
	{"SDIFFSTORE", combinedStore(sqlDiffStore)},
}

const (
	sqlSetSize  = `SELECT type, count FROM keys WHERE ` + live
	sqlIsMember = `SELECT k.type, m.hash IS NOT NULL FROM ` + liveKey + ` k
		LEFT JOIN sets m ON m.key_id = k.id AND m.hash = ?4 AND m.member = ?5`
	sqlMembers = `SELECT m.member, m.seq FROM sets m WHERE m.key_id = ` + liveID
)

var sqlAreMembers = nameSQL{
	several: newListSQL(1, `SELECT m.hash IS NOT NULL, j.key FROM json_each(?4) j
		LEFT JOIN sets m ON m.key_id = `+liveID+` AND m.hash = `+itemHash+` AND m.member = `+itemName),
	one: `SELECT EXISTS (SELECT 1 FROM sets WHERE key_id = ` + liveID + ` AND hash = ?4 AND member = ?5), 0`,
}
