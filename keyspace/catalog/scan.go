package catalog

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strconv"
	"sync"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// Scanned is a key read by Scan.
type Scanned struct {
	ID      int64 // stays while the key exists
	Hash    int64 // of the name; the scan order
	Name    []byte
	Type    string
	Size    int64     // elements, or bytes of a string; 1 for a document
	Expires int64     // Unix ms; 0 for never
	Value   rdb.Value // of a small key; a document is an rdb.String. nil if the caller must read it

	version int64
}

const (
	maxScannedValue    = 4 << 10 // length limit of an included string or document
	maxScannedElements = 128     // limit of the elements of an included key
	maxScannedElement  = "256"   // length limit of each element of such a key
	maxScannedPage     = 4 << 10 // limit of the included elements of a page
)

// A scan runs in the order of SCAN, by the hash of the names. ?2 is the last hash of the
// previous page. sqlScanEnd selects the last hash of a page of ?3 keys.
const sqlScanEnd = `SELECT hash FROM keys WHERE db = ?1 AND hash > ?2 ORDER BY hash LIMIT 1 OFFSET ?3 - 1`

// sqlKeys selects keys with their small values. ?1 is the database, ?4 now.
var sqlKeys = sync.OnceValue(func() string {
	size := keytype.Case(nil, func(t *keytype.Type) string {
		if t.Count == "" {
			return `1`
		}
		return t.Counted(`?4`)
	})
	return `SELECT id, version, hash, key, type, expires_at, ` + size + `,
		CASE type WHEN '` + keytype.String + `' THEN iif(count = 0 AND length(value) <= ?5, value, NULL)
			WHEN '` + keytype.JSON + `' THEN (SELECT value FROM documents WHERE key_id = keys.id AND length(value) <= ?5) END `
})

var (
	sqlScanned = sync.OnceValue(func() string {
		return sqlKeys() + `FROM keys WHERE db = ?1 AND hash > ?2 AND hash <= ?3 AND (dies_at IS NULL OR dies_at > ?4) ORDER BY hash`
	})
	// ?2 is a JSON array of names in hex.
	sqlNamed = sync.OnceValue(func() string {
		return sqlKeys() + `FROM (SELECT unhex(value) AS name FROM json_each(?2)) CROSS JOIN keys ON key = name WHERE db = ?1 AND (dies_at IS NULL OR dies_at > ?4)`
	})
)

const (
	lastHash = 1 << 53 // after every hash

	sqlScanIDs = `SELECT id FROM keys WHERE db = ?1 AND hash > ?2 AND hash <= ?3`
)

// ?2 is a JSON array of ids.
var sqlUnseen = sync.OnceValue(func() string {
	return sqlKeys() + `FROM (SELECT value AS wanted FROM json_each(?2)) CROSS JOIN keys ON id = wanted WHERE db = ?1 AND (dies_at IS NULL OR dies_at > ?4)`
})

// Scan returns the live keys of a page that wanted accepts, ordered by hash and name, and the
// position after the page, 0 if it is the last. The page begins after position after, 0 for the
// first page, and has about most keys.
//
// Elements come from a later snapshot than their keys, and are included only for keys of
// unchanged version.
func (c *Catalog) Scan(ctx context.Context, db int, after, most int64, wanted func(name []byte, typ string) bool) (keys []Scanned, next int64, err error) {
	end, next, err := c.scanEnd(ctx, db, after, most)
	if err != nil {
		return nil, 0, err
	}
	now := c.now()
	args := []store.Value{store.Int(int64(db)), store.Int(after), store.Int(end), store.Int(now), store.Int(maxScannedValue)}
	rows, err := c.read(ctx, store.Stmt{SQL: sqlScanned(), Args: args})
	if err != nil {
		return nil, 0, err
	}
	keys = sortedKeys(rows[0], wanted)
	return keys, next, c.addElements(ctx, keys, now)
}

// scanEnd returns the last hash of the page of most keys after a position, and the next position.
func (c *Catalog) scanEnd(ctx context.Context, db int, after, most int64) (end, next int64, err error) {
	rows, err := c.read(ctx, store.Stmt{SQL: sqlScanEnd, Args: []store.Value{store.Int(int64(db)), store.Int(after), store.Int(most)}})
	if err != nil || len(rows[0]) == 0 {
		return lastHash, 0, err
	}
	if end = rows[0][0][0].Int(); end <= after {
		return 0, 0, store.ErrOutOfOrder
	}
	return end, end, nil
}

// sortedKeys returns the keys that wanted accepts, ordered by hash and name.
func sortedKeys(rows []store.Row, wanted func(name []byte, typ string) bool) (keys []Scanned) {
	for _, row := range rows {
		if k := scannedKey(row); wanted(k.Name, k.Type) {
			keys = append(keys, k)
		}
	}
	smallsort.Sort(keys, func(a, b Scanned) int {
		return cmp.Or(cmp.Compare(a.Hash, b.Hash), slices.Compare(a.Name, b.Name))
	})
	return keys
}

// ScanUnseen is Scan without the keys that seen accepts by their ID, and without elements. It reads only the
// index for the others.
func (c *Catalog) ScanUnseen(ctx context.Context, db int, after, most int64, wanted func(name []byte, typ string) bool, seen func(id int64) bool) (keys []Scanned, next int64, err error) {
	end, next, err := c.scanEnd(ctx, db, after, most)
	if err != nil {
		return nil, 0, err
	}
	var unseen []byte
	err = c.fold(ctx, sqlScanIDs, []store.Value{store.Int(int64(db)), store.Int(after), store.Int(end)}, func() func(store.Row) {
		unseen = unseen[:0]
		return func(row store.Row) {
			if id := row[0].Int(); !seen(id) {
				unseen = strconv.AppendInt(append(unseen, ','), id, 10)
			}
		}
	})
	if err != nil || len(unseen) == 0 {
		return nil, next, err
	}
	unseen[0] = '['
	args := []store.Value{store.Int(int64(db)), store.TextBytes(append(unseen, ']')), {}, store.Int(c.now()), store.Int(maxScannedValue)}
	rows, err := c.read(ctx, store.Stmt{SQL: sqlUnseen(), Args: args})
	if err != nil {
		return nil, 0, err
	}
	return sortedKeys(rows[0], wanted), next, nil
}

