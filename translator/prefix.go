package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/store"
)

const (
	prefixFrom = `SELECT key FROM keys WHERE db = ?1 AND key >= ?2 AND (dies_at IS NULL OR dies_at > ?3)`
	inOrder    = ` ORDER BY key LIMIT ?4`

	sqlPrefix     = prefixFrom + ` AND key < ?5` + inOrder
	sqlLastPrefix = prefixFrom + inOrder
)

// KeysWithPrefix returns the statement that reads the first keys with the prefix, in byte order, from the index, one
// key per row. No command does that, since Redis has no order of keys.
func KeysWithPrefix(env Env, prefix []byte, limit int) store.Stmt {
	c := Call{Env: env}
	if end := afterPrefix(prefix); end != nil {
		return store.Stmt{SQL: sqlPrefix, Args: append(c.prefixArgs(prefix, limit), store.Bytes(end))}
	}
	return store.Stmt{SQL: sqlLastPrefix, Args: c.prefixArgs(prefix, limit)}
}

func (c *Call) prefixArgs(prefix []byte, limit int) []store.Value {
	return []store.Value{store.Int(int64(c.Env.DB)), store.Bytes(prefix), store.Int(c.Env.Now), store.Int(int64(limit))}
}

// afterPrefix returns the first string after all strings with the prefix, nil if none exists.
func afterPrefix(prefix []byte) []byte {
	end := bytes.TrimRight(prefix, "\xff")
	if len(end) == 0 {
		return nil
	}
	end = bytes.Clone(end)
	end[len(end)-1]++
	return end
}
