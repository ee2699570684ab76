package survey

import (
	"context"
	"strings"

	"github.com/meowdis/meowdis/store"
)

// File reads the keys of one database of a file from its tables, all at one
// moment. Bytes are those of names and values, as users have written them.
type File struct {
	// Transact is a store's: it runs fn in one transaction.
	Transact func(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error
	DB       int
	Now      int64  // Unix ms
	Type     string // empty for all
	Facts    Facts  // Described or Measured
}

// ?1 is the last id of the page before, ?2 the database, ?3 now, and ?4 whether
// bytes are wanted. The lengths of
// values are in the heads of their rows: the values are not read.
const sqlFilePage = `SELECT id, key, type, dies_at,
	CASE type
		WHEN 'string' THEN (SELECT length(value) FROM strings WHERE key_id = keys.id)
		WHEN 'hash' THEN iif(volatile = 0, count, (SELECT count(*) FROM hashes WHERE key_id = keys.id AND (expires_at IS NULL OR expires_at > ?3)))
		WHEN 'ReJSON-RL' THEN -1
		ELSE count END,
	iif(?4, length(key) + ifnull(CASE type
		WHEN 'string' THEN (SELECT length(value) FROM strings WHERE key_id = keys.id)
		WHEN 'hash' THEN (SELECT sum(length(field) + length(value)) FROM hashes WHERE key_id = keys.id AND (hashes.expires_at IS NULL OR hashes.expires_at > ?3))
		WHEN 'list' THEN (SELECT sum(length(value)) FROM lists WHERE key_id = keys.id)
		WHEN 'set' THEN (SELECT sum(length(member)) FROM sets WHERE key_id = keys.id)
		WHEN 'zset' THEN (SELECT sum(length(member) + 8) FROM zsets WHERE key_id = keys.id)
		WHEN 'array' THEN (SELECT sum(length(value)) FROM arrays WHERE key_id = keys.id)
		WHEN 'stream' THEN (SELECT sum(length(id) + length(fields)) FROM stream_entries WHERE key_id = keys.id)
		WHEN 'ReJSON-RL' THEN (SELECT length(value) FROM documents WHERE key_id = keys.id)
		END, 0), -1)
	FROM keys WHERE id > ?1 AND +db = ?2 AND (dies_at IS NULL OR dies_at > ?3) ORDER BY id LIMIT 1000`

// Keys calls each for pages of keys, none of them empty, in the order in which
// they were made.
func (f File) Keys(ctx context.Context, each func([]Key) error) error {
	return f.Transact(ctx, true, func(run func(store.Batch) (store.Result, error)) error {
		last := store.Int(-1 << 63)
		for {
			rows, err := f.page(run, last)
			if err != nil || len(rows) == 0 {
				return err
			}
			last = rows[len(rows)-1][0]
			if keys := f.keys(rows); len(keys) > 0 {
				if err := each(keys); err != nil {
					return err
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	})
}

func (f File) page(run func(store.Batch) (store.Result, error), last store.Value) ([]store.Row, error) {
	measured := store.Int(0)
	if f.Facts >= Measured {
		measured = store.Int(1)
	}
	args := []store.Value{last, store.Int(int64(f.DB)), store.Int(f.Now), measured}
	r, err := run(store.Batch{Stmts: []store.Stmt{{SQL: sqlFilePage, Args: args}}, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return r.Rows[0], nil
}

// keys reads the rows of a page.
func (f File) keys(rows []store.Row) []Key {
	keys := make([]Key, 0, len(rows))
	for _, row := range rows {
		k := Key{Name: row[1].Bytes(), Type: string(row[2].Bytes()), TTL: -1, Count: row[4].Int(), Bytes: row[5].Int()}
		if !row[3].IsNull() {
			k.TTL = row[3].Int() - f.Now
		}
		if f.Type == "" || strings.EqualFold(f.Type, k.Type) {
			keys = append(keys, k)
		}
	}
	return keys
}
