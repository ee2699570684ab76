package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

const zsetType = keytype.ZSet

var zsetTranslations = translations{
	{"ZADD", zadd},
	{"ZINCRBY", zincrby},
	{"ZREM", zrem},
	{"ZCARD", zcard},
	{"ZSCORE", zscore},
	{"ZMSCORE", byEachName(zsetType, &sqlZMScore, resp.Nil, scores)},
	{"ZRANK", zrank(false)},
	{"ZREVRANK", zrank(true)},
	{"ZCOUNT", zcount(byScore)},
	{"ZLEXCOUNT", zcount(byLex)},
	{"ZRANGE", zrange(rangeForm{})},
	{"ZREVRANGE", zrange(rangeForm{by: byRank, dir: backward})},
	{"ZRANGEBYSCORE", zrange(rangeForm{by: byScore, dir: forward})},
	{"ZREVRANGEBYSCORE", zrange(rangeForm{by: byScore, dir: backward})},
	{"ZRANGEBYLEX", zrange(rangeForm{by: byLex, dir: forward})},
	{"ZREVRANGEBYLEX", zrange(rangeForm{by: byLex, dir: backward})},
	{"ZRANGESTORE", zrangestore},
	{"ZREMRANGEBYRANK", zremrange(byRank)},
	{"ZREMRANGEBYSCORE", zremrange(byScore)},
	{"ZREMRANGEBYLEX", zremrange(byLex)},
	{"ZPOPMIN", zpop(false)},
	{"ZPOPMAX", zpop(true)},
	{"ZMPOP", zmpop},
	{"ZRANDMEMBER", zrandmember},
	{"ZSCAN", scanElements(zsetType, sqlZSetPage, compareScore, scannedMember)},
	{"ZUNION", zcombine(combineForm{op: zsetUnion})},
	{"ZUNIONSTORE", zcombine(combineForm{op: zsetUnion, store: true})},
	{"ZINTER", zcombine(combineForm{op: zsetInter})},
	{"ZINTERSTORE", zcombine(combineForm{op: zsetInter, store: true})},
	{"ZINTERCARD", zcombine(combineForm{op: zsetInter, count: true})},
	{"ZDIFF", zcombine(combineForm{op: zsetDiff})},
	{"ZDIFFSTORE", zcombine(combineForm{op: zsetDiff, store: true})},
}
