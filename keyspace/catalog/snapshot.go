package catalog

import (
	"context"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// Snapshot reads the keys of one database of a file from its tables, all at one moment. Bytes
// counts names and values as the user wrote them.
type Snapshot struct {
	// Transact runs fn in one transaction of the store.
	Transact func(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error
	DB       int
	Now      int64  // Unix ms
	Type     string // empty for all
	Detail   keyspace.Detail
}

// ?2 is the database, ?3 now, and ?4 the keyspace.Detail. The row headers hold the lengths of
// values, so the values are not read.
var sqlSnapshot = sync.OnceValue(func() string {
	counted := keytype.Case(func(t *keytype.Type) bool { return t.Count != "" }, func(t *keytype.Type) string { return t.Counted("?3") })
	bytes := keytype.Case(nil, func(t *keytype.Type) string { return t.Bytes("?3") })
	return `SELECT id, key, type, dies_at, iif(?4 & 2, ifnull(` + counted + `, -1), -1), iif(?4 & 4, length(key) + ifnull(` + bytes + `, 0), -1)
	FROM keys WHERE (dies_at IS NULL OR dies_at > ?3) AND `
})

// sqlSnapshotPage selects a page of keys after the id ?1, sqlSnapshotKey the key ?1.
var (
	sqlSnapshotPage = sync.OnceValue(func() string { return sqlSnapshot() + `id > ?1 AND +db = ?2 ORDER BY id LIMIT 1000` })
	sqlSnapshotKey  = sync.OnceValue(func() string { return sqlSnapshot() + `db = ?2 AND key = ?1` })
)

// Keys calls each with nonempty pages of keys, in the order of their creation.
func (s Snapshot) Keys(ctx context.Context, each func([]keyspace.Key) error) error {
	return s.Transact(ctx, true, func(run func(store.Batch) (store.Result, error)) error {
		last := store.Int(-1 << 63)
		for {
			rows, err := s.rows(run, sqlSnapshotPage(), last)
			if err != nil || len(rows) == 0 {
				return err
			}
			before := last
			if last = rows[len(rows)-1][0]; last.Int() <= before.Int() {
				return store.ErrOutOfOrder
			}
			if keys := s.keys(rows); len(keys) > 0 {
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

// Measure sets Bytes of each key.
func (s Snapshot) Measure(ctx context.Context, keys []keyspace.Key) error {
	s.Detail = keyspace.Measured
	return s.Transact(ctx, true, func(run func(store.Batch) (store.Result, error)) error {
		for i := range keys {
			rows, err := s.rows(run, sqlSnapshotKey(), store.Bytes(keys[i].Name))
			if err != nil {
				return err
			}
			for _, k := range s.keys(rows) {
				keys[i].Bytes = k.Bytes
			}
		}
		return ctx.Err()
	})
}

func (s Snapshot) rows(run func(store.Batch) (store.Result, error), sql string, first store.Value) ([]store.Row, error) {
	args := []store.Value{first, store.Int(int64(s.DB)), store.Int(s.Now), store.Int(int64(s.Detail))}
	r, err := run(store.Batch{Stmts: []store.Stmt{{SQL: sql, Args: args}}, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return r.Rows[0], nil
}

// keys converts the rows of a page.
func (s Snapshot) keys(rows []store.Row) []keyspace.Key {
	keys := make([]keyspace.Key, 0, len(rows))
	for _, row := range rows {
		k := keyspace.Key{Name: row[1].Bytes(), Type: string(row[2].Bytes()), TTL: -1, Count: row[4].Int(), Bytes: row[5].Int()}
		if !row[3].IsNull() {
			k.TTL = row[3].Int() - s.Now
		}
		if s.Type == "" || strings.EqualFold(s.Type, k.Type) {
			keys = append(keys, k)
		}
	}
	return keys
}
