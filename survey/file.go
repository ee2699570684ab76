package survey

import (
	"context"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/keytype"
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
	Facts    Facts
}

// ?2 is the database, ?3 now, and ?4 the facts that are wanted. The lengths of values
// are in the heads of their rows: the values are not read.
var sqlFileFacts = sync.OnceValue(func() string {
	counted := keytype.Case(func(t *keytype.Type) bool { return t.Count != "" }, func(t *keytype.Type) string { return t.Counted("?3") })
	bytes := keytype.Case(nil, func(t *keytype.Type) string { return t.Bytes("?3") })
	return `SELECT id, key, type, dies_at, iif(?4 > 0, ifnull(` + counted + `, -1), -1), iif(?4 > 1, length(key) + ifnull(` + bytes + `, 0), -1)
	FROM keys WHERE (dies_at IS NULL OR dies_at > ?3) AND `
})

// A page of keys behind the id ?1, or the key ?1.
var (
	sqlFilePage = sync.OnceValue(func() string { return sqlFileFacts() + `id > ?1 AND +db = ?2 ORDER BY id LIMIT 1000` })
	sqlFileKey  = sync.OnceValue(func() string { return sqlFileFacts() + `db = ?2 AND key = ?1` })
)

// Keys calls each for pages of keys, none of them empty, in the order in which
// they were made.
func (f File) Keys(ctx context.Context, each func([]Key) error) error {
	return f.Transact(ctx, true, func(run func(store.Batch) (store.Result, error)) error {
		last := store.Int(-1 << 63)
		for {
			rows, err := f.rows(run, sqlFilePage(), last)
			if err != nil || len(rows) == 0 {
				return err
			}
			before := last
			if last = rows[len(rows)-1][0]; last.Int() <= before.Int() {
				return store.ErrDisorder
			}
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

// Measure finds out the bytes of keys.
func (f File) Measure(ctx context.Context, keys []Key) error {
	f.Facts = Measured
	return f.Transact(ctx, true, func(run func(store.Batch) (store.Result, error)) error {
		for i := range keys {
			rows, err := f.rows(run, sqlFileKey(), store.Bytes(keys[i].Name))
			if err != nil {
				return err
			}
			for _, k := range f.keys(rows) {
				keys[i].Bytes = k.Bytes
			}
		}
		return ctx.Err()
	})
}

func (f File) rows(run func(store.Batch) (store.Result, error), sql string, first store.Value) ([]store.Row, error) {
	args := []store.Value{first, store.Int(int64(f.DB)), store.Int(f.Now), store.Int(int64(f.Facts))}
	r, err := run(store.Batch{Stmts: []store.Stmt{{SQL: sql, Args: args}}, ReadOnly: true})
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
