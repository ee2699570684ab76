package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	// A pop reads the first ?4 members in one of the two orders, and then deletes them.
	zsetLowestN   = ` FROM zsets WHERE key_id = ` + liveID + ascending + ` LIMIT ?4`
	zsetHighestN  = ` FROM zsets WHERE key_id = ` + liveID + descending + ` LIMIT ?4`
	sqlZMin       = `SELECT member, score` + zsetLowestN
	sqlZMax       = `SELECT member, score` + zsetHighestN
	zsetDelete    = `DELETE FROM zsets WHERE key_id = ` + liveID + ` AND (hash, member) IN (SELECT hash, member`
	sqlZRemoveMin = zsetDelete + zsetLowestN + `)`
	sqlZRemoveMax = zsetDelete + zsetHighestN + `)`

	// The same for one member.
	zsetDeleteOne    = `DELETE FROM zsets WHERE key_id = ` + liveID + ` AND (hash, member) = (SELECT hash, member FROM zsets WHERE key_id = ` + liveID
	readKeyMember    = keyColumns + `, z.member, z.score FROM keys k LEFT JOIN zsets z ON z.key_id = k.id` + whereKey
	sqlReadKeyMin    = readKeyMember + ` ORDER BY z.score, z.member LIMIT 1`
	sqlReadKeyMax    = readKeyMember + ` ORDER BY z.score DESC, z.member DESC LIMIT 1`
	sqlZRemoveMinOne = zsetDeleteOne + ascending + ` LIMIT 1)`
	sqlZRemoveMaxOne = zsetDeleteOne + descending + ` LIMIT 1)`
)

var sqlZRem = nameSQL{
	several: newListSQL(1, `DELETE FROM zsets WHERE key_id = `+liveID+` AND (hash, member) IN (SELECT `+itemHash+`, `+itemName+` FROM json_each(?4) j)`),
	one:     `DELETE FROM zsets WHERE key_id = ` + liveID + ` AND hash = ?4 AND member = ?5`,
}

// zsetRemove plans a write that deletes up to n members and replies with their number. A statement after each deletion
// accounts for it.
func (c *Call) zsetRemove(key []byte, n int, deletions ...store.Stmt) Plan {
	w := zsetWrite{stmts: c.openExisting(c.readKey(key), key, zsetType)}
	var removed []int
	for _, s := range deletions {
		w.add(&removed, s, c.countRemoved(key))
	}
	return write(func(r *store.Result) resp.Value { return resp.MakeInt(total(r, removed)) },
		append(w.stmts, c.dropIfEmptied(key, n))...)
}

func zrem(c *Call) Plan {
	key := c.Args[1]
	if c.Env.MayStage {
		return c.stageNamedRemoval(key, c.Args[2:], scoredRow)
	}
	var deletions []store.Stmt
	for members := range slices.Chunk(c.Args[2:], zsetRoundSize) {
		deletions = append(deletions, c.stmtsForNames(key, members, sqlZRem)...)
	}
	return c.zsetRemove(key, len(c.Args)-2, deletions...)
}

// poppedRows returns the members that popStmts popped, with their scores.
func poppedRows(r *store.Result) []store.Row {
	if row := liveRow(r.Rows); len(row) > rowExtra {
		return []store.Row{row[rowExtra:]}
	}
	return r.Rows[3]
}

// popStmts returns the statements that remove up to n members from the lower or the upper end of key.
func (c *Call) popStmts(key []byte, max bool, n int64) []store.Stmt {
	if n == 1 {
		keyRead, remove := c.stmt(sqlReadKeyMin, key), c.stmt(sqlZRemoveMinOne, key)
		if max {
			keyRead.SQL, remove.SQL = sqlReadKeyMax, sqlZRemoveMaxOne
		}
		remove.SkipIf = isNotLive
		return append(c.openExisting(keyRead, key, zsetType), remove, c.countRemoved(key), c.dropIfEmptied(key, 1))
	}
	n = clampLength(n)
	limit := store.Int(n)
	read, remove := c.stmt(sqlZMin, key, limit), c.stmt(sqlZRemoveMin, key, limit)
	first, last := int64(0), n-1
	if max {
		read.SQL, remove.SQL = sqlZMax, sqlZRemoveMax
		first, last = -n, -1
	}
	stmts := append(c.openExisting(c.readKey(key), key, zsetType), read)
	if n >= LongList/2 {
		version, args := c.newVersion(), c.key(key, store.Int(first), store.Int(last))
		stmts = append(stmts, c.keepFewStmts(key, byRank, args, version)...)
		remove = store.Stmt{SQL: sqlZRemByRankUnless, Args: append(args[:5:5], version)}
	}
	return append(stmts, remove, c.countRemoved(key), c.dropIfEmptied(key, int(n)))
}

