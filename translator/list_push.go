package translator

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// A push first adds its ?4 elements to the count of the key, or creates the key, which refuses another type. Then it
// appends the elements beyond the end.
const (
	sqlPushKey = `UPDATE keys SET count = count + ?4, seq = seq + ?4, version = version + 1, updated_at = ?3
		WHERE ` + live + ` AND type = 'list'`
	sqlPushNew = `INSERT INTO keys(db, key, hash, type, version, count, seq, created_at, updated_at)
		VALUES(?1, ?2, ?6, 'list', ?5, ?4, ?4, ?3, ?3)
		ON CONFLICT(db, key) DO UPDATE SET type = iif(type = 'list', type, NULL)`
	sqlCount = `SELECT count FROM keys WHERE db = ?1 AND key = ?2`
)

// sqlPush appends the elements ?3 to the key, each beyond the previous one.
var sqlPush = [...]string{
	head: `WITH k AS MATERIALIZED (SELECT id, coalesce((SELECT min(pos) FROM lists WHERE key_id = id), 0) AS edge
			FROM keys WHERE db = ?1 AND key = ?2)
		INSERT INTO lists(key_id, pos, value)
		SELECT k.id, k.edge - (j.key + 1) * ` + sqlGap + `, unhex(j.value) FROM k, json_each(?3) j`,
	tail: `WITH k AS MATERIALIZED (SELECT id, coalesce((SELECT max(pos) FROM lists WHERE key_id = id), 0) AS edge
			FROM keys WHERE db = ?1 AND key = ?2)
		INSERT INTO lists(key_id, pos, value)
		SELECT k.id, k.edge + (j.key + 1) * ` + sqlGap + `, unhex(j.value) FROM k, json_each(?3) j`,
}

// sqlPushOne is sqlPush for one large element.
var sqlPushOne = [...]string{
	head: `INSERT INTO lists(key_id, pos, value) VALUES(` + thisID + `,
		coalesce((SELECT min(pos) FROM lists WHERE key_id = ` + thisID + `), 0) - ` + sqlGap + `, ?3)`,
	tail: `INSERT INTO lists(key_id, pos, value) VALUES(` + thisID + `,
		coalesce((SELECT max(pos) FROM lists WHERE key_id = ` + thisID + `), 0) + ` + sqlGap + `, ?3)`,
}

// pushStmts returns the statements that append elements already counted by pushKey.
func (c *Call) pushStmts(key []byte, e end, list [][]byte) (stmts []store.Stmt) {
	for piece, alone := range pieces(list, 1) {
		add := store.Stmt{SQL: sqlPush[e], Args: c.key(key)[:2]}
		if alone {
			add.SQL, add.Args = sqlPushOne[e], append(add.Args, store.Bytes(piece[0]))
		} else {
			add.Args = append(add.Args, hexList(piece))
		}
		stmts = append(stmts, add)
	}
	return stmts
}

// pushKey returns the statements that count n new elements in the key's row. If the key is not a live list, first runs:
// it purges the key, or refuses a missing one.
func (c *Call) pushKey(key []byte, n int, first store.Stmt) []store.Stmt {
	args := c.key(key, store.Int(int64(n)), c.newVersion(), hashValue(key))
	first.SkipIf = somethingChanged
	return append(make([]store.Stmt, 0, 5), store.Stmt{SQL: sqlPushKey, Args: args[:4]}, first,
		store.Stmt{SQL: sqlPushNew, Args: args, Refused: &wrongType, SkipIf: lastButOneChanged})
}

// somethingChanged and lastButOneChanged report whether the last statement, or the one before it, changed rows.
func somethingChanged(before store.Result) bool { return !nothingChanged(before) }

func lastButOneChanged(before store.Result) bool { return before.Changes[len(before.Changes)-2] > 0 }

