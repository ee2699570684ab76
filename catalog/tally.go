package catalog

import (
	"context"

	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

// The keys of a range are counted in the index of names, and those of them that
// have expired in the index of deaths.
var (
	sqlCount = bounded(`SELECT count(*) FROM keys WHERE db = ?1 AND key >= ?2`)
	sqlDead  = bounded(`SELECT count(*) FROM keys INDEXED BY keys_by_death WHERE ` + schema.DiesAt + ` <= ?4 AND db = ?1 AND key >= ?2`)
	sqlBytes = bounded(`SELECT sum(` + byteCount + `) FROM keys WHERE (dies_at IS NULL OR dies_at > ?4) AND db = ?1 AND key >= ?2`)
)

// bounded is a statement without and with the upper bound ?3.
func bounded(head string) map[bool]string {
	return map[bool]string{false: head + ` AND ?3 IS NULL`, true: head + ` AND key < ?3`}
}

// Tally counts the keys whose names begin with prefix.
func (c *Catalog) Tally(ctx context.Context, db int, prefix string) (int64, error) {
	high := After(prefix)
	args := []store.Value{store.Int(int64(db)), blob(prefix), boundary(high)}
	dead := append(args[:3:3], store.Int(c.now()))
	rows, err := c.read(ctx, store.Stmt{SQL: sqlCount[high != nil], Args: args}, store.Stmt{SQL: sqlDead[high != nil], Args: dead})
	if err != nil {
		return 0, err
	}
	return rows[0][0][0].Int() - rows[1][0][0].Int(), nil
}

// Weigh adds up the bytes of the keys whose names begin with prefix, and of their
// values. It reads all of them, some at a time, so that no reader of the file stays for long.
func (c *Catalog) Weigh(ctx context.Context, db int, prefix string) (bytes int64, err error) {
	low, end := []byte(prefix), After(prefix)
	for more := true; more; {
		high := end
		reach, err := c.read(ctx, store.Stmt{SQL: sqlReach[direction{bounded: end != nil}], Args: []store.Value{
			store.Int(int64(db)), store.Bytes(low), boundary(end), store.Int(lookAt)}})
		if err != nil {
			return 0, err
		}
		if more = reach[0][0][1].Int() == lookAt; more {
			high = append(reach[0][0][0].Bytes(), 0)
		}
		rows, err := c.read(ctx, store.Stmt{SQL: sqlBytes[high != nil], Args: []store.Value{
			store.Int(int64(db)), store.Bytes(low), boundary(high), store.Int(c.now())}})
		if err != nil {
			return 0, err
		}
		bytes += rows[0][0][0].Int()
		low = high
	}
	return bytes, nil
}