// zpop translates ZPOPMIN and ZPOPMAX. With a count the reply is a list of pairs, nested in RESP3; without, it is one
// flat pair.
func zpop(max bool) func(*Call) Plan {
	return func(c *Call) Plan {
		key := c.Args[1]
		if len(c.Args) > 3 {
			return fail(errSyntax)
		}
		if len(c.Args) == 2 {
			return write(func(r *store.Result) resp.Value {
				return resp.MakeArray(scored(poppedRows(r)).Elems...)
			}, c.popStmts(key, max, 1)...)
		}
		n, ok := parseInt(c.Args[2])
		switch {
		case !ok || n < 0:
			return fail(errMustBePositive)
		case n == 0:
			return read(checkType(zsetType, resp.EmptyArray, always(resp.EmptyArray)), c.typeOf(key))
		case c.Env.MayStage:
			return c.stagePop(key, max, n, scored)
		}
		return write(func(r *store.Result) resp.Value { return scored(poppedRows(r)) }, c.popStmts(key, max, n)...)
	}
}

// stagePop plans a staged ZPOPMIN, ZPOPMAX or ZMPOP: the reply is read first.
func (c *Call) stagePop(key []byte, max bool, n int64, shape func([]store.Row) resp.Value) Plan {
	return c.planRemoval(key, zsetType, func(from store.Row, size int64) Plan {
		n = min(n, size)
		pop, first := c.stmt(sqlZMin, key, store.Int(n)), int64(0)
		if max {
			pop.SQL, first = sqlZMax, size-n
		}
		return readThen(func(r *store.Result) Plan {
			reply := shape(r.Rows[0])
			if n == size {
				return write(always(reply), c.drop(key))
			}
			return c.removeRanks(key, from, first, n, reply)
		}, pop)
	})
}

func zmpop(c *Call) Plan {
	n, ok := parseInt(c.Args[1])
	if !ok || n < 1 {
		return fail("ERR numkeys should be greater than 0")
	}
	if n > int64(len(c.Args)-3) {
		return fail(errSyntax)
	}
	keys, options := c.Args[2:2+n], c.Args[2+n:]
	max := wordIs(options[0], "MAX")
	if !max && !wordIs(options[0], "MIN") {
		return fail(errSyntax)
	}
	count := int64(1)
	if options = options[1:]; len(options) > 0 {
		if len(options) < 2 || !wordIs(options[0], "COUNT") {
			return fail(errSyntax)
		}
		if count, ok = parseInt(options[1]); !ok || count < 1 {
			return fail("ERR count should be greater than 0")
		}
		if len(options) > 2 {
			return fail(errSyntax)
		}
	}
	return c.zpopFirst(keys, max, count, popped)
}

// zpopFirst pops up to count members of the first of the keys that exists. reply receives that key and the rows.
// Without a key the reply is the nil array.
func (c *Call) zpopFirst(keys [][]byte, max bool, count int64, reply func(key []byte, rows []store.Row) resp.Value) Plan {
	return c.firstOf(keys, resp.NilArray, func(key []byte) Plan {
		if c.Env.MayStage {
			return c.stagePop(key, max, count, func(rows []store.Row) resp.Value { return reply(key, rows) })
		}
		return write(func(r *store.Result) resp.Value { return reply(key, poppedRows(r)) }, c.popStmts(key, max, count)...)
	})
}

// popped returns ZMPOP's reply: the key and the pairs, nested in both protocols.
func popped(key []byte, rows []store.Row) resp.Value {
	pairs := make([]resp.Value, len(rows))
	for i, row := range rows {
		pairs[i] = resp.MakeArray(bulk(row[0]), score(row[1]))
	}
	return resp.MakeArray(resp.MakeBulk(key), resp.MakeArray(pairs...))
}