// push translates LPUSH and RPUSH.
func push(e end) func(*Call) Plan {
	return func(c *Call) Plan {
		if c.Env.MayStage {
			return c.stageAddition(c.Args[1], listAddition(e, c.Args[2:]))
		}
		return c.push(e, c.purge(c.Args[1]))
	}
}

// pushx translates LPUSHX and RPUSHX.
func pushx(e end) func(*Call) Plan {
	return func(c *Call) Plan { return c.push(e, c.guardPresent(c.Args[1], &resp.Zero)) }
}

func (c *Call) push(e end, first store.Stmt) Plan {
	key, list := c.Args[1], c.Args[2:]
	stmts := append(c.pushKey(key, len(list), first), c.pushStmts(key, e, list)...)
	plan := write(intOf(len(stmts)), append(stmts, c.forReply(store.Stmt{SQL: sqlCount, Args: c.sharedKey(key)[:2:2]}))...)
	if len(list) == 1 && len(list[0]) <= maxCoalescedBytes {
		plan.Batch.Coalescer = pushCoalescers[e]
	}
	return plan
}

// A pop of one element reads it together with the key, and deletes it by the index.
var (
	sqlReadKeyEnd = [...]string{
		head: keyColumns + `, (SELECT value FROM lists WHERE key_id = k.id ORDER BY pos LIMIT 1) FROM keys k` + whereKey,
		tail: keyColumns + `, (SELECT value FROM lists WHERE key_id = k.id ORDER BY pos DESC LIMIT 1) FROM keys k` + whereKey,
	}
	sqlPop = [...]string{
		head: `DELETE FROM lists WHERE (key_id, pos) = (SELECT key_id, pos FROM lists WHERE key_id = ` + liveID + ` ORDER BY pos LIMIT 1)`,
		tail: `DELETE FROM lists WHERE (key_id, pos) = (SELECT key_id, pos FROM lists WHERE key_id = ` + liveID + ` ORDER BY pos DESC LIMIT 1)`,
	}
)

func isNotLive(before store.Result) bool { return !isLive(before) }

func (c *Call) popOne(key []byte, e end) Plan {
	keyRead := c.stmt(sqlReadKeyEnd[e], key)
	pop := store.Stmt{SQL: sqlPop[e], Args: keyRead.Args, SkipIf: isNotLive}
	plan := write(func(r *store.Result) resp.Value {
		if row := liveRow(r.Rows); row != nil {
			return bulk(row[rowExtra])
		}
		return resp.Nil
	}, append(c.openExisting(keyRead, key, listType), pop, c.countRemoved(key), c.dropIfEmptied(key, 1))...)
	plan.Batch.Coalescer = popCoalescers[e]
	return plan
}

// pop translates LPOP and RPOP. With a count the reply is an array, and nil only for a missing key.
func pop(e end) func(*Call) Plan {
	return func(c *Call) Plan {
		key := c.Args[1]
		switch len(c.Args) {
		case 2:
			return c.popOne(key, e)
		case 3:
		default:
			return answer(commands.WrongArity(c.Command))
		}
		count, ok := parseInt(c.Args[2])
		switch {
		case !ok || count < 0:
			return fail(errMustBePositive)
		case count == 0:
			return read(checkType(listType, resp.NilArray, always(resp.EmptyArray)), c.typeOf(key))
		case c.Env.MayStage:
			return c.stageListPop(key, e, count, func(popped resp.Value) resp.Value { return popped })
		}
		return c.popFirst([][]byte{key}, e, count, func(_ store.Value, popped resp.Value) resp.Value { return popped })
	}
}

