package catalog

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// ValueTest accepts parts of values: a string, a document, or an element's field, value or member with Bytes, and
// a score with Number. The bytes are valid during the call only.
type ValueTest struct {
	Bytes  func([]byte) bool
	Number func(float64) bool
}

// sqlValues selects ?4 keys after id ?2 in file order: the type number of keys that q accepts, and the value of a
// string that is stored in one piece. ?3 is unused.
var sqlValues = sync.OnceValue(func() string {
	return `SELECT id, CASE WHEN db = ?1 AND ` + filter + ` THEN ` + keytype.Case(nil, typeNumber) + ` END, key,
		iif(type = '` + keytype.String + `' AND count = 0, value, NULL)
	FROM keys NOT INDEXED WHERE id > ?2 ORDER BY id LIMIT ?4`
})

// sqlParts selects, by type, the parts of the elements of keys with ids from ?1 to ?2, in the order of the ids, of a
// hash without the fields that have expired at ?3. Other types are not stored as the user sees them.
var sqlParts = sync.OnceValue(func() map[string]string {
	parts := func(columns, table, where string) string {
		return `SELECT key_id, ` + columns + ` FROM ` + table + ` WHERE key_id >= ?1 AND key_id <= ?2` + where + ` ORDER BY key_id`
	}
	return map[string]string{
		keytype.Hash: parts("field, value", "hashes", ` AND (expires_at IS NULL OR expires_at > ?3)`),
		keytype.List: parts("value", "lists", ``),
		keytype.Set:  parts("member", "sets", ``),
		keytype.ZSet: parts("member, score", "zsets", ``),
		keytype.JSON: parts("value", "documents", ``),
	}
})

// valueSlice collects the keys of a slice of SearchValues.
type valueSlice struct {
	test   ValueTest
	match  func(name string) bool // nil accepts all
	prefix []byte
	last   int64
	count  int
	found  []int64
	unsure []int64
	byType map[string][]int64 // the ids of keys with elements, in order
}

// SearchValues tests the values of about n keys of q after a mark, in file order. It returns the keys that have a
// part which test accepts, and the keys whose values are not stored in such parts: only commands can read them. It
// ignores q's order and its filter by bytes.
func (c *Catalog) SearchValues(ctx context.Context, q Query, from Mark, n int, test ValueTest) (found Page, unsure []Entry, err error) {
	s := valueSlice{test: test, match: q.Match, prefix: []byte(q.Prefix)}
	after := int64(-1 << 63)
	if from.Set {
		after = from.id
	}
	args := append([]store.Value{store.Int(int64(q.DB)), store.Int(after), {}, store.Int(int64(n))}, c.filters(q)...)
	fold := func() func(store.Row) {
		s.last, s.count, s.found, s.unsure, s.byType = after, 0, nil, nil, map[string][]int64{}
		return s.addKey
	}
	if err := c.fold(ctx, sqlValues(), args, fold); err != nil {
		return Page{}, nil, err
	}
	if s.count > 0 && s.last <= after {
		return Page{}, nil, store.ErrOutOfOrder
	}
	for typ, ids := range s.byType {
		holders, err := c.holders(ctx, typ, ids, test)
		if err != nil {
			return Page{}, nil, err
		}
		s.found = append(s.found, holders...)
	}
	found = Page{Next: Mark{Set: true, id: s.last}, End: s.count < n, Examined: s.count}
	if found.Entries, err = c.byID(ctx, s.found); err == nil {
		unsure, err = c.byID(ctx, s.unsure)
	}
	return found, unsure, err
}

// addKey tests a row of sqlValues.
func (s *valueSlice) addKey(row store.Row) {
	id := row[0].Int()
	s.last = id
	s.count++
	name := row[2].Bytes()
	if row[1].IsNull() || !bytes.HasPrefix(name, s.prefix) || s.match != nil && !s.match(string(name)) {
		return
	}
	switch typ := keytype.Types[row[1].Int()].Name; {
	case !row[3].IsNull():
		if s.test.Bytes(row[3].Bytes()) {
			s.found = append(s.found, id)
		}
	case sqlParts()[typ] != "":
		s.byType[typ] = append(s.byType[typ], id)
	default:
		s.unsure = append(s.unsure, id)
	}
}

// holders returns which keys of a type have a part that test accepts. ids is sorted.
func (c *Catalog) holders(ctx context.Context, typ string, ids []int64, test ValueTest) (found []int64, err error) {
	args := []store.Value{store.Int(ids[0]), store.Int(ids[len(ids)-1])}
	if typ == keytype.Hash {
		args = append(args, store.Int(c.now()))
	}
	err = c.fold(ctx, sqlParts()[typ], args, func() func(store.Row) {
		found = nil
		rest := ids
		return func(row store.Row) {
			id := row[0].Int()
			for len(rest) > 0 && rest[0] < id {
				rest = rest[1:]
			}
			if len(rest) == 0 || rest[0] != id {
				return // another key, or a key that was found
			}
			if slices.ContainsFunc(row[1:], test.accepts) {
				found, rest = append(found, id), rest[1:]
			}
		}
	})
	return found, err
}

// accepts tests a column of an element.
func (t ValueTest) accepts(v store.Value) bool {
	if v.Kind() == store.Real {
		return t.Number(v.Float())
	}
	return t.Bytes(v.Bytes())
}

// fold runs a statement and passes its rows to the function that start returns.
func (c *Catalog) fold(ctx context.Context, sql string, args []store.Value, start func() func(store.Row)) error {
	rows, err := c.read(ctx, store.Stmt{SQL: sql, Args: args, Fold: start})
	if err == nil && len(rows) > 0 && len(rows[0]) > 0 { // the store ignores Fold
		each := start()
		for _, row := range rows[0] {
			each(row)
		}
	}
	return err
}

var sqlByIDs = sync.OnceValue(func() string {
	return `SELECT ` + factColumns() + ` FROM keys WHERE id IN (SELECT value FROM json_each(?1))`
})

// byID returns the keys with these ids, in any order, without the missing ones.
func (c *Catalog) byID(ctx context.Context, ids []int64) (entries []Entry, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list := []byte("[")
	for i, id := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, id, 10)
	}
	rows, err := c.read(ctx, store.Stmt{SQL: sqlByIDs(), Args: []store.Value{store.TextBytes(append(list, ']'))}})
	if err != nil {
		return nil, err
	}
	for _, row := range rows[0] {
		entries = append(entries, entry(row))
	}
	return entries, nil
}
