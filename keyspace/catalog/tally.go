package catalog

import (
	"context"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// Keys of a range are counted in the name index. Expired keys of the range are then counted in
// keys_by_death, unless the database has more expired keys than the range has keys.
var (
	sqlCount = sync.OnceValue(func() map[bool]string {
		return bounded(`SELECT count(*) FROM keys WHERE db = ?1 AND key >= ?2`)
	})
	sqlExpired = sync.OnceValue(func() map[bool]string {
		return bounded(`SELECT count(*) FROM keys INDEXED BY keys_by_death WHERE ` + schema.DiesAt + ` <= ?4 AND db = ?1 AND key >= ?2`)
	})
	sqlLive = sync.OnceValue(func() map[bool]string {
		return bounded(`SELECT count(*) FROM keys WHERE (dies_at IS NULL OR dies_at > ?4) AND db = ?1 AND key >= ?2`)
	})
	sqlBytes = sync.OnceValue(func() map[bool]string {
		return bounded(`SELECT sum(` + byteCount("?4") + `) FROM keys WHERE (dies_at IS NULL OR dies_at > ?4) AND db = ?1 AND key >= ?2`)
	})
)

const sqlAllExpired = `SELECT count(*) FROM keys INDEXED BY keys_by_death WHERE ` + schema.DiesAt + ` <= ?2 AND db = ?1`

// bounded returns a statement without and with the upper bound ?3.
func bounded(head string) map[bool]string {
	return map[bool]string{false: head + ` AND ?3 IS NULL`, true: head + ` AND key < ?3`}
}

// sqlNextExpiry takes one seek in keys_by_death.
const sqlNextExpiry = `SELECT min(` + schema.DiesAt + `) FROM keys INDEXED BY keys_by_death WHERE ` + schema.DiesAt + ` > ?1`

// NextExpiry returns the time, in Unix ms, of the next expiry in any database, or 0 if no key
// has an expiry.
func (c *Catalog) NextExpiry(ctx context.Context) (int64, error) {
	rows, err := c.read(ctx, store.Stmt{SQL: sqlNextExpiry, Args: []store.Value{store.Int(c.now())}})
	if err != nil || rows[0][0][0].IsNull() {
		return 0, err
	}
	return rows[0][0][0].Int(), nil
}

// Count counts the live keys whose names begin with prefix.
func (c *Catalog) Count(ctx context.Context, db int, prefix string) (int64, error) {
	high, now := PrefixEnd(prefix), store.Int(c.now())
	args := []store.Value{store.Int(int64(db)), blob(prefix), boundary(high)}
	rows, err := c.read(ctx, store.Stmt{SQL: sqlCount()[high != nil], Args: args}, store.Stmt{SQL: sqlAllExpired, Args: []store.Value{args[0], now}})
	if err != nil {
		return 0, err
	}
	keys, dead := rows[0][0][0].Int(), rows[1][0][0].Int()
	if dead == 0 || keys == 0 {
		return keys, nil
	}
	sql := sqlExpired()
	if dead > keys {
		sql = sqlLive()
	}
	if rows, err = c.read(ctx, store.Stmt{SQL: sql[high != nil], Args: append(args, now)}); err != nil {
		return 0, err
	}
	n := rows[0][0][0].Int()
	if dead > keys {
		return n, nil
	}
	return max(keys-n, 0), nil // the two counts are of different moments
}

// Bytes totals the bytes of the names and values of the keys with prefix. It reads all of them,
// in slices, so no read transaction lasts long.
func (c *Catalog) Bytes(ctx context.Context, db int, prefix string) (bytes int64, err error) {
	low, end := []byte(prefix), PrefixEnd(prefix)
	for more := true; more; {
		high := end
		reach, err := c.read(ctx, store.Stmt{SQL: sqlLastName()[direction{bounded: end != nil}], Args: []store.Value{
			store.Int(int64(db)), store.Bytes(low), boundary(end), store.Int(maxExamined)}})
		if err != nil {
			return 0, err
		}
		if more = reach[0][0][1].Int() == maxExamined; more {
			high = append(reach[0][0][0].Bytes(), 0)
		}
		rows, err := c.read(ctx, store.Stmt{SQL: sqlBytes()[high != nil], Args: []store.Value{
			store.Int(int64(db)), store.Bytes(low), boundary(high), store.Int(c.now())}})
		if err != nil {
			return 0, err
		}
		bytes += rows[0][0][0].Int()
		low = high
	}
	return bytes, nil
}
