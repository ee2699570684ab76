package catalog

import (
	"context"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// ?2 is the id of the last key of the previous page, and ?3 a number of keys. The + keeps SQLite from another index than
// the ids.
var sqlStored = sync.OnceValue(func() string {
	return sqlKeys() + `FROM keys WHERE id > ?2 AND +db = ?1 AND (dies_at IS NULL OR dies_at > ?4) ORDER BY id LIMIT ?3`
})

// sqlMostKeys reports whether most keys of all databases are in ?1.
const sqlMostKeys = `SELECT 2 * ifnull((SELECT keys FROM dbs WHERE db = ?1), 0) >= (SELECT sum(keys) FROM dbs)`

// firstStored is added to the id of a key to make a position. Hashes are less, so a position names its order.
const firstStored = lastHash

// ScanStored lists keys as Scan does, but in the order of their rows, so that it reads each page of the file once. The keys
// of a database that has few of them come in the order of Scan. A key may be listed twice if its id changes.
func (c *Catalog) ScanStored(ctx context.Context, db int, after, most int64, wanted func(name []byte, typ string) bool) (keys []Scanned, next int64, err error) {
	if after == 0 {
		rows, err := c.read(ctx, store.Stmt{SQL: sqlMostKeys, Args: []store.Value{store.Int(int64(db))}})
		if err != nil {
			return nil, 0, err
		}
		if rows[0][0][0].Int() == 1 {
			after = firstStored
		}
	}
	if after < firstStored {
		return c.Scan(ctx, db, after, most, wanted)
	}
	now := c.now()
	args := []store.Value{store.Int(int64(db)), store.Int(after - firstStored), store.Int(most), store.Int(now), store.Int(maxScannedValue)}
	rows, err := c.read(ctx, store.Stmt{SQL: sqlStored(), Args: args})
	if err != nil {
		return nil, 0, err
	}
	if found := rows[0]; int64(len(found)) == most {
		if next = firstStored + found[most-1][0].Int(); next <= after {
			return nil, 0, store.ErrOutOfOrder
		}
	}
	for _, row := range rows[0] {
		if k := scannedKey(row); wanted(k.Name, k.Type) {
			keys = append(keys, k)
		}
	}
	return keys, next, c.addElements(ctx, keys, now)
}
