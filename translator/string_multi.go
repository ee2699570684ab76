package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// MSET does to the keys ?2 what SET does to one: make way, make the keys, and
// overwrite their values, which are pairs with their keys.
const (
	sqlMakeWayAll = `DELETE FROM keys WHERE db = ?1 AND key IN (SELECT unhex(value) FROM json_each(?2))
		AND (type <> 'string' OR expires_at <= ?3)`
	sqlSetKeys = `INSERT INTO keys(db, key, type, version, created_at, updated_at)
		SELECT ?1, unhex(value), 'string', ?4, ?3, ?3 FROM json_each(?2) WHERE true
		ON CONFLICT(db, key) DO UPDATE SET version = version + 1, updated_at = ?3, expires_at = NULL`
	sqlSetValues = `INSERT INTO strings(key_id, value)
		SELECT k.id, unhex(j.value ->> 1) FROM json_each(?2) j CROSS JOIN keys k
		WHERE k.db = ?1 AND k.key = unhex(j.value ->> 0) ORDER BY j.key
		ON CONFLICT(key_id) DO UPDATE SET value = excluded.value`
	sqlGuardAllAbsent = `INSERT INTO guard SELECT NULL FROM json_each(?2) j CROSS JOIN keys k
		WHERE k.db = ?1 AND k.key = unhex(j.value) AND (k.expires_at IS NULL OR k.expires_at > ?3)`
)

// everySecond is the arguments 1, 3, 5 and so on.
func (c *Call) everySecond() [][]byte {
	var list [][]byte
	for i := 1; i < len(c.Args); i += 2 {
		list = append(list, c.Args[i])
	}
	return list
}

// setAll appends the statements that set the keys of the call to its values.
func (c *Call) setAll(stmts []store.Stmt, keys [][]byte) []store.Stmt {
	args := c.list(keys)
	return append(stmts,
		store.Stmt{SQL: sqlMakeWayAll, Args: args},
		store.Stmt{SQL: sqlSetKeys, Args: append(args[:3:3], c.newVersion())},
		store.Stmt{SQL: sqlSetValues, Args: []store.Value{args[0], elementPairs(c.Args[1:])}})
}

func mset(c *Call) Plan {
	if len(c.Args)%2 == 0 {
		return answer(wrongArity(c.Command))
	}
	return write(decodeOK, c.setAll(nil, c.everySecond())...)
}

func msetnx(c *Call) Plan {
	if len(c.Args)%2 == 0 {
		return answer(wrongArity(c.Command))
	}
	keys := c.everySecond()
	absent := store.Stmt{SQL: sqlGuardAllAbsent, Args: c.list(keys), Refused: &resp.Zero}
	return write(always(resp.One), c.setAll([]store.Stmt{absent}, keys)...)
}

// elementPairs is the JSON argument of a list of pairs, each an array of two hex
// strings, which SQL reads with value ->> 0 and value ->> 1.
func elementPairs(list [][]byte) store.Value {
	n := 2
	for _, b := range list {
		n += 2*len(b) + 5
	}
	out := append(make([]byte, 0, n), '[')
	for i := 0; i+1 < len(list); i += 2 {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendHex(append(out, '['), list[i])
		out = append(appendHex(append(out, ','), list[i+1]), ']')
	}
	return store.TextBytes(append(out, ']'))
}
