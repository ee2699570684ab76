package translator

import (
	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	sqlZCard  = `SELECT type, count FROM keys WHERE ` + live
	sqlZScore = `SELECT k.type, z.score FROM keys k
		LEFT JOIN zsets z ON z.key_id = k.id AND z.hash = ?4 AND z.member = ?5 WHERE ` + live
	sqlZMScore = `SELECT z.score FROM json_each(?4) j
		LEFT JOIN zsets z ON z.key_id = ` + liveID + ` AND z.hash = CAST(j.value ->> '$[0]' AS INTEGER)
		AND z.member = unhex(j.value ->> '$[1]') ORDER BY j.id`

	// The rank of a member is the number of those before it, in the order of
	// the index.
	zsetMember = ` FROM zsets z WHERE z.key_id = ` + liveID + ` AND z.hash = ?4 AND z.member = ?5`
	sqlZRank   = `SELECT (SELECT count(*) FROM zsets o
		WHERE o.key_id = z.key_id AND (o.score, o.member) < (z.score, z.member)), z.score` + zsetMember
	sqlZRevRank = `SELECT (SELECT count(*) FROM zsets o
		WHERE o.key_id = z.key_id AND (o.score, o.member) > (z.score, z.member)), z.score` + zsetMember
)

func zcard(c *Call) Plan {
	return read(typed(zsetType, resp.Zero, func(r *store.Result) resp.Value {
		return resp.MakeInt(r.Rows[0][0][1].Int())
	}), c.stmt(sqlZCard, c.Args[1]))
}

func zscore(c *Call) Plan {
	return read(func(r *store.Result) resp.Value { return scoreOf(r.Rows[0]) },
		c.stmt(sqlZScore, c.Args[1], hashValue(c.Args[2]), store.Bytes(c.Args[2])))
}

// scoreOf shapes the rows of sqlZScore.
func scoreOf(rows []store.Row) resp.Value {
	switch {
	case len(rows) == 0:
		return resp.Nil
	case string(rows[0][0].Bytes()) != zsetType:
		return wrongType
	}
	return score(rows[0][1])
}

// score is a cell as a double, NULL as nil.
func score(v store.Value) resp.Value {
	if v.IsNull() {
		return resp.Nil
	}
	return resp.MakeDouble(v.Float())
}

func zmscore(c *Call) Plan {
	key, members := c.Args[1], c.Args[2:]
	missing := resp.MakeArray(make([]resp.Value, len(members))...)
	return read(typed(zsetType, missing, func(r *store.Result) resp.Value {
		elems := make([]resp.Value, len(r.Rows[1]))
		for i, row := range r.Rows[1] {
			elems[i] = score(row[0])
		}
		return resp.MakeArray(elems...)
	}), c.typeOf(key), c.stmt(sqlZMScore, key, zsetMembers(members)))
}

// zrank is ZRANK and ZREVRANK.
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
		return read(typed(zsetType, missing, func(r *store.Result) resp.Value {
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
