package translator

import (
	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	sqlFirstFrom  = `SELECT key, type FROM keys WHERE db = ?1 AND key >= ?2 AND (dies_at IS NULL OR dies_at > ?3) ORDER BY key LIMIT ?4`
	sqlFirstRange = `SELECT key, type FROM keys WHERE db = ?1 AND key >= ?2 AND (dies_at IS NULL OR dies_at > ?3) AND key < ?5 ORDER BY key LIMIT ?4`
)

// FirstKeys reads the first keys in order with the prefix, at most limit. No command does that: KEYS reads all of them,
// and SCAN follows their hashes. The reply is a map of keys and their types.
func FirstKeys(env Env, prefix []byte, limit int) Plan {
	c := &Call{Env: env}
	stmt := c.stmt(sqlFirstFrom, prefix, store.Int(int64(limit)))
	if to := glob.After(prefix); to != nil {
		stmt = c.stmt(sqlFirstRange, prefix, store.Int(int64(limit)), store.Bytes(to))
	}
	return read(func(r *store.Result) resp.Value {
		reply := resp.EmptyMap
		for _, row := range r.Rows[0] {
			reply.Elems = append(reply.Elems, bulk(row[0]), bulk(row[1]))
		}
		return reply
	}, stmt)
}
