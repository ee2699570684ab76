package translator

import (
	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// Statements of a key search. ?4 limits the keys that they look at, ?5 is the type or "".
const (
	sqlAlive      = `(dies_at IS NULL OR dies_at > ?3)`
	sqlFirstFrom  = `SELECT key, type FROM (SELECT key, type, dies_at FROM keys WHERE db = ?1 AND key >= ?2 ORDER BY key LIMIT ?4) WHERE ` + sqlAlive + ` AND (?5 = '' OR type = ?5)`
	sqlFirstRange = `SELECT key, type FROM (SELECT key, type, dies_at FROM keys WHERE db = ?1 AND key >= ?2 AND key < ?6 ORDER BY key LIMIT ?4) WHERE ` + sqlAlive + ` AND (?5 = '' OR type = ?5)`
	sqlNextFrom   = `SELECT key FROM keys WHERE db = ?1 AND key >= ?2 ORDER BY key LIMIT 1 OFFSET ?4`
	sqlNextRange  = `SELECT key FROM keys WHERE db = ?1 AND key >= ?2 AND key < ?5 ORDER BY key LIMIT 1 OFFSET ?4`
)

// FirstKeys looks at up to look keys with the prefix, in order, beginning at from. The reply lists
// the keys of the type kind, or of any type if kind is "", each with its type. Its last element is the key to continue
// at, nil at the end. No command does this: KEYS reads all keys, and SCAN follows their hashes.
func FirstKeys(env Env, prefix, from []byte, kind string, look int) Plan {
	c := &Call{Env: env}
	n, of := store.Int(int64(look)), store.String(kind)
	first, next := c.stmt(sqlFirstFrom, from, n, of), c.stmt(sqlNextFrom, from, n)
	if to := glob.After(prefix); to != nil {
		first, next = c.stmt(sqlFirstRange, from, n, of, store.Bytes(to)), c.stmt(sqlNextRange, from, n, store.Bytes(to))
	}
	return read(func(r *store.Result) resp.Value {
		reply := resp.EmptyArray
		for _, row := range r.Rows[0] {
			reply.Elems = append(reply.Elems, bulk(row[0]), bulk(row[1]))
		}
		if len(r.Rows[1]) == 0 {
			return withLast(reply, resp.Nil)
		}
		return withLast(reply, bulk(r.Rows[1][0][0]))
	}, first, next)
}

func withLast(list, last resp.Value) resp.Value {
	list.Elems = append(list.Elems, last)
	return list
}

// sqlKeysOf maps a type to the statement that finds its keys: one seek per key in the table of its elements.
var sqlKeysOf = keysOfTypes()

func keysOfTypes() map[string]string {
	all := map[string]string{}
	for _, t := range keytype.Types {
		if t.InKey {
			continue // its table lacks the short values
		}
		table := t.Tables[0].Name
		all[t.Name] = `WITH RECURSIVE ids(id) AS (SELECT min(key_id) FROM ` + table + `
			UNION ALL SELECT (SELECT min(key_id) FROM ` + table + ` WHERE key_id > ids.id) FROM ids WHERE ids.id IS NOT NULL LIMIT ?4)
			SELECT iif(k.db = ?1 AND k.key >= ?2 AND (?5 IS NULL OR k.key < ?5) AND (k.dies_at IS NULL OR k.dies_at > ?3), k.key, NULL), k.type
			FROM ids LEFT JOIN keys k ON k.id = ids.id WHERE ids.id IS NOT NULL`
	}
	return all
}

// KeysOfType looks at up to look keys of a type, of all databases and in the order of their creation. The reply
// lists the keys with the prefix, each with its type. Its last element is 1 if it looked at all keys of the type. ok is false for a type without an
// index of its keys.
func KeysOfType(env Env, prefix []byte, kind string, look int) (plan Plan, ok bool) {
	sql, ok := sqlKeysOf[kind]
	if !ok {
		return Plan{}, false
	}
	c := &Call{Env: env}
	var to store.Value
	if after := glob.After(prefix); after != nil {
		to = store.Bytes(after)
	}
	return read(func(r *store.Result) resp.Value {
		reply, all := resp.EmptyArray, int64(1)
		for _, row := range r.Rows[0] {
			if !row[0].IsNull() {
				reply.Elems = append(reply.Elems, bulk(row[0]), bulk(row[1]))
			}
		}
		if len(r.Rows[0]) >= look {
			all = 0
		}
		return withLast(reply, resp.MakeInt(all))
	}, c.stmt(sql, prefix, store.Int(int64(look)), to)), true
}
