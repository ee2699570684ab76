package catalog

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// typeNumber returns the index of t in keytype.Types.
func typeNumber(t *keytype.Type) string { return strconv.Itoa(slices.Index(keytype.Types, t)) }

// whole reports whether the value of a type is the bytes of one row.
func whole(t *keytype.Type) bool { return t.Parts == nil }

// keyBytes returns the expression for the bytes of a key's name, plus the bytes of its value
// that no element row holds.
func keyBytes() string {
	return `length(key) + ifnull(` + keytype.Case(func(t *keytype.Type) bool { return t.Weight != "" }, (*keytype.Type).KeyBytes) + `, 0)`
}

// byteCount returns the expression for the bytes of a key and its value, looked up per key.
// Keys need not be in file order.
func byteCount(now string) string {
	return `(length(key) + ifnull(` + keytype.Case(nil, func(t *keytype.Type) string { return t.Bytes(now) }) + `, 0))`
}

var sqlKeyBytes = sync.OnceValue(func() string {
	return `SELECT ` + byteCount("?3") + ` FROM keys WHERE db = ?1 AND key = ?2 AND (dies_at IS NULL OR dies_at > ?3)`
})

// KeyBytes returns the bytes of each key and its value; -1 for a missing key.
func (c *Catalog) KeyBytes(ctx context.Context, db int, names []string) ([]int64, error) {
	stmts := make([]store.Stmt, len(names))
	for i, name := range names {
		stmts[i] = store.Stmt{SQL: sqlKeyBytes(), Args: []store.Value{store.Int(int64(db)), blob(name), store.Int(c.now())}}
	}
	bytes := make([]int64, len(names))
	if len(names) == 0 {
		return bytes, nil
	}
	rows, err := c.read(ctx, stmts...)
	if err != nil {
		return nil, err
	}
	for i := range names {
		if bytes[i] = -1; len(rows[i]) > 0 {
			bytes[i] = rows[i][0][0].Int()
		}
	}
	return bytes, nil
}

// typeRank numbers the types in name order.
func typeRank() string {
	return keytype.Case(nil, func(t *keytype.Type) string {
		before := 0
		for _, other := range keytype.Types {
			if other.Name < t.Name {
				before++
			}
		}
		return strconv.Itoa(before)
	})
}

// sqlValueBytes selects, by type, the bytes of the values of the key ids ?1 to ?2, in one pass
// over a part of the type's table.
var sqlValueBytes = sync.OnceValue(func() (all []string) {
	for _, t := range keytype.Types {
		table := t.BytesTable()
		if table.Name == "" { // KeyBytes covers the whole value
			all = append(all, "")
			continue
		}
		bytes, group := table.Bytes, ``
		if !table.SingleRow() {
			bytes, group = `sum(`+table.Bytes+`)`, ` GROUP BY key_id`
		}
		all = append(all, `SELECT key_id, `+bytes+` FROM `+table.Name+` WHERE key_id >= ?1 AND key_id <= ?2`+table.Live("?3")+group+` ORDER BY key_id`)
	}
	return all
})

// sizedKey identifies a key of unknown value size by its id and type number.
type sizedKey struct{ id, typeNumber int64 }

// valueBytes returns the bytes of the values of keys, without keyBytes. keys must be in id order,
// a slice of consecutive keys of the file.
func (c *Catalog) valueBytes(ctx context.Context, keys []sizedKey) ([]int64, error) {
	var stmts []store.Stmt
	for kind, sql := range sqlValueBytes() {
		is := func(k sizedKey) bool { return k.typeNumber == int64(kind) }
		first := slices.IndexFunc(keys, is)
		if first < 0 || sql == "" {
			continue
		}
		last := len(keys) - 1
		for !is(keys[last]) {
			last--
		}
		args := []store.Value{store.Int(keys[first].id), store.Int(keys[last].id)}
		if keytype.Types[kind].BytesTable().Expires != "" {
			args = append(args, store.Int(c.now()))
		}
		stmts = append(stmts, store.Stmt{SQL: sql, Args: args})
	}
	weights := make([]int64, len(keys))
	if len(stmts) == 0 {
		return weights, nil
	}
	results, err := c.read(ctx, stmts...)
	if err != nil {
		return nil, err
	}
	for _, rows := range results {
		addValueBytes(weights, keys, rows)
	}
	return weights, nil
}

// addValueBytes adds the weights in rows, which are in id order, to the weights of keys.
func addValueBytes(weights []int64, keys []sizedKey, rows []store.Row) {
	i := 0
	for _, row := range rows {
		id := row[0].Int()
		for i < len(keys) && keys[i].id < id {
			i++
		}
		if i < len(keys) && keys[i].id == id {
			weights[i] += row[1].Int()
		}
	}
}
