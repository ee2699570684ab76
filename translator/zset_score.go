package translator

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	sqlZCard  = `SELECT type, count FROM keys WHERE ` + live
	sqlZScore = `SELECT k.type, z.score FROM keys k
		LEFT JOIN zsets z ON z.key_id = k.id AND z.hash = ?4 AND z.member = ?5 WHERE ` + live
	// The rank of a member is the number of members before it, in the order of the index.
	zsetMember = ` FROM zsets z WHERE z.key_id = ` + liveID + ` AND z.hash = ?4 AND z.member = ?5`
	sqlZRank   = `SELECT (SELECT count(*) FROM zsets o
		WHERE o.key_id = z.key_id AND (o.score, o.member) < (z.score, z.member)), z.score` + zsetMember
	sqlZRevRank = `SELECT (SELECT count(*) FROM zsets o
		WHERE o.key_id = z.key_id AND (o.score, o.member) > (z.score, z.member)), z.score` + zsetMember
)

var sqlZMScore = nameSQL{
	several: newListSQL(1, `SELECT z.score, j.key FROM json_each(?4) j
		LEFT JOIN zsets z ON z.key_id = `+liveID+` AND z.hash = `+itemHash+` AND z.member = `+itemName),
	one: `SELECT (SELECT score FROM zsets WHERE key_id = ` + liveID + ` AND hash = ?4 AND member = ?5), 0`,
}

func zcard(c *Call) Plan {
	return read(checkType(zsetType, resp.Zero, func(r *store.Result) resp.Value {
		return resp.MakeInt(r.Rows[0][0][1].Int())
	}), c.stmt(sqlZCard, c.Args[1]))
}

func zscore(c *Call) Plan {
	return read(func(r *store.Result) resp.Value { return scoreOf(r.Rows[0]) },
		c.stmt(sqlZScore, c.Args[1], hashValue(c.Args[2]), store.Bytes(c.Args[2])))
}

// scoreOf makes the reply from the rows of sqlZScore.
func scoreOf(rows []store.Row) resp.Value {
	switch {
	case len(rows) == 0:
		return resp.Nil
	case string(rows[0][0].Bytes()) != zsetType:
		return wrongType
	}
	return score(rows[0][1])
}

// score returns a cell as a double, NULL as nil.
func score(v store.Value) resp.Value {
	if v.IsNull() {
		return resp.Nil
	}
	return resp.MakeDouble(v.Float())
}

// scores returns every row's first cell as an array of doubles.
func scores(rows []store.Row) resp.Value {
	elems := make([]resp.Value, len(rows))
	for i, row := range rows {
		elems[i] = score(row[0])
	}
	return resp.MakeArray(elems...)
}

// zrank translates ZRANK and ZREVRANK.
func zrank(rev bool) func(*Call) Plan {
	sql := sqlZRank
	if rev {
		sql = sqlZRevRank
	}
	return func(c *Call) Plan {
		key, member, missing := c.Args[1], c.Args[2], resp.Nil
		switch {
		case len(c.Args) > 4:
			return answer(commands.WrongArity(c.Command))
		case len(c.Args) == 4 && !c.is(3, "WITHSCORE"):
			return fail(errSyntax)
		case len(c.Args) == 4:
			missing = resp.NilArray
		}
		return read(checkType(zsetType, missing, func(r *store.Result) resp.Value {
			if len(r.Rows[1]) == 0 {
				return missing
			}
			rank := resp.MakeInt(firstInt(r, 1))
			if len(c.Args) == 4 {
				return resp.MakeArray(rank, score(r.Rows[1][0][1]))
			}
			return rank
		}), c.typeOf(key), c.stmt(sql, key, hashValue(member), store.Bytes(member)))
	}
}
