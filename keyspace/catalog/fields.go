package catalog

import (
	"context"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/store"
)

// Statements about the fields of the hash ?2 in database ?1 after the position ?4, which is the hash of a field's
// name. ?3 is now. sqlFieldsEnd selects the position after ?5 fields, and sqlFields the fields up to the position ?5.
var (
	sqlFieldsEnd = sync.OnceValue(func() string {
		return `SELECT hash FROM hashes WHERE ` + ofHash + ` AND hash > ?4 ORDER BY hash LIMIT 1 OFFSET ?5 - 1`
	})
	sqlFields = sync.OnceValue(func() string {
		return `SELECT field, value, expires_at FROM hashes WHERE ` + ofHash + ` AND hash > ?4 AND hash <= ?5
			AND (expires_at IS NULL OR expires_at > ?3) ORDER BY hash`
	})
)

const ofHash = `key_id = (SELECT id FROM keys WHERE db = ?1 AND key = ?2 AND type = 'hash' AND (dies_at IS NULL OR dies_at > ?3))`

// BeforeFields is the position before the first field of a hash.
const BeforeFields = -1

// Fields passes about n live fields of a hash after a position, in the order of HSCAN, to the function that start
// returns. A store that reads them again calls start again. The bytes of a field are valid during the call only. It returns the position after them, and whether they are the last ones. A missing
// hash has no fields.
func (c *Catalog) Fields(ctx context.Context, db int, key string, after int64, n int, start func() func(rdb.Field)) (next int64, end bool, err error) {
	args := []store.Value{store.Int(int64(db)), blob(key), store.Int(c.now()), store.Int(after), store.Int(int64(n))}
	rows, err := c.read(ctx, store.Stmt{SQL: sqlFieldsEnd(), Args: slices.Clone(args)})
	if err != nil {
		return after, false, err
	}
	next, end = lastHash, len(rows[0]) == 0
	if !end {
		if next = rows[0][0][0].Int(); next <= after {
			return after, false, store.ErrOutOfOrder
		}
	}
	args[4] = store.Int(next)
	return next, end, c.fold(ctx, sqlFields(), args, func() func(store.Row) {
		each := start()
		return func(row store.Row) {
			each(rdb.Field{Name: row[0].Bytes(), Value: row[1].Bytes(), ExpiresAt: row[2].Int()})
		}
	})
}
