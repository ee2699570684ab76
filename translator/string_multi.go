package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// MSET does to the keys ?2 what SET does to one: make way, make the keys, and
// overwrite their values, which come with the keys. Both lists are hashed's.
const (
	sqlMakeWayAll = `DELETE FROM keys WHERE db = ?1 AND key IN (SELECT ` + itemName + ` FROM json_each(?2) j)
		AND (type <> 'string' OR expires_at <= ?3)`
	sqlSetKeys = `INSERT INTO keys(db, key, hash, type, version, created_at, updated_at)
		SELECT ?1, ` + itemName + `, ` + itemHash + `, 'string', ?4, ?3, ?3 FROM json_each(?2) j WHERE true
		ON CONFLICT(db, key) DO UPDATE SET version = version + 1, updated_at = ?3, expires_at = NULL`
	sqlSetValues = `INSERT INTO strings(key_id, value)
		SELECT k.id, ` + itemValue + ` FROM json_each(?2) j CROSS JOIN keys k
		WHERE k.db = ?1 AND k.key = ` + itemName + ` ORDER BY j.key
		ON CONFLICT(key_id) DO UPDATE SET value = excluded.value`
	sqlGuardAllAbsent = `INSERT INTO guard SELECT NULL FROM json_each(?2) j CROSS JOIN keys k
		WHERE k.db = ?1 AND k.key = ` + itemName + ` AND (k.expires_at IS NULL OR k.expires_at > ?3)`
)

// everySecond is the arguments 1, 3, 5 and so on.
func (c *Call) everySecond() [][]byte {
	var list [][]byte
	for i := 1; i < len(c.Args); i += 2 {
		list = append(list, c.Args[i])
	}
	return list
}

// setAll appends the statements that set the keys of the call, whose list args
// hold, to its values.
func (c *Call) setAll(stmts []store.Stmt, args []store.Value) []store.Stmt {
	return append(stmts,
		store.Stmt{SQL: sqlMakeWayAll, Args: args},
		store.Stmt{SQL: sqlSetKeys, Args: append(args[:3:3], c.newVersion())},
		store.Stmt{SQL: sqlSetValues, Args: []store.Value{args[0], hashed(c.Args[1:], 2)}})
}

// hashedKeys is list for keys with their hashes.
func (c *Call) hashedKeys(keys [][]byte) []store.Value {
	return []store.Value{store.Int(int64(c.Env.DB)), hashed(keys, 1), store.Int(c.Env.Now)}
}

func mset(c *Call) Plan {
	if len(c.Args)%2 == 0 {
		return answer(wrongArity(c.Command))
	}
	return write(decodeOK, c.setAll(nil, c.hashedKeys(c.everySecond()))...)
}

func msetnx(c *Call) Plan {
	if len(c.Args)%2 == 0 {
		return answer(wrongArity(c.Command))
	}
	keys := c.hashedKeys(c.everySecond())
	absent := store.Stmt{SQL: sqlGuardAllAbsent, Args: keys, Refused: &resp.Zero}
	return write(always(resp.One), c.setAll([]store.Stmt{absent}, keys)...)
}
