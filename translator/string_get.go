package translator

import (
	"encoding/hex"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// sqlGet returns stringColumns for a live key.
const sqlGet = `SELECT ` + stringColumns + ` FROM keys k` + keyParts + ` WHERE ` + live

// decodeString makes the reply from the rows of sqlGet.
func decodeString(r *store.Result) resp.Value {
	if len(r.Rows[0]) == 0 {
		return resp.Nil
	}
	return stringOf(r.Rows[0], r.Work)
}

func get(c *Call) Plan { return read(decodeString, c.stmt(sqlGet, c.Args[1])) }

// sqlMGet returns stringColumns for each of the keys, and its index.
var sqlMGet = keyListSQL{json: `SELECT ` + stringColumns + `, j.key FROM json_each(?2) j
	LEFT JOIN keys k ON k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3)` + keyParts}

func mget(c *Call) Plan {
	return read(func(r *store.Result) resp.Value { return resp.MakeArray(stringsOf(r.Rows[0], r.Work)...) },
		c.stringsAt(c.Args[1:]))
}

// stringsAt returns the statement that reads the strings at keys, for stringsOf.
func (c *Call) stringsAt(keys [][]byte) store.Stmt {
	s := sqlMGet.stmt(c, keys)
	s.SizeColumn, s.SizeGroup = 2, 5
	return s
}

// stringsOf returns the strings in the rows of sqlMGet, nil for a missing key or another type.
func stringsOf(rows []store.Row, w *store.Work) []resp.Value {
	slices.SortStableFunc(rows, compareSeq) // usually SQLite has already sorted them
	var values []resp.Value
	for len(rows) > 0 {
		place := rows[0][4].Int()
		n := slices.IndexFunc(rows, func(row store.Row) bool { return row[4].Int() != place })
		if n < 0 {
			n = len(rows)
		}
		v := resp.Nil
		if !rows[0][0].IsNull() {
			v = stringOf(rows[:n], w)
		}
		values, rows = append(values, v), rows[n:]
	}
	return values
}

// guardString refuses a key of another type; sqlGet must be statement 0.
func (c *Call) guardString(key []byte) store.Stmt {
	s := c.guardType(key, stringType)
	s.SkipIf = isStringOrMissing
	return s
}

func isStringOrMissing(before store.Result) bool {
	return len(before.Rows[0]) == 0 || !before.Rows[0][0][0].IsNull()
}

func getdel(c *Call) Plan {
	key := c.Args[1]
	return write(decodeString, c.stmt(sqlGet, key), c.guardString(key), c.drop(key))
}

// sqlSetExpiry sets the expiry ?4 of a live key.
const sqlSetExpiry = `UPDATE keys SET expires_at = ?4, version = version + 1, updated_at = ?3 WHERE ` + live

// getexOption parses the option that only GETEX has.
func (c *Call) getexOption(i int, o *options) (words int) {
	if !c.is(i, "PERSIST") || o.unit != 0 {
		return 0
	}
	o.persist = true
	return 1
}

// getex reads a string and changes its expiry. A time in the past deletes it. An invalid time is reported only if a
// string exists.
func getex(c *Call) Plan {
	o, ok := c.parseOptions(2, c.getexOption)
	if !ok {
		return fail(errSyntax)
	}
	key := c.Args[1]
	exp, bad := c.expiry(o)
	var change store.Stmt
	switch {
	case bad.IsError():
		return read(func(r *store.Result) resp.Value {
			if v := decodeString(r); v.Kind != resp.Bulk {
				return v
			}
			return bad
		}, c.stmt(sqlGet, key))
	case o.persist:
		change = c.stmt(sqlPersist, key)
	case !exp.given:
		return get(c)
	case exp.at <= c.Env.Now:
		change = c.drop(key)
	default:
		change = c.stmt(sqlSetExpiry, key, store.Digits(exp.at))
	}
	return write(decodeString, c.stmt(sqlGet, key), c.guardString(key), change)
}

// sqlStrLen returns a row for a live key. Its value is NULL if the key is not a string.
const sqlStrLen = `SELECT iif(count > 0 AND value IS NOT NULL, count, length(value)) FROM keys WHERE ` + live

func (c *Call) strlen(key []byte) Plan {
	return read(func(r *store.Result) resp.Value {
		switch {
		case len(r.Rows[0]) == 0:
			return resp.Zero
		case r.Rows[0][0][0].IsNull():
			return wrongType
		}
		return resp.MakeInt(r.Rows[0][0][0].Int())
	}, c.stmt(sqlStrLen, key))
}

// sqlGetRange returns the bytes from ?4 to ?5 of the string at a live key. Computed bytes are returned in hex, since
// some engines return only stored blobs unchanged. NULL means that the key is not a string. For a string in parts the
// row has the first and the last byte and the parts that contain them.
const sqlGetRange = `SELECT CASE WHEN value IS NOT NULL THEN hex(substr(value, first + 1, max(0, last - first + 1))) END, count, first, last, part, bytes, iif(count > 0, max(0, last - first + 1), 0)
	FROM (SELECT ranged.*, p.part, p.value AS bytes FROM (SELECT id, count, value,
			max(0, iif(CAST(?4 AS INTEGER) < 0, size + CAST(?4 AS INTEGER), min(size, CAST(?4 AS INTEGER)))) AS first,
			max(0, iif(CAST(?5 AS INTEGER) < 0, size + CAST(?5 AS INTEGER), min(size - 1, CAST(?5 AS INTEGER)))) AS last
			FROM (SELECT id, count, value, iif(count > 0, count, length(value)) AS size FROM keys WHERE ` + live + `)) ranged
		LEFT JOIN string_parts p ON p.key_id = iif(count > 0, id, NULL) AND p.part BETWEEN first / ` + schema.PartBytes + ` AND last / ` + schema.PartBytes + `)`

func (c *Call) rangeStmt(key []byte, first, last int64) store.Stmt {
	return c.stmt(sqlGetRange, key, store.Digits(first), store.Digits(last))
}

// getrange translates GETRANGE and SUBSTR.
func getrange(c *Call) Plan {
	start, end, ok := c.intRange(2)
	if !ok {
		return fail(errNotInteger)
	}
	if start < 0 && end < 0 && start > end {
		// otherwise clamping both to the first byte would make a range
		start, end = 1, 0
	}
	return read(decodeRange, c.rangeStmt(c.Args[1], start, end))
}

func decodeRange(r *store.Result) resp.Value {
	if len(r.Rows[0]) == 0 {
		return resp.EmptyBulk
	}
	row := r.Rows[0][0]
	switch size := row[1].Int(); {
	case row[0].IsNull():
		return wrongType
	case size > 0:
		return resp.MakeBulk(joined(r.Rows[0], 4, row[2].Int(), min(size, maxString, row[3].Int()+1), r.Work))
	}
	digits := row[0].Bytes()
	b := make([]byte, hex.DecodedLen(len(digits)))
	hex.Decode(b, digits) // the output of SQL's hex(), which is always valid
	return resp.MakeBulk(b)
}