// Find returns the live keys of these names, in any order, as Scan does.
func (c *Catalog) Find(ctx context.Context, db int, names [][]byte) (keys []Scanned, err error) {
	list := []byte("[")
	for i, name := range names {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(hex.AppendEncode(append(list, '"'), name), '"')
	}
	now := c.now()
	args := []store.Value{store.Int(int64(db)), store.TextBytes(append(list, ']')), {}, store.Int(now), store.Int(maxScannedValue)}
	rows, err := c.read(ctx, store.Stmt{SQL: sqlNamed(), Args: args})
	if err != nil {
		return nil, err
	}
	for _, row := range rows[0] {
		keys = append(keys, scannedKey(row))
	}
	return keys, c.addElements(ctx, keys, now)
}

func scannedKey(row store.Row) Scanned {
	k := Scanned{
		ID: row[0].Int(), version: row[1].Int(), Hash: row[2].Int(), Name: row[3].Bytes(), Type: string(row[4].Bytes()),
		Expires: row[5].Int(), Size: row[6].Int(),
	}
	if !row[7].IsNull() {
		k.Value = rdb.String(row[7].Bytes())
	}
	return k
}

// elementsOf reads, by type, the elements of the keys whose ids are in the JSON array ?1: the
// id and version of the key, then the columns of the type. Callers must read keys of other
// types themselves.
var elementsOf = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"hash": `SELECT k.id, k.version, e.seq, e.field, e.value, e.expires_at` + fromKeys + `hashes e ON e.key_id = k.id
		WHERE length(e.field) <= ` + maxScannedElement + ` AND length(e.value) <= ` + maxScannedElement,
		"list": `SELECT k.id, k.version, e.pos, e.value` + fromKeys + `lists e ON e.key_id = k.id WHERE length(e.value) <= ` + maxScannedElement,
		"set":  `SELECT k.id, k.version, e.seq, e.member` + fromKeys + `sets e ON e.key_id = k.id WHERE length(e.member) <= ` + maxScannedElement,
		"zset": `SELECT k.id, k.version, 0, e.member, e.score` + fromKeys + `zsets e ON e.key_id = k.id WHERE length(e.member) <= ` + maxScannedElement,
	}
})

const fromKeys = ` FROM json_each(?1) j CROSS JOIN keys k ON k.id = j.value CROSS JOIN `

// addElements reads the elements of small keys, with one query per type.
func (c *Catalog) addElements(ctx context.Context, keys []Scanned, now int64) error {
	asked := map[string][]byte{}
	byID := map[int64]*Scanned{}
	sum := int64(0)
	for i := range keys {
		k := &keys[i]
		if elementsOf()[k.Type] == "" || k.Size > maxScannedElements || sum+k.Size > maxScannedPage {
			continue
		}
		sum += k.Size
		byID[k.ID] = k
		asked[k.Type] = append(strconv.AppendInt(asked[k.Type], k.ID, 10), ',')
	}
	for typ, ids := range asked {
		ids = slices.Concat([]byte("["), ids[:len(ids)-1], []byte("]"))
		rows, err := c.read(ctx, store.Stmt{SQL: elementsOf()[typ], Args: []store.Value{store.TextBytes(ids)}})
		if err != nil {
			return err
		}
		for of := range rowsByKey(rows[0]) {
			if k := byID[of[0][0].Int()]; of[0][1].Int() == k.version {
				k.setValue(of, now)
			}
		}
	}
	return nil
}

// rowsByKey yields the rows of each key, ordered by their third column.
func rowsByKey(rows []store.Row) func(yield func([]store.Row) bool) {
	return func(yield func([]store.Row) bool) {
		for len(rows) > 0 {
			n := slices.IndexFunc(rows, func(r store.Row) bool { return r[0].Int() != rows[0][0].Int() })
			if n < 0 {
				n = len(rows)
			}
			of := rows[:n]
			slices.SortStableFunc(of, func(a, b store.Row) int { return cmp.Compare(a[2].Int(), b[2].Int()) })
			if !yield(of) {
				return
			}
			rows = rows[n:]
		}
	}
}

// setValue sets the value from rows if they are complete.
func (k *Scanned) setValue(rows []store.Row, now int64) {
	var v rdb.Value
	switch k.Type {
	case "list":
		v = rdb.List(column(rows))
	case "set":
		v = rdb.Set(column(rows))
	case "zset":
		z := make(rdb.ZSet, len(rows))
		for i, row := range rows {
			z[i] = rdb.Member{Name: row[3].Bytes(), Score: row[4].Float()}
		}
		v = z
	case "hash":
		h := make(rdb.Hash, 0, len(rows))
		for _, row := range rows {
			if at := row[5]; at.IsNull() || at.Int() > now {
				h = append(h, rdb.Field{Name: row[3].Bytes(), Value: row[4].Bytes(), ExpiresAt: at.Int()})
			}
		}
		v = h
	}
	if int64(v.Len()) == k.Size {
		k.Value = v
	}
}

// column returns the fourth column of rows, the whole element of lists and sets.
func column(rows []store.Row) [][]byte {
	out := make([][]byte, len(rows))
	for i, row := range rows {
		out[i] = row[3].Bytes()
	}
	return out
}