// A pop of several elements uses the first of the keys ?2 that exists, since an existing list has elements.
const (
	sqlFirstOf = `FROM json_each(?2) j CROSS JOIN keys k
		WHERE k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3) ORDER BY j.key LIMIT 1`
	sqlFirstID = `(SELECT k.id ` + sqlFirstOf + `)`

	sqlPurgeAll       = `DELETE FROM keys WHERE db = ?1 AND key IN (SELECT unhex(value) FROM json_each(?2)) AND dies_at <= ?3`
	sqlGuardFirstList = `INSERT INTO guard SELECT NULL FROM (SELECT k.type ` + sqlFirstOf + `) WHERE type <> 'list'`
	sqlFirstKey       = `SELECT k.key ` + sqlFirstOf
	sqlShrunkFirst    = `UPDATE keys SET count = count - changes(), version = version + 1, updated_at = ?3 WHERE id = ` + sqlFirstID
	sqlDropFirstEmpty = `DELETE FROM keys WHERE id = ` + sqlFirstID + ` AND count = 0`
)

var (
	sqlReadEnd = [...]string{
		head: `SELECT value FROM lists WHERE key_id = ` + sqlFirstID + ` ORDER BY pos LIMIT CAST(?4 AS INTEGER)`,
		tail: `SELECT value FROM lists WHERE key_id = ` + sqlFirstID + ` ORDER BY pos DESC LIMIT CAST(?4 AS INTEGER)`,
	}
	sqlCutEnd = [...]string{
		head: `DELETE FROM lists WHERE key_id = ` + sqlFirstID + ` AND pos IN
			(SELECT pos FROM lists WHERE key_id = ` + sqlFirstID + ` ORDER BY pos LIMIT CAST(?4 AS INTEGER))`,
		tail: `DELETE FROM lists WHERE key_id = ` + sqlFirstID + ` AND pos IN
			(SELECT pos FROM lists WHERE key_id = ` + sqlFirstID + ` ORDER BY pos DESC LIMIT CAST(?4 AS INTEGER))`,
	}
)

// popFirst pops up to count elements of the first of the keys that exists. reply receives that key and the elements.
// Without a key the reply is the nil array.
func (c *Call) popFirst(keys [][]byte, e end, count int64, reply func(key store.Value, popped resp.Value) resp.Value) Plan {
	first := func(sql string, more ...store.Value) store.Stmt {
		return store.Stmt{SQL: sql, Args: append(c.list(keys), more...)}
	}
	guard := first(sqlGuardFirstList)
	guard.Refused = &wrongType
	n := store.Digits(count)
	return write(func(r *store.Result) resp.Value {
		if len(r.Rows[2]) == 0 {
			return resp.NilArray
		}
		return reply(r.Rows[2][0][0], bulks(r.Rows[3]))
	}, first(sqlPurgeAll), guard, first(sqlFirstKey), first(sqlReadEnd[e], n), first(sqlCutEnd[e], n),
		first(sqlShrunkFirst), first(sqlDropFirstEmpty))
}

func lmpop(c *Call) Plan {
	n, ok := parseInt(c.Args[1])
	switch {
	case !ok || n <= 0:
		return fail("ERR numkeys should be greater than 0")
	case n > int64(len(c.Args)-3):
		return fail(errSyntax)
	}
	keys, at := c.Args[2:2+n], int(2+n)
	e, ok := c.endAt(at)
	count, given := int64(1), false
	for i := at + 1; ok && i < len(c.Args); i += 2 {
		if given || !c.is(i, "COUNT") || i+1 == len(c.Args) {
			ok = false
			break
		}
		if count, given = parseInt(c.Args[i+1]); !given || count <= 0 {
			return fail("ERR count should be greater than 0")
		}
	}
	if !ok {
		return fail(errSyntax)
	}
	if c.Env.MayStage {
		return c.firstOf(keys, resp.NilArray, func(key []byte) Plan {
			return c.stageListPop(key, e, count, func(popped resp.Value) resp.Value { return resp.MakeArray(resp.MakeBulk(key), popped) })
		})
	}
	return c.popFirst(keys, e, count, func(key store.Value, popped resp.Value) resp.Value {
		return resp.MakeArray(bulk(key), popped)
	})
}
