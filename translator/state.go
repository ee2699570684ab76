package translator

import "github.com/meowdis/meowdis/store"

const sqlStates = `SELECT k.version, k.dies_at <= ?3, k.type = 'hash' AND (k.expires_at IS NULL OR k.expires_at > ?3), k.count,
	k.expires_at IS NOT NULL, iif(k.type = 'stream', (SELECT count(*) FROM stream_consumers WHERE key_id = k.id), 0)
	FROM json_each(?2) j LEFT JOIN keys k ON k.db = ?1 AND k.key = unhex(j.value) ORDER BY j.key`

// ReadStates returns the statement that reads the state of keys in the database env.DB. It returns a row per key: the
// version, NULL for a missing key; whether the key has expired; whether it expired with its hash's last field; the
// number of its elements; whether it has a TTL; and the number of a stream's consumers.
func ReadStates(env Env, keys [][]byte) store.Stmt {
	c := Call{Env: env}
	return store.Stmt{SQL: sqlStates, Args: c.list(keys)}
}
